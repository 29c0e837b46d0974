// SPDX-License-Identifier: Apache-2.0
// What one process is, in the sentences that open whatever is told about it: its kind, whose child it is, whom it waits
// for and who waits for it, and what most of its memory is.
#pragma once

#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/heaps/accumulation.hpp"
#include "analyses/processes/supervision.hpp"
#include "analyses/processes/waits.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// Without what the input does not tell. The snapshot was loaded with links, labels and stacks, and for waits with
/// tables and slots.
std::vector<Sentence> portrait(const Snapshot& snapshot, ProcId process, const Waits& waits,
                               const SupervisionTree& tree, const Accumulation& heap, TermSource& terms);

/// The stack of a process, or, of one that holds a scheduler of a VM that runs, that of the call that holds it.
StackId stack_of(const Snapshot& snapshot, ProcId process);

}  // namespace beamheap::analyses
