#include "cli/unreferenced.hpp"

#include <algorithm>
#include <thread>

namespace beamheap::cli {

std::vector<std::uint64_t> referenced_binaries(Artifact& artifact, unsigned workers) {
    std::vector<std::vector<std::uint64_t>> found(workers != 0 ? workers
                                                               : std::max(1u, std::thread::hardware_concurrency()));
    HeapRequest demand;
    demand.workers = static_cast<unsigned>(found.size());
    demand.visit = [&found](const HeapVisit& visit) {
        for (const BinaryUse& use : visit.graph.binaries())
            if (use.base == BinaryUse::Base::binary) found[visit.worker].push_back(use.address);
    };
    (void)artifact.visit_heaps(demand);
    std::vector<std::uint64_t> all;
    for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
    return all;
}

std::optional<analyses::UnheldBinaries> unheld_binaries(Artifact& artifact, std::vector<std::uint64_t> referenced) {
    const auto carriers = artifact.carriers();
    const auto stored = artifact.stored_binaries();
    if (!carriers || !stored) return std::nullopt;
    for (const StoredBinary& each : stored->references) referenced.push_back(each.address);
    std::sort(referenced.begin(), referenced.end());
    return analyses::unheld_binaries(carriers->binary_blocks, referenced);
}

}  // namespace beamheap::cli
