// SPDX-License-Identifier: Apache-2.0
// What tracing had counted when the image was taken: call_count, call_time and call_memory of each traced function.
#pragma once

#include <cstdint>
#include <vector>

#include "beamheap/ids.hpp"
#include "beamheap/interned.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap {

/// What one process did in a function.
struct TracedProcess {
    Pid pid;
    std::uint64_t calls = 0;
    std::uint64_t amount = 0;  ///< nanoseconds or words
};

/// The counters of one function in one trace session. A list is empty where such a counter is on but nobody called.
struct TracedFunction {
    FunctionId function = FunctionId::none;
    TextId session = TextId::none;         ///< name of the session (OTP 27 and later)
    Count calls;                           ///< call_count; missing where it is not on
    bool timed = false, measured = false;  ///< call_time and call_memory are on
    std::vector<TracedProcess> time, memory;
};

}  // namespace beamheap
