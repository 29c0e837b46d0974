// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/lost_sharing.hpp"

#include <algorithm>

#include "analyses/heaps/loop_state.hpp"
#include "analyses/heaps/term_measures.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/totals.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t largest_asker = 2'000'000;  // words of the process
constexpr std::size_t most_roots_of_asker = 10'000;
constexpr std::uint64_t least_copied_words = 1'000'000, times_shared = 16;  // words

// Who was refused memory for a heap: of other deaths nobody's terms are read for this.
std::vector<ProcId> who_asked(const Snapshot& s) {
    if (!s.node.slogan.starts_with("eheap_alloc: ")) return {};
    const ProcId id = death(s).process;
    return id == ProcId::none || used_words(s[id]).value_or(0) > largest_asker ? std::vector<ProcId>{}
                                                                               : std::vector{id};
}

Sentence place_of(RootKind kind) {
    switch (kind) {
        case RootKind::message: return Ours("a message in its queue");
        case RootKind::dictionary: return Ours("an entry of its process dictionary");
        case RootKind::stack: return Ours("a term on its stack");
        default: return Ours("a term of its own");
    }
}

}  // namespace

Result<LostSharing> find_fact(FactOf<LostSharing>, const Facts& facts, Artifact& artifact) {
    const Snapshot& s = facts.snapshot();
    const std::vector<ProcId> whose = who_asked(s);
    if (whose.empty()) return LostSharing{};
    const auto source = artifact.terms(whose.front());
    if (!source) return LostSharing{};
    LostSharing found;
    TermSource& terms = **source;
    TermMeasures measures(terms);
    const RootList& roots = terms.graph().roots();
    std::size_t most = roots.size();
    for (std::size_t i = 0; i < std::min(roots.size(), most_roots_of_asker); ++i) {
        const std::uint64_t flat = measures.root_flat_words(i).value_or(0);
        if (flat < least_copied_words || flat <= found.flat_words) continue;
        found.flat_words = flat;
        most = i;
    }
    if (most == roots.size()) return LostSharing{};
    const Count shared = measures.shared_words(terms.root(most));
    if (!shared.has() || *shared > found.flat_words / times_shared) return LostSharing{};
    found.process = whose.front();
    found.shared_words = *shared;
    const auto state = loop_state(s, found.process, terms);
    found.where = state && state->root == most ? Sentence(Ours("its State")) : place_of(roots[most].kind);
    return found;
}

namespace fact {
void lost_sharing(FactNeeds& needs) { needs.terms_of(who_asked); }
}  // namespace fact

}  // namespace beamheap::analyses
