// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/persistent_keys.hpp"

#include <algorithm>
#include <span>

#include "analyses/base/sum.hpp"
#include "analyses/heaps/term_measures.hpp"
#include "analyses/heaps/term_shape.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_persistent_keys = 20'000, most_families = 64;

}  // namespace

Result<PersistentKeys> find_fact(FactOf<PersistentKeys>, const Facts&, Artifact& artifact) {
    PersistentKeys found;
    BH_TRY(const PersistentTerms all, artifact.persistent_terms());
    if (all.terms == nullptr) return found;
    TermMeasures measures(*all.terms);
    std::size_t looked = 0;
    for (const PersistentTerms::Entry& entry : all.entries) {
        if (++looked > most_persistent_keys) break;
        Sentence form = terms_in_words(*all.terms, std::span(&entry.key, 1));
        auto family = std::ranges::find(found.families, form, &PersistentFamily::form);
        if (family == found.families.end()) {
            // So many forms are keys that are data themselves.
            if (found.families.size() == most_families) family = found.families.end() - 1;
            else family = found.families.insert(found.families.end(), PersistentFamily{std::move(form), 0, 0});
        }
        ++family->keys;
        family->words = saturating_add(family->words, measures.flat_words(entry.value).value_or(0));
    }
    std::ranges::stable_sort(found.families, std::ranges::greater(), &PersistentFamily::words);
    return found;
}

namespace fact {
void persistent_keys(FactNeeds& needs) { needs.plan.tables = true; }
}  // namespace fact

}  // namespace beamheap::analyses
