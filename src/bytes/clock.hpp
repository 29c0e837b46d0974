// SPDX-License-Identifier: Apache-2.0
// The clock by which the kernel stamps samples, and by which intervals are measured.
#pragma once

#include <time.h>

#include <cstdint>

namespace beamheap::bytes {

/// Nanoseconds of CLOCK_MONOTONIC.
inline std::uint64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace beamheap::bytes
