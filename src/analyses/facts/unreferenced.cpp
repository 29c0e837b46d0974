// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/unreferenced.hpp"

#include <algorithm>
#include <thread>

namespace beamheap::analyses {

namespace {

Result<std::vector<std::uint64_t>> referenced_by_heaps(Artifact& artifact, unsigned workers) {
    std::vector<std::vector<std::uint64_t>> found(workers != 0 ? workers
                                                               : std::max(1u, std::thread::hardware_concurrency()));
    HeapRequest demand;
    demand.workers = static_cast<unsigned>(found.size());
    demand.visit = [&found](const HeapVisit& visit) {
        for (const BinaryUse& use : visit.graph.binaries())
            if (use.base == BinaryUse::Base::binary) found[visit.worker].push_back(use.address);
    };
    BH_CHECK(artifact.visit_heaps(demand));
    std::vector<std::uint64_t> all;
    for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
    return all;
}

using Unheld = std::optional<UnheldBinaries>;

Unheld unheld(const Carriers& carriers, const StoredBinaries& stored, std::vector<std::uint64_t> referenced) {
    for (const StoredBinary& each : stored.references) referenced.push_back(each.address);
    std::sort(referenced.begin(), referenced.end());
    UnheldBinaries found = unheld_binaries(carriers.binary_blocks, referenced);
    found.most_stored = most_stored(carriers.binary_blocks, stored.references);
    return found;
}

}  // namespace

Result<Unheld> unheld_binaries(Artifact& artifact, std::vector<std::uint64_t> referenced) {
    BH_TRY(const std::optional<Carriers> carriers, if_held(artifact.carriers()));
    BH_TRY(const std::optional<StoredBinaries> stored, if_held(artifact.stored_binaries()));
    if (!carriers || !stored) return Unheld();
    return unheld(*carriers, *stored, std::move(referenced));
}

Result<Unheld> unheld_binaries(Artifact& artifact, unsigned workers) {
    BH_TRY(const std::optional<Carriers> carriers, if_held(artifact.carriers()));
    BH_TRY(const std::optional<StoredBinaries> stored, if_held(artifact.stored_binaries()));
    if (!carriers || !stored) return Unheld();
    BH_TRY(std::vector<std::uint64_t> referenced, referenced_by_heaps(artifact, workers));
    return unheld(*carriers, *stored, std::move(referenced));
}

}  // namespace beamheap::analyses
