// SPDX-License-Identifier: Apache-2.0
// Messages of Protocol Buffers as bytes: what a writer needs of that encoding. Fields whose value is 0 or empty are
// left out, as proto3 has it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace beamheap::present {

class ProtoMessage {
public:
    void number(std::uint32_t field, std::uint64_t value) {
        if (value == 0) return;
        varint(std::uint64_t{field} << 3 | 0);
        varint(value);
    }
    void bytes(std::uint32_t field, std::string_view text) {
        varint(std::uint64_t{field} << 3 | 2);
        varint(text.size());
        bytes_ += text;
    }
    void message(std::uint32_t field, const ProtoMessage& inner) { bytes(field, inner.bytes_); }
    /// A repeated field of numbers, of which each is written, zeros too.
    void packed(std::uint32_t field, std::span<const std::uint64_t> values) {
        if (values.empty()) return;
        ProtoMessage all;
        for (const std::uint64_t value : values) all.varint(value);
        message(field, all);
    }
    const std::string& bytes() const { return bytes_; }
    void clear() { bytes_.clear(); }

private:
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
        bytes_ += static_cast<char>(value);
    }
    std::string bytes_;
};

}  // namespace beamheap::present
