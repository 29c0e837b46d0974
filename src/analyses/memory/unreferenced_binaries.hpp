// SPDX-License-Identifier: Apache-2.0
// Blocks of binary_alloc that nothing refers to: what is neither on a heap nor in a table nor a persistent term.
//
// Drivers keep their buffers there (the receive buffer of each socket: {buffer, Bytes}), native code what it was given,
// and binaries whose last reference lies in garbage wait there for the next collection of its process. Only a core
// image tells; blocks of one size are one kind of thing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "beamheap/carriers.hpp"
#include "beamheap/stored_binaries.hpp"

namespace beamheap::analyses {

struct UnheldGroup {
    std::uint64_t block_bytes = 0;  ///< size of each
    std::uint64_t blocks = 0, bytes = 0;
};

struct UnheldBinaries {
    std::uint64_t held_bytes = 0;  ///< of blocks that something refers to
    std::uint64_t blocks = 0, bytes = 0;
    std::vector<UnheldGroup> groups;  ///< most bytes first
    /// The table, or the persistent terms, that refer to most bytes of those that something refers to.
    struct Stored {
        std::uint32_t table = StoredBinary::persistent_term;  ///< index in Snapshot::ets
        std::uint64_t binaries = 0, bytes = 0;
        std::uint64_t shown_bytes = 0;  ///< of these, that the references show: slices keep the rest as well
    };
    std::optional<Stored> most_stored;
};

/// `referenced` are addresses of Binaries, sorted.
UnheldBinaries unheld_binaries(std::span<const CarrierBlock> blocks, std::span<const std::uint64_t> referenced);
/// Which table refers to most bytes of these blocks, each binary counted once for a table; nothing where none refers to
/// any.
std::optional<UnheldBinaries::Stored> most_stored(std::span<const CarrierBlock> blocks,
                                                  std::span<const StoredBinary> stored);

}  // namespace beamheap::analyses
