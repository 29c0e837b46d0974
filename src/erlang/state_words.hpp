// SPDX-License-Identifier: Apache-2.0
// Words that programs put into their states, and what these say of it.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace beamheap::erlang {

/// Marks of what somebody had, and has no more.
inline constexpr std::array given_back_words = std::to_array<std::string_view>(
    {"available", "checked_in", "closed", "detached", "done", "ended", "finished", "free", "freed", "idle", "inactive",
     "released", "removed", "returned", "stopped", "terminated", "unused"});

constexpr bool says_given_back(std::string_view mark) {
    return std::ranges::find(given_back_words, mark) != given_back_words.end();
}

/// Why something does not go on, as a field or a tag says it.
inline constexpr std::array held_up_words = std::to_array<std::string_view>(
    {"blocked", "closing", "connecting", "disconnected", "down", "draining", "frozen", "full", "halted", "locked",
     "offline", "on_hold", "paused", "reconnecting", "stopping", "suspended", "throttled", "unavailable"});

constexpr bool says_held_up(std::string_view name) {
    return std::ranges::find(held_up_words, name) != held_up_words.end();
}

/// Keys of truths that are false where something does not go on; parts of names are parts between underscores.
inline constexpr std::array going_on_words =
    std::to_array<std::string_view>({"active", "available", "connected", "enabled", "online", "ready", "writable"});

constexpr bool says_that_it_goes_on(std::string_view name) {
    return std::ranges::any_of(going_on_words, [name](std::string_view word) {
        return name == word ||
               (name.size() > word.size() && name.ends_with(word) && name[name.size() - word.size() - 1] == '_');
    });
}

}  // namespace beamheap::erlang
