// SPDX-License-Identifier: Apache-2.0
// Whether a process is ending the node: erlang:halt/1,2 stays on the stack of whoever calls it while ports are flushed
// (OTP 25 and later, observed), sometimes below what prints for it (io:execute_request/3).
#pragma once

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// A function that halts is among its three youngest frames. Needs stacks. False for ProcId::none.
bool is_halting(const Snapshot& snapshot, ProcId process);

}  // namespace beamheap::analyses
