// SPDX-License-Identifier: Apache-2.0
// What the schedulers of a running VM did over an interval.
#pragma once

#include <cstdint>
#include <vector>

#include "beamheap/ids.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap {

struct SchedulerActivity {
    Scheduler::Kind kind = Scheduler::Kind::normal;
    std::uint32_t id = 0;  ///< as Scheduler::id
    /// Part of the interval that it worked, 0 to 1: by the VM's own counters where these are switched on
    /// (scheduler_wall_time), else how often it was found with a process in hand, which leaves out scheduling, timers
    /// and ports.
    double busy = 0;
    bool by_counters = false;
    double mean_queue = 0;    ///< processes that waited for it, on average over the polls; of normal ones
    Count longest_queue;      ///< the most that were seen
    Count switches;           ///< processes that it took in hand
    Count reductions;         ///< that its run queue has counted
    Count cpu_ns, waited_ns;  ///< of its thread: on a CPU (waiting busily, too); ready to run and without one
};

struct Activity {
    double seconds = 0;  ///< of the interval, as it came to be
    std::uint64_t polls = 0;
    std::vector<SchedulerActivity> schedulers;
    Count moved;  ///< processes that were in another run queue at the end than at the beginning: migrations, at least
    bool ended = false;  ///< the VM ended meanwhile
};

}  // namespace beamheap
