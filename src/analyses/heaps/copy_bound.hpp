// SPDX-License-Identifier: Apache-2.0
// How large a copy of any term of a heap can be, told from sums over the heap, without a sweep over its references.
//
// What is shared makes a copy larger than the term: each object is in it once for every way that leads to it. There are
// at most as many ways as the product of the numbers of references to each object, and n references are at most 2^(n -
// 1). So it doubles once, at the most, for each reference that is not the only one to its object; small heaps have few
// of those, or none.
#pragma once

#include <cstdint>

#include "analyses/heaps/census.hpp"
#include "beamheap/heap_graph.hpp"

namespace beamheap::analyses {

/// How large copies of a heap's terms are at the most.
struct CopyBound {
    /// The flat size of a term that a root holds is at most 2^doublings times what it is with its sharing.
    std::uint64_t doublings = 0;
    std::uint64_t words = 0;  ///< no such term has a larger flat size; saturated_words (sizes.hpp): it may be anything
};
/// Of a graph that `census` has counted.
CopyBound copy_bound(const HeapGraph& graph, const Census& census);

}  // namespace beamheap::analyses
