// SPDX-License-Identifier: Apache-2.0
// Who processes are, by what they hold (erlang/identities.hpp): labels for those that have neither a name nor a label.
//
// It takes the terms of a process, so it is done for some: those whose frames, or whose first call, are of a module
// that a row names, and of these the ones that tables show first. What is found is Process::label, with
// label_concluded.
#pragma once

#include <vector>

#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

/// Whose terms are looked into. Asked of one snapshot only, as LoadPlan::terms_of: what stacks and first calls tell is
/// not known then, and those are taken that have no name.
class MayBeIdentified {
public:
    bool operator()(const Snapshot& snapshot, ProcId process);

private:
    std::vector<bool> chosen_;  // by ProcId
    bool known_ = false;
};

/// Gives labels. Needs LoadPlan::stacks, labels, and terms with MayBeIdentified among terms_of.
void identify_by_terms(Artifact& artifact);
/// The same for one process, whichever it is.
void identify_by_terms(Artifact& artifact, ProcId process);

}  // namespace beamheap::analyses
