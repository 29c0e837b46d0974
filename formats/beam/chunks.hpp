// SPDX-License-Identifier: Apache-2.0
// The chunks of a .beam file: an IFF form "FOR1" of type "BEAM", whose chunks have four letters, a size of 32 bits and
// are padded to four bytes (beam_lib.erl, beam_file.c). Nothing is copied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"

namespace beamheap::beam {

/// What is wrong with a module, as a clause: "its atoms end early".
inline Error damaged(std::string_view what) { return {ErrorCode::damaged, std::string(what), {}}; }

/// Whether content that begins like this (12 bytes) is a compiled module, uncompressed.
bool looks_like_module(std::string_view head);

/// Reads big-endian numbers off the front of a text; past its end it is `failed`, and gives zeros.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
    std::uint8_t byte();
    std::uint16_t two();
    std::uint32_t four();
    std::string_view take(std::uint64_t bytes);
    /// An operand of code: its tag (the three low bits) and value. Values of more than 64 bits are told as the largest
    /// one (only literals that are numbers have them).
    struct Operand {
        std::uint8_t tag = 0;
        std::uint64_t value = 0;
    };
    Operand operand();
    bool failed() const { return failed_; }
    void fail() { failed_ = true; }
    bool at_end() const { return rest_.empty(); }
    std::size_t left() const { return rest_.size(); }

private:
    std::string_view rest_;
    bool failed_ = false;
};

/// Tags of operands (beam_opcodes.hrl).
enum OperandTag : std::uint8_t {
    tag_unsigned = 0,
    tag_integer = 1,
    tag_atom = 2,
    tag_x = 3,
    tag_y = 4,
    tag_label = 5,
    tag_character = 6,
    tag_extended = 7,
};

class Chunks {
public:
    /// Errors: not_recognised (no module), damaged (a chunk ends behind the file).
    static Result<Chunks> read(std::string_view bytes);
    /// The data of the first chunk of this name; nothing where there is none.
    std::optional<std::string_view> find(std::string_view name) const;

private:
    struct Chunk {
        std::string_view name, data;
    };
    std::vector<Chunk> chunks_;
};

/// Names of atoms, from 1, as UTF-8: "AtU8" of OTP 20 and later (from 28 on with lengths as operands, told by a
/// negative count), else "Atom" with bytes of Latin-1. Errors: damaged.
Result<std::vector<std::string>> read_atoms(const Chunks& chunks);

/// The terms of chunk "LitT" as external terms: of a packed table (until 27) or a plain one; `storage` is what they lie
/// in and must live as long. Empty where the module has none. Errors: damaged, resource_limit.
Result<std::vector<std::string_view>> read_literals(const Chunks& chunks, std::string& storage);

}  // namespace beamheap::beam
