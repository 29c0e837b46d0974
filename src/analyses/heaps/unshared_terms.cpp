// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/unshared_terms.hpp"

#include <algorithm>

namespace beamheap::analyses {

void add_blown_terms(const HeapGraph& graph, const FlatSizes& flat,
                     const std::function<const RetainedSizes&()>& find_retained, SharedSizes& shared, ProcId process,
                     std::vector<BlownTerm>& blown) {
    const std::size_t first = blown.size();
    bool ready = false;
    const RetainedSizes* retained = nullptr;
    for (const Root root : graph.roots()) {
        if (root.target == no_node) continue;
        const std::uint64_t copy = flat[root.target];
        // A shared size needs a search; a term that retains as much as its copy has can't be a blown one.
        if (copy < blown_words) continue;
        if (retained == nullptr) retained = &find_retained();
        if (copy / blown_factor <= (*retained)[root.target]) continue;
        const std::uint64_t address = graph.address(root.target);
        if (std::any_of(blown.begin() + static_cast<std::ptrdiff_t>(first), blown.end(),
                        [address](const BlownTerm& term) { return term.address == address; }))
            continue;
        if (!ready) {
            shared.build(graph);
            shared.budget = 10 * graph.size() + 1000;
            ready = true;
        }
        const Count now = shared.words(root.target);
        if (!now.has()) return;  // the budget is spent: roots by the thousand over one large heap
        if (copy / blown_factor > *now) blown.push_back({process, root.kind, address, copy, *now});
    }
}

}  // namespace beamheap::analyses
