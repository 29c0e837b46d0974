// SPDX-License-Identifier: Apache-2.0
// What `watch --until` waits for: "grows(memory)", "grows(any)", "wall<2h".
#pragma once

#include <span>
#include <string_view>

#include "analyses/diagnosis/growth.hpp"
#include "beamheap/error.hpp"

namespace beamheap::cli {

struct WatchCondition {
    enum class Kind : std::uint8_t { never, grows, wall } kind = Kind::never;
    std::string_view measure;  ///< of grows; "any": whatever it is
    double seconds = 0;        ///< of wall: a limit is reached within so many

    /// Whether it holds of what grows now.
    bool holds(std::span<const analyses::Growing> growing) const;
};

/// `text` must outlive the condition; empty: never. Errors: usage, with what there is.
Result<WatchCondition> parse_watch_condition(std::string_view text);

}  // namespace beamheap::cli
