#include "analyses/facts/catalogue/unheld.hpp"

#include "analyses/facts/unreferenced.hpp"

namespace beamheap::analyses {

namespace {
constexpr std::uint64_t many_binary_bytes = 64u << 20;
}  // namespace

Result<Unheld> find_fact(FactOf<Unheld>, const Facts& facts, Artifact& artifact) {
    if (facts.snapshot().memory_bytes("binary").value_or(0) < many_binary_bytes) return Unheld();
    return unheld_binaries(artifact, facts.options().threads);
}

namespace fact {
void unheld(FactNeeds& needs) { needs.plan.tables = true; }
}  // namespace fact

}  // namespace beamheap::analyses
