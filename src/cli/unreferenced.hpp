// Which binaries of a core image nothing refers to: all heaps, tables and persistent terms against the allocator.
#pragma once

#include <optional>
#include <vector>

#include "analyses/memory/unreferenced_binaries.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::cli {

/// Addresses of all binaries that some heap refers to. The artifact is a loaded core image; 0 workers: one for each core
/// of this machine.
std::vector<std::uint64_t> referenced_binaries(Artifact& artifact, unsigned workers);

/// `referenced` by heaps; what tables and persistent terms hold is added. Nothing where the input is no core image.
std::optional<analyses::UnheldBinaries> unheld_binaries(Artifact& artifact, std::vector<std::uint64_t> referenced);

}  // namespace beamheap::cli
