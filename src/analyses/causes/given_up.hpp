// SPDX-License-Identifier: Apache-2.0
// Which child a supervisor gave up for, as the supervisors' own reports tell.
//
// A supervisor that gives up says so in a last report, of which the offender is the child that ended once too often
// (supervisor.erl, add_restart/1). That child may be a supervisor that gave up itself, and has said so before. Whoever
// kept events may have those of other supervisors, too, which have long recovered: what they say is not the cause.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyses/logs/log_events.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// A supervisor and the child that it gave up for.
struct GivenUp {
    const LogEvent* report = nullptr;  ///< its last report, of the innermost supervisor that gave up
    std::size_t ends = 0;              ///< reports of that child's end that are held

    /// Whether an event is about the child: a report of the same supervisor, or of a process that was that child.
    bool is_about(const LogEvent& event) const;
};

/// Of the application that ended last, from events that are sorted, newest first; nothing where no report says so, or
/// the one that does is followed by the end of another application.
std::optional<GivenUp> given_up(std::span<const LogEvent> events, std::string_view application);

/// Whether who reports, or what it is about, is registered in a node still: it goes on, whatever happened to it.
bool goes_on(const Snapshot& snapshot, const LogEvent& event);

}  // namespace beamheap::analyses
