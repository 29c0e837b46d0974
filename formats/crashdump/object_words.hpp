// SPDX-License-Identifier: Apache-2.0
// How many words heap objects occupy, and what they add to flat sizes, by release and word size: one row per layout.
//
// "Line" is what the object that a heap line shows occupies; "flat" is what erts_debug:flat_size counts for it. They
// differ where a copy makes more than one object. Sources: struct definitions in erts/emulator/beam (erl_bits.h,
// erl_fun.h, erl_map.h, erl_term.h of R13B03, R15B, 18, 23, 24.3, 25, 27); flat sizes measured with
// erts_debug:flat_size/1 on 23, 25, 27 and 29; line sizes checked by the distance of neighbours in dumps of the same.
#pragma once

#include <cstdint>
#include <string_view>

namespace beamheap::crashdump {

struct ObjectWords {
    std::uint32_t until_otp;       ///< last release of this layout
    std::uint8_t refc_line;        ///< reference to a binary outside: ProcBin, since 27 ErlSubBits
    std::uint8_t refc_flat;        ///< since 27 with its BinRef
    std::uint8_t sub_binary_line;  ///< ErlSubBin
    std::uint8_t fun_line;         ///< local fun without its environment; since 27 its FunRef is another object
    std::uint8_t fun_flat;
    std::uint8_t external_fun;
    std::uint8_t empty_tuple_flat;  ///< since 25 `{}` is one literal that no copy copies
};

inline constexpr ObjectWords object_words_table[] = {
    {24, 6, 6, 5, 6, 6, 2, 1},
    {26, 6, 6, 5, 5, 5, 5, 0},
    {27, 5, 8, 5, 3, 6, 2, 0},
    {0xFFFFFFFF, 5, 8, 5, 2, 2, 2, 0},
};

/// The layout of an OTP release (10 for R10B ... 29); 0, unknown, is the newest.
constexpr const ObjectWords& object_words(std::uint32_t otp) {
    const std::uint32_t release = otp == 0 ? 0xFFFFFFFF : otp;
    const ObjectWords* row = object_words_table;
    while (row->until_otp < release) ++row;
    return *row;
}

inline constexpr std::uint32_t cons_words = 2;
inline constexpr std::uint32_t flat_map_words = 3;  ///< and one per value; the tuple of keys is another object
inline constexpr std::uint32_t hash_map_words = 2;  ///< and one per child
inline constexpr std::uint32_t hash_node_words = 1;
inline constexpr std::uint32_t external_id_words = 4;  ///< pid or port of another node
/// Binaries of up to so many bytes are on the heap, copies of slices too.
inline constexpr std::uint64_t max_heap_binary_bytes = 64;

constexpr std::uint32_t float_words(unsigned word_bytes) { return word_bytes == 4 ? 3 : 2; }
constexpr std::uint64_t heap_binary_words(std::uint64_t bytes, unsigned word_bytes) {
    return 2 + (bytes + word_bytes - 1) / word_bytes;
}
/// A reference of this node with so many 32-bit numbers.
constexpr std::uint32_t reference_words(std::uint32_t numbers, unsigned word_bytes) {
    return 1 + (numbers * 4 + word_bytes - 1) / word_bytes;
}
/// One of another node: three words of head; on 64-bit machines its numbers are counted by one more.
constexpr std::uint32_t external_reference_words(std::uint32_t numbers, unsigned word_bytes) {
    return 3 + (word_bytes == 4 ? numbers : (numbers * 4 + 4 + word_bytes - 1) / word_bytes);
}
/// Words of a bignum's digits, given in decimal: exact, but for numbers of over 20,000 digits so close to a power of
/// 2^wordsize that a long double can't tell.
std::uint64_t bignum_words(std::string_view digits, unsigned word_bits);

/// Head and size of a match context with one save slot, the least that there is (ErlBinMatchState, up to 26).
inline constexpr std::uint32_t match_context_words = 6;

}  // namespace beamheap::crashdump
