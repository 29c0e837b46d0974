// SPDX-License-Identifier: Apache-2.0
// A running VM sampled: what its schedulers do, and which functions allocate (x86-64).
#pragma once

#include "beamheap/error.hpp"
#include "beamheap/samples.hpp"
#include "bytes/running_process.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// The VM that is sampled: a reader of its image, whose snapshot gets the functions and stacks that are seen, and the
/// process that the image is of. The snapshot's processes say where the stacks of processes begin.
struct SamplingTarget {
    Reader& reader;
    const bytes::RunningProcess& process;
};

/// Samples by CPU time. Errors: unreadable, with the right that is missing and its cure; not_held on a machine whose
/// registers are not known.
Result<CpuSamples> sample_cpu(SamplingTarget target, const SampleRequest& request);

/// Samples of who allocates. Once in a period a word is picked at random of the free words that the process on each
/// scheduler has on its heap, and watched until it is written to or the period ends. Who writes to it first allocates
/// it, and stands for all words that were free: of `words` that the process allocates meanwhile out of F free ones, one
/// is the watched one with probability words / F, so that F for each hit is, on average, what was allocated (the
/// estimator of Horvitz and Thompson), whatever CPU time it took.
///
/// Not all that a process allocates is on its heap. What C code makes while the heap's top is in a register (results of
/// arithmetic with floats and big integers: erl_arith.c, HeapFragOnlyAlloc), and messages that it takes out of its
/// queue, are in fragments beside it until the next collection. Of these there is a sum, Process.mbuf_sz. What it grows
/// by while a word of the heap is watched gives their amount, relative to that of the heap; who writes to it, watched
/// in one of fragment_turns periods in place of a word, gives the functions: the amount is shared out among the writes
/// that were seen. (Their number would say too little, as each write that is watched holds the process up.) Errors: as
/// sample_cpu; resource_limit, where no debug register is to be had.
inline constexpr std::uint32_t fragment_turns = 24;
Result<AllocationSamples> sample_allocations(SamplingTarget target, const SampleRequest& request);

}  // namespace beamheap::otp
