// SPDX-License-Identifier: Apache-2.0
// How far a number or a statement can be trusted.
#pragma once

#include <cstdint>
#include <string_view>

namespace beamheap::analyses {

enum class Confidence : std::uint8_t {
    exact,        ///< read from the input
    lower_bound,  ///< at least so much: the input is incomplete or does not hold the rest
    estimate,     ///< concluded
};

/// "exact", "lower_bound", "estimate".
constexpr std::string_view name_of(Confidence confidence) {
    switch (confidence) {
        case Confidence::exact: return "exact";
        case Confidence::lower_bound: return "lower_bound";
        case Confidence::estimate: break;
    }
    return "estimate";
}

}  // namespace beamheap::analyses
