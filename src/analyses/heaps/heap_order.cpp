// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/heap_order.hpp"

namespace beamheap::analyses {
namespace {
constexpr std::uint32_t unseen = 0xFFFFFFFFu;
constexpr std::uint32_t open = 0xFFFFFFFEu;
}  // namespace

void HeapOrder::build(const HeapGraph& graph) {
    size_ = graph.size();
    cut_ = 0;
    nodes_.clear_and_trim(HeapGraph::kept_bytes);
    positions_.clear_and_trim(HeapGraph::kept_bytes);
    sorted_.clear_and_trim(HeapGraph::kept_bytes);
    starts_.clear_and_trim(HeapGraph::kept_bytes);
    stack_.clear_and_trim(HeapGraph::kept_bytes);
    identity_ = graph.forward();
    graph_ = &graph;
    if (identity_) return;
    const std::span<const NodeId> targets = graph.edges().targets();
    starts_.assign(size_ + 1, 0);
    for (const Edge edge : graph.edges()) ++starts_[edge.from + 1];
    for (std::size_t i = 0; i < size_; ++i) starts_[i + 1] += starts_[i];

    positions_.assign(size_, unseen);
    nodes_.resize(size_);
    auto post = static_cast<std::uint32_t>(size_);
    // From the last root to the first and from the last object to the first: the search numbers from the end, so what
    // comes first in the input comes first in the order.
    for (std::size_t i = graph.roots().size(); i-- > 0;)
        if (graph.roots().target(i) != no_node) search(graph, graph.roots().target(i), post);
    for (std::size_t i = size_; i-- > 0;) search(graph, static_cast<NodeId>(i), post);

    for (std::uint32_t position = 0; position < size_; ++position) {
        const NodeId from = nodes_[position];
        for (std::uint32_t e = starts_[from]; e < starts_[from + 1]; ++e) {
            const std::uint32_t to = positions_[targets[e]];
            if (to > position) sorted_.push(position, to);
            else ++cut_;
        }
    }
    // Only the search needed these; what comes next needs room.
    starts_.clear_and_trim(HeapGraph::kept_bytes);
    stack_.clear_and_trim(HeapGraph::kept_bytes);
}

void HeapOrder::search(const HeapGraph& graph, NodeId start, std::uint32_t& post) {
    if (positions_[start] != unseen) return;
    const std::span<const NodeId> targets = graph.edges().targets();
    stack_.clear();
    stack_.push({start, starts_[start]});
    positions_[start] = open;
    while (!stack_.empty()) {
        Visit& top = stack_[stack_.size() - 1];
        if (top.next == starts_[top.node + 1]) {
            positions_[top.node] = --post;
            nodes_[post] = top.node;
            stack_.set_size(stack_.size() - 1);
            continue;
        }
        const NodeId to = targets[top.next++];
        if (positions_[to] != unseen) continue;
        if (starts_[to] == starts_[to + 1]) {  // most objects refer to nothing
            positions_[to] = --post;
            nodes_[post] = to;
            continue;
        }
        positions_[to] = open;
        stack_.push({to, starts_[to]});
    }
}

}  // namespace beamheap::analyses
