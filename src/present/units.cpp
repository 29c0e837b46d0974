// SPDX-License-Identifier: Apache-2.0
#include "present/units.hpp"

#include <fmt/format.h>

namespace beamheap::present {

std::string human_duration(std::uint64_t milliseconds) {
    const std::uint64_t seconds = milliseconds / 1000;
    if (milliseconds < 1000) return fmt::format("{} ms", milliseconds);
    if (seconds < 60) return fmt::format("{}.{} s", seconds, milliseconds % 1000 / 100);
    if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
    if (seconds < 86400) return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
    return fmt::format("{} d {:02} h", seconds / 86400, seconds / 3600 % 24);
}

}  // namespace beamheap::present
