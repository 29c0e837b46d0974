// SPDX-License-Identifier: Apache-2.0
// Applications that need each other.
//
// Theory. application:ensure_all_started/1 starts what an application needs before it (application.erl,
// ensure_started/4 up to 25 or so, enqueue_or_start/6 later), one call within the other, and does not notice that it
// comes back to where it began. The calls have the applications in their frames, again and again.
#pragma once

#include <string>
#include <vector>

#include "analyses/facts/facts.hpp"

namespace beamheap::analyses {

struct ApplicationCircle {
    ProcId process = ProcId::none;  ///< who starts them; none: there is no such circle
    FunctionId function = FunctionId::none;
    std::uint64_t calls = 0;         ///< of that function, each within another
    std::vector<std::string> names;  ///< of the applications, where its frames have them; sorted
};

/// O(stacks of processes whose stack is large).
Result<ApplicationCircle> find_fact(FactOf<ApplicationCircle>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
