// SPDX-License-Identifier: Apache-2.0
// What a server that does not answer has started itself, to bring what it is asked for.
//
// Theory. A pool whose connections are not made puts off all callers, has an empty queue and knows nothing of the
// reason: the processes below it (which it has started, or a supervisor that it has started) wait themselves, most of
// them for one that is the same for all. The one of them that works elsewhere has, most likely, what the others want.
#pragma once

#include <vector>

#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {

/// Workers that a server has started, where all that live wait for an answer of its own, and others as well: what these
/// ask for is most likely to come from the workers. A pool whose idle workers ask for work has no other callers. Empty:
/// it is not so.
std::vector<ProcId> workers_who_ask(const Facts& facts, ProcId server);

/// The only one that a process has started and that is not at rest: most likely it does what others wait for. none:
/// there is no such, or several.
ProcId only_busy_child(const Facts& facts, ProcId id);

/// "; 14 of 15 conn:init/1 below it wait for types <0.346.0>, and one, <0.349.0>, sits in
/// prim_inet:recv0/3": of the largest kind of two or more below a server, at most three steps down, of which half wait
/// for one process. Empty where there is none.
Sentence waits_below(const Facts& facts, ProcId server);

}  // namespace beamheap::analyses::rule
