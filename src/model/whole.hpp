// SPDX-License-Identifier: Apache-2.0
// Figures that were computed with fractions, as the whole numbers that are printed and compared.
#pragma once

#include <cstdint>
#include <limits>

namespace beamheap {

/// `value` without its fraction: 0 where it is negative or no number, the largest where it does not fit. A damaged
/// input may say that a heap has 2^64 - 1 bytes, which as a double is 2^64; to convert that by a cast is undefined.
constexpr std::uint64_t whole(double value) {
    constexpr double limit = 18446744073709551616.0;  // 2^64
    if (!(value > 0)) return 0;
    return value < limit ? static_cast<std::uint64_t>(value) : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace beamheap
