// SPDX-License-Identifier: Apache-2.0
// What those who wait in one place all name in the frames in which they wait: the name that pollers look for, whom they
// will give something back to, the row that they expect.
//
// A compiler keeps in a frame what is needed when the call returns, and no more. An atom or a pid that stands in the
// youngest frames of each of many processes at the same place is what they go on with: for a loop that looks again,
// what it looks for. Words that programs use for anything (ok, undefined, infinity) and names of modules tell nothing.
// A few of the processes are read.
#pragma once

#include <memory>
#include <vector>

#include "beamheap/artifact.hpp"
#include "erlang/owned_term.hpp"

namespace beamheap::analyses {

struct SharedName {
    FunctionId function = FunctionId::none;  ///< where they wait
    FunctionId caller = FunctionId::none;    ///< who has called that
    ProcId process = ProcId::none;           ///< whom they name, by its pid or its registered name
    std::shared_ptr<OwnedTerm> atom;         ///< the atom, where no process has that name; nullptr: `process` is told
};

/// The processes whose terms are read for that: none in most nodes. Needs the process table; asked of one snapshot
/// only.
class MayNameAlike {
public:
    bool operator()(const Snapshot& snapshot, ProcId process);

private:
    std::vector<bool> chosen_;  // by ProcId; empty: there are none
    bool known_ = false;
};

/// Of places where a fifth of all processes wait: those with exactly one such name. Needs stacks, modules, and
/// LoadPlan::terms with MayNameAlike among terms_of.
std::vector<SharedName> shared_names(Artifact& artifact);

}  // namespace beamheap::analyses
