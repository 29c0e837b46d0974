// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/waits.hpp"

#include "analyses/heaps/unanswered.hpp"

namespace beamheap::analyses {

Result<Waits> find_fact(FactOf<Waits>, const Facts& facts) {
    Artifact* const artifact = facts.artifact();
    return artifact == nullptr ? waits(facts.snapshot()) : all_waits(*artifact);
}

namespace fact {
void waits(FactNeeds& needs) {
    needs.plan.tables = needs.plan.links = needs.plan.stacks = true;
    needs.plan.slots_of = slots_for_waits;
    needs.whose_terms.emplace_back(MayBeAsked());
}
}  // namespace fact

}  // namespace beamheap::analyses
