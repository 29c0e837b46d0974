// SPDX-License-Identifier: Apache-2.0
// All processes by what they were started with.
#pragma once

#include "analyses/facts/facts.hpp"
#include "analyses/processes/groups.hpp"

namespace beamheap::analyses {

struct ProcessKinds {
    ProcessGroups groups;  ///< by initial call, the largest group first
};

/// Of the snapshot with its labels: not to be asked for while it is loaded.
Result<ProcessKinds> find_fact(FactOf<ProcessKinds>, const Facts& facts);

}  // namespace beamheap::analyses
