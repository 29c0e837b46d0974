// SPDX-License-Identifier: Apache-2.0
// Live words by function: what the frames of all processes hold now, as OTP's hprof tells what was allocated.
#pragma once

#include <vector>

#include "analyses/facts/heap_stats.hpp"

namespace beamheap::analyses {

/// Words charged to a function, or to a place that is none (PlaceWords::dictionary, messages, other).
struct FunctionWords {
    ProcId process = ProcId::none;  ///< where rows are by process
    FunctionId function = FunctionId::none;
    std::uint32_t place = 0;   ///< where `function` is none
    std::uint64_t frames = 0;  ///< of the function, that hold words
    std::uint64_t words = 0;
};

/// A row for each function and place, with `per_process` for each in each process: most words first, equals by process
/// and name, whatever order the input was read in. `frames` are HeapStats::frames(), `wanted` marks processes.
std::vector<FunctionWords> function_words(const Snapshot& snapshot, const std::vector<HeapStats::FramesOf>& frames,
                                          const std::vector<bool>& wanted, bool per_process);

}  // namespace beamheap::analyses
