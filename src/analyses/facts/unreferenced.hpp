// SPDX-License-Identifier: Apache-2.0
// Which binaries of a core image nothing refers to: all heaps, tables and persistent terms against the allocator.
#pragma once

#include <optional>
#include <vector>

#include "analyses/memory/unreferenced_binaries.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

/// Binaries that nothing refers to: neither the heaps (`referenced`: addresses of all binaries that some heap refers
/// to, of an artifact that was loaded with tables) nor tables nor persistent terms. Nothing where the input does not
/// hold the allocator's blocks.
Result<std::optional<UnheldBinaries>> unheld_binaries(Artifact& artifact, std::vector<std::uint64_t> referenced);

/// The same, decoding all heaps to know what they refer to. 0 workers: one for each core of this machine.
Result<std::optional<UnheldBinaries>> unheld_binaries(Artifact& artifact, unsigned workers);

}  // namespace beamheap::analyses
