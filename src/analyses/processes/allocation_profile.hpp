// SPDX-License-Identifier: Apache-2.0
// Who allocates, out of words of free heap that were seen being written to.
//
// Each hit stands for the words that were free where one of them was watched. A hit in C code whose caller had gone by
// the time it was looked for is shared out among the callers of the same native function whose hits were sure, in their
// proportion; where there is none, the native function has a row of its own. The error of a sum of n such
// weights w is sqrt(sum of w^2), the standard deviation of a sum over a random number of hits (1/sqrt(n) of it where
// all weigh the same).
#pragma once

#include <cstdint>
#include <vector>

#include "beamheap/samples.hpp"

namespace beamheap::analyses {

struct AllocationRow {
    Pid process;                                      ///< where rows are by process; else none
    FunctionId function = FunctionId::none;           ///< or
    std::uint32_t native = AllocationHit::no_native;  ///< of hits that no Erlang function is known of
    std::uint64_t samples = 0;                        ///< hits of its own, and writes to fragments
    double words = 0;                                 ///< estimate, with its part of hits without a caller
    double percent = 0;                               ///< of all words
    double error = 0;                                 ///< standard error, in percent of `words`
};

struct AllocationProfile {
    std::vector<AllocationRow> rows;  ///< most words first
    double words = 0;                 ///< all of them
    double error = 0;                 ///< in percent
    std::uint64_t fragments = 0;      ///< writes of what is in fragments beside heaps; hits below are of heaps alone
    std::uint64_t hits = 0, exact = 0, checked = 0, shared = 0, unknown = 0;  ///< shared: of callers that had gone
};

/// `processes` marks, by ProcId, those that count; empty: all. `per_process`: a row for each function and process.
AllocationProfile allocation_profile(const Snapshot& snapshot, const AllocationSamples& samples,
                                     const std::vector<bool>& processes, bool per_process);

}  // namespace beamheap::analyses
