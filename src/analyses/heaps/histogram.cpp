#include "analyses/heaps/histogram.hpp"

#include <algorithm>

namespace beamheap::analyses {

void Histogram::add(const HeapGraph& graph) {
    const std::span<const std::uint32_t> words = graph.all_words();
    const std::span<const std::uint8_t> kinds = graph.all_kinds();
    for (NodeId node = 0; node < words.size(); ++node) {
        const auto kind = static_cast<std::size_t>(HeapGraph::kind_of(kinds[node]));
        ++count_[kind];
        words_[kind] += words[node];
    }
}

void Histogram::add_garbage(const HeapGraph& graph, const Reach& reach) {
    for (NodeId node = 0; node < graph.size(); ++node) {
        if (!reach.is_garbage(node)) continue;
        const auto kind = static_cast<std::size_t>(graph.kind(node));
        ++count_[kind];
        words_[kind] += graph.words(node);
    }
}

void Histogram::add(const Histogram& other) {
    for (std::size_t i = 0; i < term_kinds; ++i) {
        count_[i] += other.count_[i];
        words_[i] += other.words_[i];
    }
}

std::vector<KindShare> Histogram::rows() const {
    std::vector<KindShare> rows;
    for (std::size_t i = 0; i < term_kinds; ++i)
        if (count_[i] != 0) rows.push_back({static_cast<TermKind>(i), count_[i], words_[i]});
    std::stable_sort(rows.begin(), rows.end(),
                     [](const KindShare& a, const KindShare& b) { return a.words > b.words; });
    return rows;
}

}  // namespace beamheap::analyses
