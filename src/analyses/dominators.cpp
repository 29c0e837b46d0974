#include "analyses/dominators.hpp"

#include <utility>

namespace beamheap::analyses {

void Dominators::start(const HeapGraph& graph) {
    idom_.assign(graph.size() + 1, unreached);
    idom_[root] = root;
    for (const Root& r : graph.roots())
        if (r.target != no_node) idom_[order_->position(r.target) + 1] = root;
}

void Dominators::build(const HeapGraph& graph, const HeapOrder& order) {
    order_ = &order;
    jumped_ = false;
    idom_.clear_and_trim(HeapGraph::kept_bytes);
    jump_.clear_and_trim(HeapGraph::kept_bytes);
    depth_.clear_and_trim(HeapGraph::kept_bytes);
    start(graph);
    if (walk()) return;
    jumped_ = true;
    start(graph);
    jump();
    jump_.clear_and_trim(HeapGraph::kept_bytes);
    depth_.clear_and_trim(HeapGraph::kept_bytes);
}

bool Dominators::walk() {
    const std::span<const Edge> edges = order_->edges();
    std::uint32_t* idom = idom_.data();
    auto budget = static_cast<std::int64_t>(4 * edges.size() + 1024);
    for (const Edge& edge : edges) {
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

void Dominators::jump() {
    const std::span<const Edge> edges = order_->edges();
    jump_.resize(idom_.size());
    depth_.resize(idom_.size());
    std::uint32_t* idom = idom_.data();
    std::uint32_t* jump = jump_.data();
    std::uint32_t* depth = depth_.data();
    jump[root] = root;
    depth[root] = 0;
    std::uint32_t settled = root;
    for (const Edge& edge : edges) {
        const std::uint32_t u = edge.from + 1;
        const std::uint32_t v = edge.to + 1;
        if (idom[u] == unreached) continue;
        if (u != settled) {  // all references to u have been seen: its place in the tree is final
            settled = u;
            const std::uint32_t parent = idom[u];
            const std::uint32_t far = jump[parent];
            depth[u] = depth[parent] + 1;
            jump[u] = depth[parent] - depth[far] == depth[far] - depth[jump[far]] ? jump[far] : parent;
        }
        std::uint32_t a = idom[v];
        if (a == unreached) {
            idom[v] = u;
            continue;
        }
        std::uint32_t b = u;
        if (depth[a] > depth[b]) std::swap(a, b);
        while (depth[b] > depth[a]) b = depth[jump[b]] >= depth[a] ? jump[b] : idom[b];
        while (a != b) {  // of equal depth, so that both jump equally far
            if (jump[a] != jump[b]) {
                a = jump[a];
                b = jump[b];
            } else {
                a = idom[a];
                b = idom[b];
            }
        }
        idom[v] = a;
    }
}

}  // namespace beamheap::analyses
