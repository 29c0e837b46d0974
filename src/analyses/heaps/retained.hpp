// SPDX-License-Identifier: Apache-2.0
// Retained sizes: the words that would be freed if one object, or one root, were gone.
//
// What only an object keeps alive is its subtree in the dominator tree, so one backward sweep adds every object's words
// to its immediate dominator. Binaries outside the heap are bytes, not words: see binary_holders.hpp.
#pragma once

#include <cstdint>

#include "analyses/heaps/dominators.hpp"
#include "analyses/heaps/heap_order.hpp"
#include "beamheap/heap_graph.hpp"

namespace beamheap::analyses {

class RetainedSizes {
public:
    void build(const HeapGraph& graph, const HeapOrder& order, const Dominators& dominators);
    /// Words that the object keeps alive, its own included; 0 if no root reaches it.
    std::uint64_t operator[](NodeId node) const { return at(order_->position(node) + 1); }
    /// Words that the roots reach.
    std::uint64_t live_words() const { return at(Dominators::root); }
    std::size_t used_bytes() const { return narrow_.used_bytes() + wide_.used_bytes(); }

private:
    template <class Word>
    void sweep(const HeapGraph& graph, const Dominators& dominators, FlatArray<Word>& retained);
    std::uint64_t at(std::uint32_t place) const { return is_wide_ ? wide_[place] : narrow_[place]; }
    const HeapOrder* order_ = nullptr;
    bool is_wide_ = false;
    FlatArray<std::uint32_t> narrow_;  // by position + 1; the process itself is first
    FlatArray<std::uint64_t> wide_;
};

/// For each root of the graph, in its order, the words that would be freed if it and all other roots that hold the same
/// object were gone: what that object retains, or 0 where another live object refers to it too. A term that a server
/// has in two slots of its stack is kept by both, and neither is less to be told about for that; so the roots of one
/// object are one group, and each of them has the words of the group.
void retained_by_roots(const HeapGraph& graph, const Dominators& dominators, const RetainedSizes& retained,
                       FlatArray<std::uint64_t>& words);

}  // namespace beamheap::analyses
