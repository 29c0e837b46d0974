// SPDX-License-Identifier: Apache-2.0
// The bit patterns of term words that are the same in every release since OTP 18 (erl_term.h), 64 bits.
#pragma once

#include <cstdint>

#include "formats/otp/layout/layout.hpp"

namespace beamheap::otp {

using Word = std::uint64_t;

constexpr bool is_cons(Word w) { return (w & 3) == 1; }
constexpr bool is_boxed(Word w) { return (w & 3) == 2; }
constexpr bool is_immediate(Word w) { return (w & 3) == 3; }
/// A header word (of a boxed object), or on a stack a code address.
constexpr bool is_header(Word w) { return (w & 3) == 0; }
/// Where a cons or boxed term points; bit 2 may mark a literal (TAG_LITERAL_PTR) and is no part of the address.
constexpr std::uint64_t address_of(Word w) { return w & ~7ull; }

constexpr bool is_pid(Word w) { return (w & 15) == 3; }
constexpr bool is_port(Word w) { return (w & 15) == 7; }
constexpr bool is_small(Word w) { return (w & 15) == 15; }
constexpr bool is_atom(Word w) { return (w & 63) == 0x0b; }
constexpr bool is_catch(Word w) { return (w & 63) == 0x1b; }
constexpr std::uint32_t atom_index(Word w) { return static_cast<std::uint32_t>(w >> 6); }
constexpr std::int64_t small_value(Word w) { return static_cast<std::int64_t>(w) >> 4; }

constexpr std::uint64_t header_arity(Word header) { return header >> 6; }
constexpr unsigned header_subtag(Word header) { return static_cast<unsigned>(header >> 2) & 15; }

/// The value that stands where there is no term (THE_NON_VALUE of release builds, OTP 23 and later).
inline constexpr Word non_value = 0;

}  // namespace beamheap::otp
