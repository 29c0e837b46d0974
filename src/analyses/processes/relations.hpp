// SPDX-License-Identifier: Apache-2.0
// Monitors, links and timers, which take memory outside of all heaps: who has very many, and to whom.
//
// Theory. A monitor or link is a node of a tree of its process, a timer one of its scheduler's wheel; each takes some
// hundred bytes that process_info(memory) counts with no heap (monitors and links) or nobody does. Nothing removes them
// but a demonitor, a cancel, or the end of one side, so a process that makes one for each request and forgets it grows
// without a term on its heap. Several to each target from one process are that case. Many to different ones are what a
// supervisor, a registry or a pool has, as many as there are processes.
#pragma once

#include <cstdint>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct Relations {
    ProcId process = ProcId::none;
    std::uint64_t monitors = 0;  ///< that it holds on others
    std::uint64_t links = 0;
    std::uint64_t to_one = 0;      ///< of the monitors, those on the one that it monitors most
    Link target;                   ///< one of these
    std::uint64_t again = 0;       ///< of the monitors, those on whom it monitors more than once
    std::uint64_t whom_again = 0;  ///< how many these are
};

/// Processes with at least `least` monitors or links, most of both first. Needs LoadPlan::links.
std::vector<Relations> relation_crowds(const Snapshot& snapshot, std::uint64_t least);

/// One that others monitor more than once each: none of them has to have very many.
struct Monitored {
    Link target;
    std::uint64_t monitors = 0;   ///< on it, of those who hold more than one
    std::vector<ProcId> holders;  ///< who these are, by process
    ProcId most = ProcId::none;   ///< who holds most of them
    std::uint64_t by_most = 0;
};

/// Targets with at least `least` such monitors, most first. Needs LoadPlan::links. O(links log links).
std::vector<Monitored> monitored_crowds(const Snapshot& snapshot, std::uint64_t least);

struct TimersOfOne {
    ProcId process = ProcId::none;  ///< none: a name that is not registered, or a process that is gone
    Pid pid;
    TextId name = TextId::none;  ///< where the timers (or the monitor) name their receiver
    std::uint64_t timers = 0;
    std::uint64_t repeated = 0;   ///< of these: repeated ones of the module timer, each with a process
    std::size_t example = 0;      ///< index into Snapshot::timers: the one that has longest to go
    Count soonest_ms, latest_ms;  ///< until they are due; overdue ones count as 0
};

/// Receivers with at least `least` timers, most first. Needs LoadPlan::tables and links.
///
/// A repeated timer of the module timer (send_interval, apply_interval) is, from OTP 26 on, set for a process of its
/// own in timer:interval_loop/5 (timer.erl), which monitors timer_server and who has set it: it counts for the latter.
/// Up to 25 they are set for timer_server, which monitors who has set each.
std::vector<TimersOfOne> timer_crowds(const Snapshot& snapshot, std::uint64_t least);

/// How many timers send to a process: those that are set for it, and repeated ones of the module timer, by the monitors
/// that the module's processes hold on it (above). Needs the same.
std::uint64_t timers_for(const Snapshot& snapshot, ProcId process);

}  // namespace beamheap::analyses
