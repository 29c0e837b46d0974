// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/retained.hpp"

#include <algorithm>

namespace beamheap::analyses {

template <class Word>
void RetainedSizes::sweep(const HeapGraph& graph, const Dominators& dominators, FlatArray<Word>& retained) {
    const auto size = static_cast<std::uint32_t>(graph.size());
    retained.resize(std::size_t{size} + 1);
    retained[Dominators::root] = 0;
    const std::span<const std::uint8_t> words = graph.all_words();
    if (order_->identity()) std::copy(words.begin(), words.end(), retained.begin() + 1);
    else
        for (std::uint32_t at = 0; at < size; ++at) retained[at + 1] = words[order_->node(at)];
    for (const HeapGraph::WideWords& wide : graph.wide_words()) retained[order_->position(wide.node) + 1] = wide.words;
    Word* const sums = retained.data();
    const std::span<const std::uint32_t> parents = dominators.all();
    for (std::uint32_t place = size; place > 0; --place) {
        const std::uint32_t parent = parents[place];
        if (parent == Dominators::unreached) sums[place] = 0;
        else sums[parent] += sums[place];
    }
}

void RetainedSizes::build(const HeapGraph& graph, const HeapOrder& order, const Dominators& dominators) {
    order_ = &order;
    narrow_.clear_and_trim(HeapGraph::kept_bytes);
    wide_.clear_and_trim(HeapGraph::kept_bytes);
    is_wide_ = graph.total_words() > 0xFFFFFFFFu;
    if (is_wide_) sweep(graph, dominators, wide_);
    else sweep(graph, dominators, narrow_);
}

void retained_by_roots(const HeapGraph& graph, const Dominators& dominators, const RetainedSizes& retained,
                       FlatArray<std::uint64_t>& words) {
    FlatArray<std::uint8_t> referred;
    referred.assign(graph.size(), 0);
    for (const Edge edge : graph.edges())
        if (dominators.reached(edge.from)) referred[edge.to] = 1;
    words.clear();
    for (const Root root : graph.roots())
        words.push(root.target != no_node && referred[root.target] == 0 ? retained[root.target] : 0);
}

}  // namespace beamheap::analyses
