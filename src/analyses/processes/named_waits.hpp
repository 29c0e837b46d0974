// SPDX-License-Identifier: Apache-2.0
// Waits in receives that programs have written by hand, by the one process that the waiting frame names.
//
// Theory. A frame keeps what its function needs after the receive, and what the receive matches on: in a call that was
// written by hand without a monitor, the pid of who was asked. It may also be there for anything else. It is taken for
// the one that is waited for where
//   - that closes a circle with calls that are proved: none of its members can go on then, whatever it was that the
//   process
//     has asked for;
//   - or the process waits on behalf of a function that goes on behind the receive, few wait in the same function, few
//   name the same one, and the two are not related (started, linked): parents and links stand in frames for other
//   reasons. Where it monitors a relative, it waits for it all the same.
// Both are estimates. Who is suspended is named by whoever has suspended it; that is no wait.
#pragma once

#include <span>
#include <vector>

#include "analyses/processes/waits.hpp"

namespace beamheap::analyses {

/// By ProcId: the only other living process whose pid stands in a process's youngest frame; none: there is no such, or
/// several. Needs what waits() needs of stacks. O(processes + slots).
std::vector<ProcId> only_named(const Snapshot& snapshot);

/// By ProcId: the only pid of this node in a process's youngest frame, its own aside, where that process has ended; no
/// pid: it lives, or there are several. Nothing where processes may have been lost. The same needs and cost.
std::vector<Pid> only_named_ended(const Snapshot& snapshot);

/// Adds to the edges those of `candidates`, each an estimate of a process that has none, that are taken by these
/// rules. O(processes + edges).
void add_named(const Snapshot& snapshot, std::span<const WaitEdge> candidates, Waits& waits);

}  // namespace beamheap::analyses
