// SPDX-License-Identifier: Apache-2.0
// What a server that does not answer has started itself, to bring what it is asked for.
#pragma once

#include <vector>

#include "analyses/facts/facts.hpp"

namespace beamheap::analyses::rule {

/// Workers that a server has started, where all that live wait for an answer of its own, and others as well: what these
/// ask for is most likely to come from the workers. A pool whose idle workers ask for work has no other callers. Empty:
/// it is not so.
std::vector<ProcId> workers_who_ask(const Facts& facts, ProcId server);

/// The only one that a process has started and that is not at rest: most likely it does what others wait for. none:
/// there is no such, or several.
ProcId only_busy_child(const Facts& facts, ProcId id);

}  // namespace beamheap::analyses::rule
