// SPDX-License-Identifier: Apache-2.0
// Dominators: the object through which every way from a root to another object leads.
//
// v's immediate dominator is the nearest object without which v could not be reached; freeing it frees v. On an acyclic
// graph one sweep in topological order finds it, with no lists of predecessors: for every reference u -> v,
// idom(v) = nca(idom(v), u), the nearest common ancestor in the tree built so far (Cooper, Harvey and Kennedy's
// intersection, which needs a single pass where the order is topological). Walking up to find it is quadratic on
// everyday heaps ([Cfg, Cfg, ...], or a list and its reverse over the same elements), so the walk has a budget of a few
// steps per reference; a heap that overruns it is done again with jump pointers (Myers' skew-binary numbers:
// each object knows its depth and one far ancestor), O(log n) per reference.
#pragma once

#include <cstdint>
#include <utility>

#include "analyses/heaps/heap_order.hpp"
#include "beamheap/heap_graph.hpp"

namespace beamheap::analyses {

class Dominators {
public:
    /// Of all objects that a root of the graph reaches.
    void build(const HeapGraph& graph, const HeapOrder& order);
    /// Of all objects that one object reaches, as if it were held by the only root: what within that term keeps what.
    void build_below(const HeapGraph& graph, const HeapOrder& order, NodeId top);

    static constexpr std::uint32_t root = 0;  ///< the process itself
    static constexpr std::uint32_t unreached = 0xFFFFFFFFu;
    /// By position in the order: position + 1 of the immediate dominator; root, or unreached.
    std::uint32_t at(std::uint32_t position) const { return idom_[position + 1]; }
    /// The same for all of them, by position + 1; the first is the process's own.
    std::span<const std::uint32_t> all() const { return idom_.view(); }
    /// Gives all of them away, as all() has them; nothing may be asked then.
    FlatArray<std::uint32_t> take() { return std::move(idom_); }
    /// The object that dominates `node`; no_node if that is the process, or if no root reaches it.
    NodeId operator[](NodeId node) const {
        const std::uint32_t d = at(order_->position(node));
        return d == root || d == unreached ? no_node : order_->node(d - 1);
    }
    bool reached(NodeId node) const { return at(order_->position(node)) != unreached; }
    /// Whether the walk's budget was overrun.
    bool jumped() const { return jumped_; }
    std::size_t used_bytes() const { return idom_.used_bytes() + jump_.used_bytes() + depth_.used_bytes(); }

private:
    // The nearest place through which all ways to both lead; places are position + 1, or root. O(log n).
    std::uint32_t nearest(std::uint32_t a, std::uint32_t b) const;
    void build_from(const HeapGraph& graph, const HeapOrder& order, NodeId top);
    void start(const HeapGraph& graph, NodeId top);
    bool walk();
    void jump();
    void settle(std::uint32_t place);

    const HeapOrder* order_ = nullptr;
    bool jumped_ = false;
    FlatArray<std::uint32_t> idom_;  // by position + 1
    FlatArray<std::uint32_t> jump_;
    FlatArray<std::uint32_t> depth_;
};

}  // namespace beamheap::analyses
