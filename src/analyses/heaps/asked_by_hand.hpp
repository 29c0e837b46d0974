// SPDX-License-Identifier: Apache-2.0
// Processes that have asked each other, by messages of their own making, and wait for the answers: a deadlock without a
// call.
//
// Theory. Who waits in a receive on behalf of a function, with messages in its queue, has looked at all of them and
// takes none: what others ask of it lies there until it has its answer. Where one of those others, named in such a
// message, waits in the same way, and has in its own queue a message that names the first, neither can answer; the same
// around several. Whom one of them waits for is taken from the circle: a message that names somebody may be anything,
// so outside of circles it tells nothing.
#pragma once

#include <vector>

#include "analyses/processes/waits.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

/// Whether processes wait there for what a program decides: not in a library's call, nor in its loop, nor for the time;
/// by FunctionId.
std::vector<bool> functions_by_hand(const Snapshot& snapshot);

/// The processes whose messages are read for that, by ProcId; empty: there are none. Needs the process table.
std::vector<bool> may_have_been_asked(const Snapshot& snapshot, const std::vector<bool>& by_hand);

/// Adds the edges of such circles, as estimates ("by_hand"). Needs what waits() needs and the terms of
/// may_have_been_asked().
void add_circles_by_hand(Artifact& artifact, const std::vector<bool>& by_hand, Waits& waits);

}  // namespace beamheap::analyses
