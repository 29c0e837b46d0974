// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/heap_reports.hpp"

#include <utility>
#include <vector>

namespace beamheap::analyses {

Result<NodeBinaries> node_binaries(Artifact& artifact, std::span<const HeldBinary> held,
                                   std::span<const HeldBinary> garbage, bool and_stored) {
    using Kind = BinaryHolder::Kind;
    NodeBinaries all;
    std::vector<BinaryReference> references;
    references.reserve(held.size() + garbage.size());
    for (const HeldBinary& each : held) references.push_back(each.reference);
    for (const HeldBinary& each : garbage) references.push_back(each.reference);
    all.stored.emplace();
    if (and_stored) {
        BH_TRY(all.stored, if_held(artifact.stored_binaries()));
    }
    if (all.stored)
        for (const StoredBinary& each : all.stored->references) {
            const bool table = each.table != StoredBinary::persistent_term;
            references.push_back({each.address, each.offset, each.size,
                                  BinaryHolder(table ? Kind::table : Kind::persistent_terms, table ? each.table : 0)});
        }
    all.report = binary_holders(std::move(references),
                                [&artifact](std::uint64_t address) { return artifact.binary_bytes(address); });
    return all;
}

Result<Ledger> node_ledger(Artifact& artifact, const HeapStats& heaps) {
    BH_TRY(const std::optional<StoredBinaries> stored, if_held(artifact.stored_binaries()));
    BH_TRY(const std::optional<Carriers> carriers, if_held(artifact.carriers()));
    return ledger({.snapshot = artifact.snapshot(),
                   .held = heaps.binaries(),
                   .garbage = heaps.garbage_binaries(),
                   .size_of = [&artifact](std::uint64_t address) { return artifact.binary_bytes(address); },
                   .stored = stored ? &*stored : nullptr,
                   .carriers = carriers ? &*carriers : nullptr,
                   .atom_families = true});
}

}  // namespace beamheap::analyses
