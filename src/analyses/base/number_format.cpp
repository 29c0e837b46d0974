// SPDX-License-Identifier: Apache-2.0
#include "analyses/base/number_format.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace beamheap::analyses {

std::string grouped(std::uint64_t number) {
    const std::string digits = fmt::format_int(number).str();
    std::string text;
    text.reserve(digits.size() + digits.size() / 3);
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

std::string human_bytes(std::uint64_t bytes) {
    static constexpr std::array<std::string_view, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    // 1023.95 would be printed as "1024.0": go on to the next unit before it rounds up to that.
    while (value >= 1023.5 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return value < 99.95 ? fmt::format("{:.1f} {}", value, units[unit]) : fmt::format("{:.0f} {}", value, units[unit]);
}

std::string human_percent(double percent) {
    if (!std::isfinite(percent)) return "-";
    if (percent > -0.05 && percent <= 0) return "0 %";
    if (percent < 0) return '-' + human_percent(-percent);
    if (percent > 0 && percent < 0.05) return "<0.1 %";
    if (percent != 0 && std::fabs(percent) < 9.95) return fmt::format("{:.1f} %", percent);
    return fmt::format("{:.0f} %", percent);
}

std::string counted(std::uint64_t number, std::string_view singular, std::string_view plural) {
    return fmt::format("{} {}", grouped(number), number == 1 ? singular : plural);
}

}  // namespace beamheap::analyses
