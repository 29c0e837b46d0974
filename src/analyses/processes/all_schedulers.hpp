// SPDX-License-Identifier: Apache-2.0
// What all schedulers for ordinary work are in, where none of them is free.
#pragma once

#include <cstdint>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct AllSchedulers {
    std::uint64_t schedulers = 0;            ///< how many there are
    FunctionId function = FunctionId::none;  ///< the youngest that is on the stacks of all that they run; none: there
                                             ///< is no such, or one of them is free
};

/// Needs stacks and schedulers.
AllSchedulers all_schedulers(const Snapshot& snapshot);

/// Whether a function only works for its callers, as those of lists and of regular expressions do.
bool is_tool(const Snapshot& snapshot, FunctionId function);

}  // namespace beamheap::analyses
