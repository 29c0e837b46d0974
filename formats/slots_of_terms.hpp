// Snapshot::slots for formats whose terms can be read at any time: what the youngest frames of waiting processes hold.
#pragma once

#include "beamheap/artifact.hpp"

namespace beamheap {

/// Adds the slots of the processes that plan.slots_of chooses, out of their terms. For after loading, with stacks.
/// Processes with a heap of more than `most_words` are left out.
void add_slots(Artifact& artifact, const LoadPlan& plan, std::uint64_t most_words);

}  // namespace beamheap
