// SPDX-License-Identifier: Apache-2.0
#include "formats/beam/chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bytes/compress.hpp"
#include "model/characters.hpp"

namespace beamheap::beam {
namespace {

constexpr std::size_t most_chunks = 256;
constexpr std::size_t most_literal_bytes = 256u << 20;
constexpr std::string_view form = "FOR1", type = "BEAM";

}  // namespace

bool looks_like_module(std::string_view head) {
    return head.size() >= 12 && head.starts_with(form) && head.substr(8, 4) == type;
}

std::uint8_t ByteReader::byte() {
    if (rest_.empty()) {
        failed_ = true;
        return 0;
    }
    const auto value = static_cast<std::uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return value;
}

std::uint16_t ByteReader::two() {
    const unsigned high = byte();
    return static_cast<std::uint16_t>(high << 8 | byte());
}

std::uint32_t ByteReader::four() {
    const std::uint32_t high = two();
    return high << 16 | two();
}

std::string_view ByteReader::take(std::uint64_t bytes) {
    if (bytes > rest_.size()) {
        failed_ = true;
        rest_ = {};
        return {};
    }
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(bytes));
    rest_.remove_prefix(taken.size());
    return taken;
}

// Four bits, eleven bits, or bytes whose number less 2 is in three bits (beam_asm.erl, encode/2); 7 there: the number
// less 9 follows as an operand itself, which is not nested any deeper.
ByteReader::Operand ByteReader::operand() {
    const std::uint8_t first = byte();
    Operand result{static_cast<std::uint8_t>(first & 7), static_cast<std::uint64_t>(first >> 4)};
    if ((first & 8) == 0) return result;
    if ((first & 16) == 0) {
        result.value = static_cast<std::uint64_t>(first >> 5) << 8 | byte();
        return result;
    }
    std::uint64_t size = static_cast<std::uint64_t>(first >> 5) + 2;
    if (size == 9) {
        const std::uint8_t length = byte();
        if ((length & 8) == 0) size += length >> 4;
        else if ((length & 16) == 0) size += static_cast<std::uint64_t>(length >> 5) << 8 | byte();
        else failed_ = true;
    }
    const std::string_view digits = take(size);
    if (digits.size() > 8) {
        result.value = std::numeric_limits<std::uint64_t>::max();
        return result;
    }
    result.value = 0;
    for (const char digit : digits) result.value = result.value << 8 | static_cast<unsigned char>(digit);
    return result;
}

Result<Chunks> Chunks::read(std::string_view bytes) {
    if (!looks_like_module(bytes)) return Error{ErrorCode::not_recognised, "is no compiled module", {}};
    ByteReader reader(bytes);
    reader.take(4);
    const std::uint32_t size = reader.four();
    if (size > reader.left()) return damaged("ends early");
    ByteReader body(reader.take(size));
    body.take(4);
    Chunks result;
    while (!body.at_end()) {
        Chunk chunk;
        chunk.name = body.take(4);
        const std::uint32_t length = body.four();
        chunk.data = body.take(length);
        if (body.failed()) return damaged("a chunk ends behind the file");
        body.take(std::min<std::size_t>((4 - length % 4) % 4, body.left()));
        if (result.chunks_.size() == most_chunks) return damaged("has too many chunks");
        result.chunks_.push_back(chunk);
    }
    return result;
}

std::optional<std::string_view> Chunks::find(std::string_view name) const {
    const auto found = std::find_if(chunks_.begin(), chunks_.end(), [&](const Chunk& c) { return c.name == name; });
    if (found == chunks_.end()) return std::nullopt;
    return found->data;
}

Result<std::vector<std::string>> read_atoms(const Chunks& chunks) {
    const auto utf8 = chunks.find("AtU8");
    const auto data = utf8 ? utf8 : chunks.find("Atom");
    if (!data) return damaged("has no atoms");
    ByteReader reader(*data);
    const auto told = static_cast<std::int32_t>(reader.four());
    const bool long_counts = told < 0;
    const std::int64_t count = long_counts ? -static_cast<std::int64_t>(told) : told;
    if (count > static_cast<std::int64_t>(reader.left())) return damaged("its atoms end early");
    std::vector<std::string> atoms(1);
    atoms.reserve(static_cast<std::size_t>(count) + 1);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint64_t length = long_counts ? reader.operand().value : reader.byte();
        const std::string_view name = reader.take(length);
        if (reader.failed()) return damaged("its atoms end early");
        atoms.push_back(utf8 ? std::string(name) : from_latin1(name));
    }
    return atoms;
}

Result<std::vector<std::string_view>> read_literals(const Chunks& chunks, std::string& storage) {
    const auto chunk = chunks.find("LitT");
    std::vector<std::string_view> terms;
    if (!chunk) return terms;
    ByteReader head(*chunk);
    const std::uint32_t unpacked = head.four();
    if (head.failed()) return damaged("its literals end early");
    const std::string_view stored = head.take(head.left());
    if (unpacked == 0) {
        storage.assign(stored);
    } else {
        if (unpacked > most_literal_bytes)
            return Error{ErrorCode::resource_limit, fmt::format("its literals are {} bytes", unpacked), {}};
        storage = bytes::inflated(stored, unpacked);
        if (storage.size() != unpacked) return damaged("its literals do not unpack");
    }
    ByteReader table(storage);
    const std::uint32_t count = table.four();
    if (count > table.left() / 4) return damaged("its literals end early");
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t length = table.four();
        terms.push_back(table.take(length));
        if (table.failed()) return damaged("its literals end early");
    }
    return terms;
}

}  // namespace beamheap::beam
