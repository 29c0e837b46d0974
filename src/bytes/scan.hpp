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

/// Where `wanted` is among 64 bytes: bit i for byte i.
inline std::uint64_t places_of(const char* at, char wanted) {
#if defined(__SSE2__)
    const __m128i pattern = _mm_set1_epi8(wanted);
    const auto hits = [&](const char* p) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        return std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, pattern)))};
    };
    return hits(at) | hits(at + 16) << 16 | hits(at + 32) << 32 | hits(at + 48) << 48;
#else
    std::uint64_t places = 0;
    for (unsigned i = 0; i < 64; ++i) places |= std::uint64_t{at[i] == wanted} << i;
    return places;
#endif
}

}  // namespace beamheap::bytes
