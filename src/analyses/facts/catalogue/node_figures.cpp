// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/node_figures.hpp"

namespace beamheap::analyses {

Result<Slogan> find_fact(FactOf<Slogan>, const Facts& facts) { return read_death(facts.snapshot().node); }
Result<Totals> find_fact(FactOf<Totals>, const Facts& facts) { return totals(facts.snapshot()); }
Result<Death> find_fact(FactOf<Death>, const Facts& facts) { return death(facts.snapshot()); }
Result<AllSchedulers> find_fact(FactOf<AllSchedulers>, const Facts& facts) { return all_schedulers(facts.snapshot()); }
Result<AllocatorReport> find_fact(FactOf<AllocatorReport>, const Facts& facts) { return allocators(facts.snapshot()); }

namespace fact {
void node_figures(FactNeeds& needs) {
    needs.plan.tables = needs.plan.stacks = needs.plan.atoms = needs.plan.modules = needs.plan.to_the_end = true;
}
}  // namespace fact

}  // namespace beamheap::analyses
