// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/watch_condition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "cli/live/sampling.hpp"

namespace beamheap::cli {
namespace {

constexpr std::array<std::string_view, 16> measures{
    "any",    "memory", "processes", "messages", "objects",          "atoms", "ports", "ets_tables", "descriptors",
    "timers", "links",  "binaries",  "modules",  "persistent_terms", "queue", "unused"};

constexpr unsigned farthest_days = 183;  // farther walls are not told

}  // namespace

bool WatchCondition::holds(std::span<const analyses::Growing> growing) const {
    return std::ranges::any_of(growing, [this](const analyses::Growing& each) {
        if (kind == Kind::wall) return each.wall && each.wall->seconds < seconds;
        return kind == Kind::grows && (measure == "any" || each.key.measure == measure);
    });
}

Result<WatchCondition> parse_watch_condition(std::string_view text) {
    constexpr std::string_view grows = "grows(", wall = "wall<";
    WatchCondition condition;
    if (text.empty()) return condition;
    if (text.starts_with(wall)) {
        BH_TRY(condition.seconds, parse_seconds(text.substr(wall.size()), farthest_days));
        condition.kind = WatchCondition::Kind::wall;
        return condition;
    }
    if (text.starts_with(grows) && text.ends_with(')')) {
        condition.measure = text.substr(grows.size(), text.size() - grows.size() - 1);
        condition.kind = WatchCondition::Kind::grows;
        if (std::ranges::find(measures, condition.measure) != measures.end()) return condition;
    }
    return Error{ErrorCode::usage, fmt::format("--until: '{}' is no condition of a watch", text),
                 fmt::format("grows(X), where X is one of {}; or wall<TIME, as in wall<2h", fmt::join(measures, " "))};
}

}  // namespace beamheap::cli
