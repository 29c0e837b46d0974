// SPDX-License-Identifier: Apache-2.0
// The time that a crash dump begins with.
#pragma once

#include <ctime>
#include <optional>
#include <string>

namespace beamheap::analyses {

/// "Thu Nov 26 19:27:28 2026", as ctime() prints it (erts/emulator/beam/break.c, all releases): the node's local time,
/// of a zone that is not told. Missing: it is no such text.
inline std::optional<std::tm> printed_time(const std::string& text) {
    std::tm parts{};
    const char* const end = ::strptime(text.c_str(), "%a %b %d %H:%M:%S %Y", &parts);
    if (end == nullptr || *end != 0) return std::nullopt;
    parts.tm_isdst = -1;
    return parts;
}

}  // namespace beamheap::analyses
