// SPDX-License-Identifier: Apache-2.0
// How often supervisors have restarted their children of late, as their own state tells.
//
// Theory. A supervisor gives up when it has restarted its children more than `intensity` times within `period` seconds.
// To know that, it keeps the time of each restart, the newest first, in seconds of erlang:monotonic_time(1), and drops
// what is older than the period at the next one (stdlib's supervisor.erl, R18 to 29: #state{} with intensity, period
// and restarts in its 6th to 8th place; from 28 on it drops late, so that times before the period are passed over
// here). Elixir's DynamicSupervisor keeps the same in a struct: max_restarts, max_seconds, restarts. A supervisor that
// restarts a child hundreds of times a second within what it allows looks idle in the process table, and so does the
// child, which has just been started.
//
// Restarts are not dropped while none follows: a list tells of its last period, not of the instant of the dump. The
// input does not hold the clock; how many pids were given after the child's tells whether that is long ago.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "beamheap/artifact.hpp"
#include "erlang/owned_term.hpp"

namespace beamheap::analyses {

struct SupervisorRestarts {
    ProcId supervisor = ProcId::none;
    std::uint64_t restarts = 0;                       ///< within one period, the last one included; never 0
    bool more = false;                                ///< there are more, which were not counted
    std::uint64_t within_seconds = 0;                 ///< in which they came; rounded up, so at least 1
    std::uint64_t intensity = 0, period_seconds = 0;  ///< more than `intensity` within the period, and it ends
    /// How long the node had been up at the last one; missing where its clock did not begin as it does from R18 on.
    std::optional<std::uint64_t> last_at_seconds;
    std::uint64_t children = 0;    ///< that it has, at most 5,000; where all are of one kind, those that run
    std::uint64_t restarting = 0;  ///< of these, such as could not be started again so far
    bool one_kind = false;  ///< all of them are started by the same function (simple_one_for_one, DynamicSupervisor)
    bool rest_too = false;  ///< those behind the one that ended are restarted with it (rest_for_one)
    /// The child that was started last (of rest_for_one the first of those that were restarted with it), or one that
    /// could not be started again: its pid (none: not known), its id (no `source`: children of one kind have none), and
    /// the function that starts it (empty: not known).
    Pid child;
    std::shared_ptr<OwnedTerm> child_id;
    std::string module, function;
    std::uint32_t arity = 0;
    /// Pids that were given after the child's; missing where that can't be told.
    std::optional<std::uint64_t> started_since;
};

/// Whether a process is a supervisor that is small enough to be looked into. Needs labels.
bool keeps_restarts(const Snapshot& snapshot, ProcId process);

/// What one state of a supervisor tells, without `supervisor` and `started_since`; nothing where it is none, or none
/// that has restarted anything.
std::optional<SupervisorRestarts> restarts_of_state(TermSource& terms, const Element& state);

/// Reads them: of supervisors that have restarted anything, those with the most restarts first. Needs LoadPlan::terms
/// with keeps_restarts among terms_of, and labels. Of very many supervisors the 1,000 that have worked most are read
/// (who restarts without end works), until their heaps come to 3 million words.
std::vector<SupervisorRestarts> supervisor_restarts(Artifact& artifact);

}  // namespace beamheap::analyses
