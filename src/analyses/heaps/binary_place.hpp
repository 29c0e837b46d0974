// SPDX-License-Identifier: Apache-2.0
// Where a process keeps the largest of the binaries outside its heap.
//
// Such a binary takes three words of a heap, so that no size of a term leads to it: a State of a kilobyte may keep
// megabytes. The way there is the shortest one from a root; it begins with the State of a server where it leads through
// that.
#pragma once

#include <cstdint>
#include <optional>

#include "analyses/base/sentence.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

struct BinaryPlace {
    Sentence where;           ///< "its process dictionary > key conn > element 2", "its #state.buffer"
    std::uint64_t bytes = 0;  ///< of the whole binary
};

/// Nothing where its terms refer to none that the input lists. Linear in the heap.
std::optional<BinaryPlace> largest_binary(const Snapshot& snapshot, ProcId process, TermSource& terms);

}  // namespace beamheap::analyses
