// SPDX-License-Identifier: Apache-2.0
// Byte searches for hot loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace beamheap::bytes {

/// Whether two short texts of `size` bytes are the same: those of eight to sixteen without a call.
inline bool same_short(const char* a, const char* b, std::size_t size) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    if (size < word || size > 2 * word) return std::memcmp(a, b, size) == 0;
    const auto differ = [a, b](std::size_t at) {
        std::uint64_t one, other;
        std::memcpy(&one, a + at, word);
        std::memcpy(&other, b + at, word);
        return one ^ other;
    };
    return (differ(0) | differ(size - word)) == 0;
}

/// The first byte in [at, end) that equals `a` or `b`, or `end`. Sixty-four bytes a step: as fast as memchr for one.
inline const char* find_either(const char* at, const char* end, char a, char b) {
#if defined(__SSE2__)
    const __m128i wanted_a = _mm_set1_epi8(a);
    const __m128i wanted_b = _mm_set1_epi8(b);
    const auto hits = [&](const char* p) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        return _mm_or_si128(_mm_cmpeq_epi8(bytes, wanted_a), _mm_cmpeq_epi8(bytes, wanted_b));
    };
    for (; end - at >= 64; at += 64) {
        const __m128i h0 = hits(at), h1 = hits(at + 16), h2 = hits(at + 32), h3 = hits(at + 48);
        if (_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(h0, h1), _mm_or_si128(h2, h3))) == 0) continue;
        const auto low = static_cast<unsigned>(_mm_movemask_epi8(h0)) | static_cast<unsigned>(_mm_movemask_epi8(h1))
                                                                            << 16;
        if (low != 0) return at + __builtin_ctz(low);
        const auto high = static_cast<unsigned>(_mm_movemask_epi8(h2)) | static_cast<unsigned>(_mm_movemask_epi8(h3))
                                                                             << 16;
        return at + 32 + __builtin_ctz(high);
    }
#endif
    for (; at != end; ++at)
        if (*at == a || *at == b) return at;
    return end;
}

/// The first `wanted` in [at, end), or `end`.
inline const char* find_byte(const char* at, const char* end, char wanted) {
    const void* hit = std::memchr(at, wanted, static_cast<std::size_t>(end - at));
    return hit == nullptr ? end : static_cast<const char*>(hit);
}

/// Where `first` is among 64 bytes with `second` behind it: bit i for byte i. Reads 65 bytes; where there is none,
/// which is told with least work, it gives 0.
inline std::uint64_t places_of_pair(const char* at, char first, char second) {
#if defined(__SSE2__)
    const __m128i wanted_first = _mm_set1_epi8(first), wanted_second = _mm_set1_epi8(second);
    const auto hits = [&](const char* p) {
        const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        const __m128i behind = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 1));
        return _mm_and_si128(_mm_cmpeq_epi8(here, wanted_first), _mm_cmpeq_epi8(behind, wanted_second));
    };
    const __m128i h0 = hits(at), h1 = hits(at + 16), h2 = hits(at + 32), h3 = hits(at + 48);
    if (_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(h0, h1), _mm_or_si128(h2, h3))) == 0) return 0;
    const auto mask = [](__m128i hit) { return std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(hit))}; };
    return mask(h0) | mask(h1) << 16 | mask(h2) << 32 | mask(h3) << 48;
#else
    std::uint64_t places = 0;
    for (unsigned i = 0; i < 64; ++i) places |= std::uint64_t{at[i] == first && at[i + 1] == second} << i;
    return places;
#endif
}

}  // namespace beamheap::bytes
