// SPDX-License-Identifier: Apache-2.0
// The first sentence of a table: how many rows there are, and which of them stands out.
//
// Whoever reads one line has the answer: who holds most, who waits, what is full. Sentences have at most about 160
// letters, and say nothing of what the input does not hold.
#pragma once

#include <cstdint>
#include <span>

#include "analyses/base/sentence.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/supervision.hpp"

namespace beamheap::analyses {

/// "99 processes: log_event <0.79.0> has most in its queue, 59 messages". `by` is the figure that they are ranked by;
/// where it is not one (a name), or nobody has any, it is the largest process. Ends without a full stop: what is said
/// of the process table follows.
Sentence processes_answer(const Snapshot& snapshot, std::span<const ProcId> processes, const ProcessColumn* by);
/// `groups` by stack.
Sentence stacks_answer(const Snapshot& snapshot, const ProcessGroups& groups);
/// Of the whole node, or of `top` and all below it.
Sentence tree_answer(const SupervisionTree& tree, ProcId top);
Sentence ets_answer(const Snapshot& snapshot, const EtsReport& report);
Sentence ports_answer(const Snapshot& snapshot, const PortReport& report);
Sentence timers_answer(const Snapshot& snapshot, const TimerReport& report);
Sentence modules_answer(const Snapshot& snapshot, const ModuleReport& report);
Sentence nodes_answer(const Snapshot& snapshot, const NodeReport& report);
/// The call of the system that holds a scheduler: "write() on standard output, a pipe", "a call of the system".
Sentence call_that_holds(const Snapshot& snapshot, const SchedulerHold& held);
Sentence schedulers_answer(const Snapshot& snapshot, const SchedulerReport& report);
/// Of the dirty ones, how many ran nothing; empty where all worked, or there are none.
Sentence idle_schedulers(const SchedulerReport& report);

}  // namespace beamheap::analyses
