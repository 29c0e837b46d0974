// SPDX-License-Identifier: Apache-2.0
// What holds up those whom a server needs to answer.
//
// Theory. A pool whose connections are not made puts off all callers, has an empty queue and knows nothing of the
// reason: the processes below it (which it has started, or a supervisor that it has started) wait themselves, most of
// them for one that is the same for all. The one of them that works elsewhere has, most likely, what the others want.
#pragma once

#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {

/// "; 14 of 15 conn:init/1 below it wait for types <0.346.0>, and one, <0.349.0>, sits in
/// prim_inet:recv0/3": of the largest kind of two or more below a server, at most three steps down, of which half wait
/// for one process. Empty where there is none.
Sentence waits_below(const Facts& facts, ProcId server);

}  // namespace beamheap::analyses::rule
