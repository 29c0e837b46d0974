// SPDX-License-Identifier: Apache-2.0
// Numbers in text, eight or sixteen bytes at a time. Functions read up to 16 bytes from where they are pointed to.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace beamheap::crashdump {

struct HexNumber {
    std::uint64_t value;
    unsigned digits;  ///< 0 to 16; 0: no hexadecimal digit there
};

/// The number that up to seven digits 0-9 at p are, and how many they are: 0 for none, with any value. What follows may
/// be one more. Reads eight bytes.
struct ShortNumber {
    std::uint64_t value;
    unsigned digits;
};
inline ShortNumber read_short_number(const char* p) {
    if constexpr (std::endian::native == std::endian::little) {
        std::uint64_t text;
        std::memcpy(&text, p, sizeof text);
        text ^= 0x3030303030303030ull;  // digits are their values now; the high bit tells what is none
        constexpr std::uint64_t high = 0x8080808080808080ull;
        const std::uint64_t others = ((text | (text + 0x7676767676767676ull)) & high) | 1ull << 63;
        const auto bits = static_cast<unsigned>(std::countr_zero(others)) & 56u;  // that digits take
        text <<= (64 - bits) & 63u;  // zeros before them; now pairs, then fours, then all
        text = text * 10 + (text >> 8);
        constexpr std::uint64_t pairs = 0x000000FF000000FFull;
        const std::uint64_t value =
            ((text & pairs) * (100 + (1000000ull << 32)) + (text >> 16 & pairs) * (1 + (10000ull << 32))) >> 32;
        return {value, bits / 8};
    }
    std::uint64_t value = 0;
    unsigned digits = 0;
    for (; digits < 7 && p[digits] >= '0' && p[digits] <= '9'; ++digits)
        value = value * 10 + static_cast<unsigned>(p[digits] - '0');
    return {value, digits};
}

#if defined(__SSE2__)

namespace detail {
/// 0xFF in the bytes of `v` that are >= low and <= high (ASCII).
inline __m128i within(__m128i v, char low, char high) {
    return _mm_and_si128(_mm_cmpgt_epi8(v, _mm_set1_epi8(static_cast<char>(low - 1))),
                         _mm_cmplt_epi8(v, _mm_set1_epi8(static_cast<char>(high + 1))));
}
}  // namespace detail

/// The run of digits 0-9 and A-F at p, as the VM prints addresses and lengths; from `a` on with 'a' in place of 'A'.
template <char a = 'A'>
inline HexNumber read_hex(const char* p) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i letter = detail::within(text, a, a + 5);
    const __m128i valid = _mm_or_si128(letter, detail::within(text, '0', '9'));
    const unsigned invalid = ~static_cast<unsigned>(_mm_movemask_epi8(valid)) | 0x10000u;
    const unsigned digits = static_cast<unsigned>(__builtin_ctz(invalid));
    // '0'..'9' have their value in the low four bits, letters nine less.
    const __m128i nibbles =
        _mm_add_epi8(_mm_and_si128(text, _mm_set1_epi8(15)), _mm_and_si128(letter, _mm_set1_epi8(9)));
    const __m128i pairs =
        _mm_and_si128(_mm_or_si128(_mm_slli_epi16(nibbles, 4), _mm_srli_epi16(nibbles, 8)), _mm_set1_epi16(0xFF));
    const __m128i packed = _mm_packus_epi16(pairs, pairs);
    const auto all = __builtin_bswap64(static_cast<std::uint64_t>(_mm_cvtsi128_si64(packed)));
    return {digits == 0 ? 0 : all >> (64 - 4 * digits), digits};
}

/// The number of exactly 12 such digits at p, as nearly all addresses of 64-bit machines are; false if there are fewer
/// or more.
__attribute__((always_inline)) inline bool read_hex12(const char* p, std::uint64_t& value) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i from_0 = _mm_sub_epi8(text, _mm_set1_epi8('0')), from_a = _mm_sub_epi8(text, _mm_set1_epi8('A'));
    const __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(from_0, _mm_set1_epi8(9)), from_0);
    const __m128i letter = _mm_cmpeq_epi8(_mm_min_epu8(from_a, _mm_set1_epi8(5)), from_a);
    const unsigned valid = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(digit, letter)));
    const __m128i nibbles =
        _mm_add_epi8(_mm_and_si128(text, _mm_set1_epi8(15)), _mm_and_si128(letter, _mm_set1_epi8(9)));
    const __m128i pairs =
        _mm_and_si128(_mm_or_si128(_mm_slli_epi16(nibbles, 4), _mm_srli_epi16(nibbles, 8)), _mm_set1_epi16(0xFF));
    value = __builtin_bswap64(static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs)))) >> 16;
    return (valid & 0x1FFFu) == 0x0FFFu;
}

/// Length of the run of digits 0-9 at p, at most 16.
__attribute__((always_inline)) inline unsigned digit_run(const char* p) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i from_0 = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    const __m128i others = _mm_adds_epu8(from_0, _mm_set1_epi8(0x80 - 10));  // the high bit is set in what is over 9
    return static_cast<unsigned>(__builtin_ctz(static_cast<unsigned>(_mm_movemask_epi8(others)) | 0x10000u));
}

/// Length of the run of letters a-z and '_' at p, at most 16: a section's tag.
inline unsigned tag_run(const char* p) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i valid = _mm_or_si128(detail::within(text, 'a', 'z'), _mm_cmpeq_epi8(text, _mm_set1_epi8('_')));
    return static_cast<unsigned>(__builtin_ctz(~static_cast<unsigned>(_mm_movemask_epi8(valid)) | 0x10000u));
}

/// Length of the run of digits 0-9 and '-' at p, at most 16.
inline unsigned decimal_run(const char* p) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i valid = _mm_or_si128(detail::within(text, '0', '9'), _mm_cmpeq_epi8(text, _mm_set1_epi8('-')));
    return static_cast<unsigned>(__builtin_ctz(~static_cast<unsigned>(_mm_movemask_epi8(valid)) | 0x10000u));
}

#else

template <char a = 'A'>
inline HexNumber read_hex(const char* p) {
    std::uint64_t value = 0;
    unsigned digits = 0;
    for (; digits < 16; ++digits) {
        const char c = p[digits];
        if (c >= '0' && c <= '9') value = value << 4 | static_cast<std::uint64_t>(c - '0');
        else if (c >= a && c <= a + 5) value = value << 4 | static_cast<std::uint64_t>(c - a + 10);
        else break;
    }
    return {value, digits};
}

inline bool read_hex12(const char* p, std::uint64_t& value) {
    const HexNumber number = read_hex(p);
    value = number.value;
    return number.digits == 12;
}

inline unsigned digit_run(const char* p) {
    unsigned n = 0;
    while (n < 16 && p[n] >= '0' && p[n] <= '9') ++n;
    return n;
}

inline unsigned tag_run(const char* p) {
    unsigned n = 0;
    while (n < 16 && ((p[n] >= 'a' && p[n] <= 'z') || p[n] == '_')) ++n;
    return n;
}

inline unsigned decimal_run(const char* p) {
    unsigned n = 0;
    while (n < 16 && ((p[n] >= '0' && p[n] <= '9') || p[n] == '-')) ++n;
    return n;
}

#endif

}  // namespace beamheap::crashdump
