// SPDX-License-Identifier: Apache-2.0
// What tracing had counted, in the rows of OTP's own profilers (hprof, tprof, eprof).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "beamheap/traced.hpp"

namespace beamheap::analyses {

/// The counters of a function, or of a function in one process.
struct TracedRow {
    FunctionId function = FunctionId::none;
    TextId session = TextId::none;
    Pid pid;      ///< where rows are by process; none of a function that has counted nobody
    Count calls;  ///< since tracing began, or was reset
    Count words;  ///< allocated in it; missing where call_memory is not on
    Count time;   ///< nanoseconds in it; missing where call_time is not on
};

struct TracedProfile {
    std::vector<TracedRow> rows;  ///< most of `measure` first, equals as they were given
    std::size_t functions = 0;    ///< that were chosen
    /// What the profile is about: words where any were counted, else time, else calls.
    Count TracedRow::*measure = &TracedRow::calls;
    Count total;            ///< of `measure`
    bool sessions = false;  ///< the rows are of several trace sessions
};

/// The functions that `chosen` accepts, a row each, or with `per_process` one for each process that called. O(n log n).
TracedProfile traced_profile(std::span<const TracedFunction> traced, bool per_process,
                             const std::function<bool(FunctionId)>& chosen);

}  // namespace beamheap::analyses
