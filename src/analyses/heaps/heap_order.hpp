// SPDX-License-Identifier: Apache-2.0
// A topological order of a heap: every object before those that it refers to.
//
// BEAM heaps are acyclic: an object is made of objects that exist already and is not changed afterwards. So flat sizes,
// dominators and retained sizes need no fixpoint, only one sweep over the references in this order, forwards or
// backwards. The order in which a crash dump lists objects nearly always is one already (HeapGraph::forward); else
// objects are numbered anew by an iterative depth-first search, and the references are sorted by it. A cycle is
// damage: the reference that closes it is left out and counted.
#pragma once

#include <cstdint>

#include "beamheap/heap_graph.hpp"

namespace beamheap::analyses {

class HeapOrder {
public:
    /// Looks at the graph, which must stay as it is. Memory of earlier use is reused.
    void build(const HeapGraph& graph);

    std::size_t size() const { return size_; }
    /// Positions are node numbers.
    bool identity() const { return identity_; }
    std::uint32_t position(NodeId node) const { return identity_ ? node : positions_[node]; }
    NodeId node(std::uint32_t position) const { return identity_ ? position : nodes_[position]; }
    /// References as positions, by source in the order: from < to always.
    const EdgeList& edges() const { return identity_ ? graph_->edges() : sorted_; }
    /// References that closed a cycle and were left out.
    std::uint64_t cut() const { return cut_; }
    std::size_t used_bytes() const {
        return nodes_.used_bytes() + positions_.used_bytes() + sorted_.used_bytes() + starts_.used_bytes() +
               stack_.used_bytes();
    }

private:
    struct Visit {
        NodeId node;
        std::uint32_t next;  // index into the graph's edges
    };
    void search(const HeapGraph& graph, NodeId start, std::uint32_t& post);

    const HeapGraph* graph_ = nullptr;
    std::size_t size_ = 0;
    bool identity_ = true;
    std::uint64_t cut_ = 0;
    FlatArray<NodeId> nodes_;
    FlatArray<std::uint32_t> positions_;
    EdgeList sorted_;
    FlatArray<std::uint32_t> starts_;
    FlatArray<Visit> stack_;
};

}  // namespace beamheap::analyses
