// SPDX-License-Identifier: Apache-2.0
// Reports on a whole node that take what all its heaps refer to (HeapStats), and what its tables do.
#pragma once

#include <optional>
#include <span>

#include "analyses/facts/heap_stats.hpp"
#include "analyses/memory/ledger.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

/// Binaries outside the heaps, by all that refers to them.
struct NodeBinaries {
    BinaryReport report;
    std::optional<StoredBinaries> stored;  ///< of tables and persistent terms; none: the input does not tell them
};
/// `held` and `garbage` are HeapStats::binaries() and garbage_binaries(), or those of some processes. With
/// `and_stored`, also what ETS tables and persistent terms refer to; without it NodeBinaries::stored is empty. Errors:
/// those of Artifact::stored_binaries() but not_held.
Result<NodeBinaries> node_binaries(Artifact& artifact, std::span<const HeldBinary> held,
                                   std::span<const HeldBinary> garbage, bool and_stored);

/// The ledger of a node with all that its heaps (HeapWishes::binaries), tables and carriers tell. Needs need::ledger.
/// Errors: those of Artifact::stored_binaries() and carriers() but not_held.
Result<Ledger> node_ledger(Artifact& artifact, const HeapStats& heaps);

}  // namespace beamheap::analyses
