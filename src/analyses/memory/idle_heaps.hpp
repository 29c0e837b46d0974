// SPDX-License-Identifier: Apache-2.0
// Idle processes with large heaps: candidates for garbage that nobody collects.
//
// Theory. A process is collected when it needs space, never because time passes: one that worked once and waits since
// keeps its heaps as they were, old heap included, which only a full collection sweeps. How much of that is garbage is
// known where its heap was decoded. A node has thousands of them of one kind, so some of each kind are decoded and
// stand for the others.
#pragma once

#include <cstdint>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// Waiting processes with the same initial call and current function, but not those that wait for an answer. Those
/// whose live terms the input does not show (sensitive, registers_lost) are left out: what is not seen is not garbage.
struct IdleGroup {
    FunctionId initial_call = FunctionId::none;
    FunctionId current_function = FunctionId::none;
    std::vector<ProcId> members;   ///< those with a heap of 64 KiB or more, in the input's order
    std::uint64_t heap_bytes = 0;  ///< both heaps of the members, as allocated
};

/// What a few processes may keep of garbage, and nobody has to fear it: it grows no further while they rest, and goes
/// with their next collection.
inline constexpr std::uint64_t little_garbage_bytes = 96u << 20;

/// The groups whose heaps are at least 8 MiB and a tenth of what the node used, most bytes first. Needs the process
/// table and =memory only. O(processes).
std::vector<IdleGroup> idle_groups(const Snapshot& snapshot);

/// Of a group, those for whom `looked` stand, members whose heaps were decoded: one that has more than four times the
/// heap of the largest of them does other things than they do, and nothing is known of it. Without members where that
/// leaves less than what makes a group.
IdleGroup stood_for(const Snapshot& snapshot, IdleGroup group, const std::vector<ProcId>& looked);

/// Which heaps to decode for judging them: of each group members spread evenly over it, until `most_words` of heap in
/// all.
std::vector<ProcId> idle_samples(const Snapshot& snapshot, const std::vector<IdleGroup>& groups,
                                 std::uint64_t most_words);

}  // namespace beamheap::analyses
