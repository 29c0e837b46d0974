// SPDX-License-Identifier: Apache-2.0
// Where a process allocates: its young block, or a fragment that stands in for it.
//
// Process.heap, htop, stop and hend usually are one block of heap_sz words: objects from below, the stack from above.
// A process that needs room when its collection has to wait (a dirty scheduler has yet to do it, or a BIF must not be
// disturbed) goes on in a heap fragment, to which its stack moves as well; the block is abandoned: it keeps its
// objects, and the rest of it is filled by one dead bignum, so that it can be walked to its end. heap_sz stays the
// block's. Facts: erl_gc.c (delay_garbage_collection, ERTS_GET_ORIG_HEAP), the same in OTP 23 to 27; 29 observed.
#pragma once

#include "bytes/address_space.hpp"
#include "formats/otp/layout/layout.hpp"

namespace beamheap::otp {

/// Addresses are those of the VM; the stack is [stop, end).
struct YoungHeap {
    std::uint64_t start = 0, top = 0, stop = 0, end = 0;  ///< where the process allocates now
    std::uint64_t words = 0;                              ///< of its block, as process_info(heap_size)
    std::uint64_t block = 0, block_top = 0;               ///< the abandoned block and the end of its objects; else 0
    bool fits = false;                                    ///< all of these are in order and agree with each other

    bool abandoned() const { return block != 0; }
    /// What a thread that is inside the process's code has in its registers, where that is inside this heap.
    void goes_on(std::uint64_t heap_top, std::uint64_t stack_top) {
        if (start <= stack_top && stack_top <= end) stop = stack_top;
        if (start <= heap_top && heap_top <= stop) top = heap_top;
    }
};

/// Reads it; `process` holds the bytes of a Process (layout.at.process_size). Of a process that is being collected the
/// places are those from before, or of no order (`fits` is false) for an instant at its end.
YoungHeap read_young_heap(bytes::MemoryReader& memory, const Layout& layout, const std::byte* process);

}  // namespace beamheap::otp
