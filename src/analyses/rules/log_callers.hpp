// SPDX-License-Identifier: Apache-2.0
// Who logs at the moment of the input: a handler's events do not name their senders.
#pragma once

#include <cstdint>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses::rule {

struct LogCallers {
    FunctionId function = FunctionId::none;  ///< that calls logger in most of the processes that do; none: nobody does
    std::uint64_t processes = 0;             ///< how many are in it
    ProcId example = ProcId::none;
};
LogCallers log_callers(const Snapshot& snapshot);

}  // namespace beamheap::analyses::rule
