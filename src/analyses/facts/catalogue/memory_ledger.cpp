// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/memory_ledger.hpp"

#include "analyses/facts/catalogue/suspects.hpp"

namespace beamheap::analyses {

Result<Ledger> find_fact(FactOf<Ledger>, const Facts& facts) {
    LedgerSources sources{.snapshot = facts.snapshot()};
    Artifact* const artifact = facts.artifact();
    if (artifact != nullptr &&
        (facts.options().full || facts.gathered_elsewhere() || facts.get<Suspects>().all_binaries)) {
        sources.held = facts.heaps().binaries();
        sources.size_of = [artifact](std::uint64_t address) { return artifact->binary_bytes(address); };
    }
    return ledger(sources);
}

namespace fact {
void memory_ledger(FactNeeds& needs) {
    needs.plan.tables = needs.plan.modules = needs.plan.links = needs.plan.labels = true;
}
}  // namespace fact

}  // namespace beamheap::analyses
