// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/unheld.hpp"

#include "analyses/base/sum.hpp"
#include "analyses/facts/unreferenced.hpp"

namespace beamheap::analyses {

namespace {
// Where binaries are much of the node, who refers to none of them is worth a look at all heaps of a core image.
bool much_in_binaries(const Snapshot& snapshot) {
    constexpr std::uint64_t many_bytes = 64u << 20, least_bytes = 8u << 20;
    constexpr double much_percent = 30;
    const Count binaries = snapshot.memory_bytes("binary");
    const double percent = percent_of(binaries, snapshot.memory_bytes("total")).value_or(0);
    return binaries.value_or(0) >= (percent >= much_percent ? least_bytes : many_bytes);
}
}  // namespace

Result<Unheld> find_fact(FactOf<Unheld>, const Facts& facts, Artifact& artifact) {
    if (!much_in_binaries(facts.snapshot())) return Unheld();
    return unheld_binaries(artifact, facts.options().threads);
}

namespace fact {
void unheld(FactNeeds& needs) { needs.plan.tables = true; }
}  // namespace fact

}  // namespace beamheap::analyses
