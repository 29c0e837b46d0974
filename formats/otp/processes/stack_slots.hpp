// SPDX-License-Identifier: Apache-2.0
// Snapshot::slots of an image: what the youngest frames of waiting processes hold.
//
// A wait is told by the pids, ports, names and references in the frames around a receive, each of them one word of the
// stack or a small object behind one. So the words are read where they stand: no heap is walked for it, and a hundred
// thousand callers cost the pages of their stacks and nothing else.
#pragma once

#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// Adds the slots of the processes that plan.slots_of chooses, in the order of the rows. Call when the rows are
/// complete, with stacks. A process in garbage collection has none: its references are being moved.
void read_stack_slots(Reader& reader, const LoadPlan& plan);

}  // namespace beamheap::otp
