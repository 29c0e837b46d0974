// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/dominators.hpp"

#include <utility>

namespace beamheap::analyses {

// From one object, or with no_node from all that the roots hold.
void Dominators::start(const HeapGraph& graph, NodeId top) {
    idom_.assign(graph.size() + 1, unreached);
    idom_[root] = root;
    if (top != no_node) {
        idom_[order_->position(top) + 1] = root;
        return;
    }
    for (const Root r : graph.roots())
        if (r.target != no_node) idom_[order_->position(r.target) + 1] = root;
}

void Dominators::build(const HeapGraph& graph, const HeapOrder& order) { build_from(graph, order, no_node); }

void Dominators::build_below(const HeapGraph& graph, const HeapOrder& order, NodeId top) {
    build_from(graph, order, top);
}

void Dominators::build_from(const HeapGraph& graph, const HeapOrder& order, NodeId top) {
    order_ = &order;
    jumped_ = false;
    idom_.clear_and_trim(HeapGraph::kept_bytes);
    jump_.clear_and_trim(HeapGraph::kept_bytes);
    depth_.clear_and_trim(HeapGraph::kept_bytes);
    start(graph, top);
    if (walk()) return;
    jumped_ = true;
    start(graph, top);
    jump();
    jump_.clear_and_trim(HeapGraph::kept_bytes);
    depth_.clear_and_trim(HeapGraph::kept_bytes);
}

bool Dominators::walk() {
    const EdgeList& edges = order_->edges();
    std::uint32_t* idom = idom_.data();
    auto budget = static_cast<std::int64_t>(4 * edges.size() + 1024);
    for (const Edge edge : edges) {
        const std::uint32_t u = edge.from + 1;
        const std::uint32_t v = edge.to + 1;
        if (idom[u] == unreached) continue;
        std::uint32_t a = idom[v];
        if (a == unreached) {
            idom[v] = u;
            continue;
        }
        // An ancestor always has a smaller position, so the larger of the two goes up.
        std::uint32_t b = u;
        while (a != b) {
            if (a > b) std::swap(a, b);
            b = idom[b];
            --budget;
        }
        idom[v] = a;
        if (budget < 0) return false;
    }
    return true;
}

/// Gives a place whose parent is final its depth, and the far ancestor that skew-binary numbers choose.
inline void Dominators::settle(std::uint32_t place) {
    const std::uint32_t parent = idom_[place];
    const std::uint32_t far = jump_[parent];
    depth_[place] = depth_[parent] + 1;
    jump_[place] = depth_[parent] - depth_[far] == depth_[far] - depth_[jump_[far]] ? jump_[far] : parent;
}

std::uint32_t Dominators::nearest(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t* idom = idom_.data();
    const std::uint32_t* jump = jump_.data();
    const std::uint32_t* depth = depth_.data();
    if (depth[a] > depth[b]) std::swap(a, b);
    while (depth[b] > depth[a]) b = depth[jump[b]] >= depth[a] ? jump[b] : idom[b];
    while (a != b) {  // of equal depth, so that both jump equally far
        const bool far = jump[a] != jump[b];
        a = far ? jump[a] : idom[a];
        b = far ? jump[b] : idom[b];
    }
    return a;
}

void Dominators::jump() {
    const EdgeList& edges = order_->edges();
    jump_.resize(idom_.size());
    depth_.resize(idom_.size());
    std::uint32_t* idom = idom_.data();
    jump_[root] = root;
    depth_[root] = 0;
    std::uint32_t settled = root;
    for (const Edge edge : edges) {
        const std::uint32_t u = edge.from + 1;
        const std::uint32_t v = edge.to + 1;
        if (idom[u] == unreached) continue;
        if (u != settled) {  // all references to u have been seen: its place in the tree is final
            settled = u;
            settle(u);
        }
        idom[v] = idom[v] == unreached ? u : nearest(idom[v], u);
    }
}

}  // namespace beamheap::analyses
