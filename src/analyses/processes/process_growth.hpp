// SPDX-License-Identifier: Apache-2.0
// What processes did and came to hold between two moments of one running VM.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct ProcessGrowth {
    ProcId process = ProcId::none;  ///< of the later snapshot
    bool fresh = false;             ///< it was not there before: all of it is new
    /// Missing where one of the moments does not tell it.
    std::optional<std::int64_t> reductions, memory_bytes, messages;
};

/// Of these processes of the later snapshot. O(n).
std::vector<ProcessGrowth> process_growth(const Snapshot& before, const Snapshot& after,
                                          std::span<const ProcId> processes);

}  // namespace beamheap::analyses
