// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/locks.hpp"

namespace beamheap::analyses {

Result<Locks> find_fact(FactOf<Locks>, const Facts& facts) {
    Locks found{lock_queues(facts.snapshot())};
    if (Artifact* const artifact = facts.artifact()) read_held_locks(*artifact, found.queues);
    return found;
}

namespace fact {
void locks(FactNeeds& needs) { needs.plan.tables = needs.plan.stacks = true; }
}  // namespace fact

}  // namespace beamheap::analyses
