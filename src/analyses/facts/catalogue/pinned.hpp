// SPDX-License-Identifier: Apache-2.0
// What processes keep of binaries outside their heaps because of slices.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyses/facts/facts.hpp"
#include "analyses/memory/binary_holders.hpp"

namespace beamheap::analyses {

/// What a process keeps of binaries outside its heap, because of slices.
struct PinnedBinaries {
    ProcId process = ProcId::none;
    std::uint64_t slices = 0;        ///< references that show a part of a binary only
    std::uint64_t binaries = 0;      ///< that these are parts of
    std::uint64_t seen_bytes = 0;    ///< that they show
    std::uint64_t pinned_bytes = 0;  ///< of those binaries, beyond what is seen
    /// The input does not list binaries that only slices refer to (dumps up to OTP 26): the process's virtual binary
    /// heap, less what is listed, tells their size.
    bool by_subtraction = false;
};

struct Pinned {
    std::vector<PinnedBinaries> processes;  ///< most pinned bytes first; heaps that were decoded alone
};

/// What each process pins, or shows by slices of binaries that the input does not list: most pinned bytes first. `held`
/// is sorted by process; `size_of` gives a listed binary's bytes.
std::vector<PinnedBinaries> pinned_binaries(const Snapshot& snapshot, std::span<const HeldBinary> held,
                                            const std::function<Count(std::uint64_t)>& size_of);

Result<Pinned> find_fact(FactOf<Pinned>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
