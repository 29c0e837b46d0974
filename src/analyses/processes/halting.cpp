// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/halting.hpp"

#include "erlang/functions.hpp"

namespace beamheap::analyses {
namespace {

using erlang::FunctionRole;

constexpr std::size_t youngest_frames = 3;

}  // namespace

bool is_halting(const Snapshot& snapshot, ProcId process) {
    if (process == ProcId::none) return false;
    if (has_role(snapshot, snapshot[process].current_function, FunctionRole::halts)) return true;
    std::size_t seen = 0;
    for (const Frame& frame : snapshot.stacks[snapshot[process].stack]) {
        if (seen++ == youngest_frames) break;
        if (has_role(snapshot, frame.function, FunctionRole::halts)) return true;
    }
    return false;
}

}  // namespace beamheap::analyses
