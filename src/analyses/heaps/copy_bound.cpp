// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/copy_bound.hpp"

#include <algorithm>

#include "analyses/heaps/sizes.hpp"

namespace beamheap::analyses {

CopyBound copy_bound(const HeapGraph& graph, const Census& census) {
    std::uint64_t words = 0, reached = 0;
    census.each([](std::uint8_t, bool) { return true; },
                [&](TermKind kind, const Census::Sum& sum) {
                    const auto extra = static_cast<std::uint64_t>(std::max<std::int64_t>(graph.flat_extra(kind), 0));
                    words += sum.words + sum.objects * extra;
                });
    for (const HeapGraph::FlatOverride& o : graph.flat_overrides()) words += o.words;
    census.each([](std::uint8_t mark, bool) { return mark != 0; },
                [&](TermKind, const Census::Sum& sum) { reached += sum.objects; });
    // What is reached has a reference or a root each; all others are second ones.
    const std::uint64_t second = graph.edges().size() + graph.roots().size() - reached;
    const bool anything = second >= 64 || words > saturated_words >> second;
    return {second, anything ? saturated_words : words << second};
}

}  // namespace beamheap::analyses
