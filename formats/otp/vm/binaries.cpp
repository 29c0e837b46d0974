// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/vm/binaries.hpp"

namespace beamheap::otp {
namespace {

std::optional<std::string_view> bytes_at(bytes::MemoryReader& memory, std::uint64_t address, std::uint64_t size) {
    if (size == 0) return std::string_view{};
    const std::byte* data = memory.at(address, size);
    if (data == nullptr) return std::nullopt;
    return std::string_view{reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)};
}

}  // namespace

// Layouts: ProcBin, ErlHeapBin, ErlSubBin until OTP 26 (erl_binary.h); ErlHeapBits, ErlSubBits since 27 (erl_bits.h).
std::optional<std::string_view> small_binary(bytes::MemoryReader& memory, const Layout& layout, Word term,
                                             std::uint64_t limit) {
    if (!is_boxed(term)) return std::nullopt;
    const std::uint64_t at = address_of(term);
    const std::byte* p = memory.at(at, 16);
    if (p == nullptr) return std::nullopt;
    const auto header = bytes::load<Word>(p);
    const auto size = bytes::load<Word>(p + 8);
    switch (layout.tags[header_subtag(header)]) {
        case Tag::heap_binary:
            if (size > limit) return std::nullopt;
            return bytes_at(memory, at + 16, size);
        case Tag::heap_bits:
            if (size % 8 != 0 || size / 8 > limit) return std::nullopt;
            return bytes_at(memory, at + 16, size / 8);
        case Tag::refc_binary: {
            const auto data = memory.word(at + 32);
            if (size > limit || !data) return std::nullopt;
            return bytes_at(memory, *data, size);
        }
        case Tag::sub_bits: {
            const auto start = memory.word(at + 16), end = memory.word(at + 24);
            if (!start || !end || *end < *start || (*end - *start) % 8 != 0 || *start % 8 != 0) return std::nullopt;
            if ((*end - *start) / 8 > limit) return std::nullopt;
            if ((size & 2) != 0) {  // the bytes may have moved: those of the binary that its BinRef refers to
                const auto whole = memory.word(at + 32);
                if (!whole || !is_boxed(*whole)) return std::nullopt;
                const auto header = memory.word(address_of(*whole)), binary = memory.word(address_of(*whole) + 8);
                if (!header || !binary || layout.tags[header_subtag(*header)] != Tag::binary_reference)
                    return std::nullopt;
                return bytes_at(memory, *binary + layout.at.binary_bytes + *start / 8, (*end - *start) / 8);
            }
            return bytes_at(memory, (size & ~3ull) + *start / 8, (*end - *start) / 8);
        }
        case Tag::sub_binary: {
            const auto offset = memory.word(at + 16), bits = memory.word(at + 24), base = memory.word(at + 32);
            if (!offset || !bits || !base || (*bits & 0xffff) != 0 || size > limit || !is_boxed(*base))
                return std::nullopt;
            const std::uint64_t from = address_of(*base);
            const auto base_header = memory.word(from), base_size = memory.word(from + 8);
            if (!base_header || !base_size || *offset > *base_size || size > *base_size - *offset) return std::nullopt;
            if (layout.tags[header_subtag(*base_header)] == Tag::heap_binary)
                return bytes_at(memory, from + 16 + *offset, size);
            if (layout.tags[header_subtag(*base_header)] != Tag::refc_binary) return std::nullopt;
            const auto data = memory.word(from + 32);
            if (!data) return std::nullopt;
            return bytes_at(memory, *data + *offset, size);
        }
        default: return std::nullopt;
    }
}

}  // namespace beamheap::otp
