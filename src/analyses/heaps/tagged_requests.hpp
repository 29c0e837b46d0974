// SPDX-License-Identifier: Apache-2.0
// Who waits for an answer that a reference tells, and who has that reference: calls of libraries without a monitor.
//
// Theory. A request that is to be answered has a tag, so that its answer is known from other messages: a reference that
// was made for it. Who waits for the answer holds it in the frame of the receive, which matches on it; who was asked
// holds it in a message that was not taken, or in its state when it has taken the request and not yet answered. Nobody
// else has reason to. So a reference in the frame of one process that waits on behalf of a function, and of no other
// that does, is looked for in the terms of all others: who has it in its queue was asked; where no queue has it, the
// only one that has it elsewhere. A monitor's reference needs no search (processes/waits.hpp).
//
// A tag that several wait with is no tag of a request, but what they have in common: a pool's, a session's.
#pragma once

#include <vector>

#include "analyses/processes/waits.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

/// The processes whose terms are read for that, by ProcId: those that may hold a tag, and those that may have been
/// asked; empty: there are none. Needs the process table.
std::vector<bool> may_hold_tags(const Snapshot& snapshot, const std::vector<bool>& by_hand);

/// Adds those waits, as estimates ("tag"), and those of processes in whose youngest frame data has the reference of a
/// monitor by which the answer is selected ("monitor"). Needs what waits() needs and the terms of may_hold_tags().
/// Time: as many words of terms are read as a small node has; on a large one, of processes with a name first.
void add_tagged(Artifact& artifact, const std::vector<bool>& by_hand, Waits& waits);

}  // namespace beamheap::analyses
