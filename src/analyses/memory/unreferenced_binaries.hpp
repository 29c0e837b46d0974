// Blocks of binary_alloc that nothing refers to: what is neither on a heap nor in a table nor a persistent term.
//
// Drivers keep their buffers there (the receive buffer of each socket: {buffer, Bytes}), native code what it was given,
// and binaries whose last reference lies in garbage wait there for the next collection of its process. Only a core
// image tells; blocks of one size are one kind of thing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "beamheap/carriers.hpp"

namespace beamheap::analyses {

struct UnheldGroup {
    std::uint64_t block_bytes = 0;  ///< size of each
    std::uint64_t blocks = 0, bytes = 0;
};

struct UnheldBinaries {
    std::uint64_t held_bytes = 0;  ///< of blocks that something refers to
    std::uint64_t blocks = 0, bytes = 0;
    std::vector<UnheldGroup> groups;  ///< most bytes first
};

/// `referenced` are addresses of Binaries, sorted.
UnheldBinaries unheld_binaries(std::span<const CarrierBlock> blocks, std::span<const std::uint64_t> referenced);

}  // namespace beamheap::analyses
