// SPDX-License-Identifier: Apache-2.0
// Releases of OTP by their number.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace beamheap {

/// The number of a release as Source::otp_release has it: 25 of "25", 15 of "R15B03"; 0: it is not known.
inline std::uint32_t major_of_release(std::string_view release) {
    if (release.starts_with("R")) release.remove_prefix(1);
    std::uint32_t major = 0;
    std::from_chars(release.data(), release.data() + release.size(), major);
    return major;
}

}  // namespace beamheap
