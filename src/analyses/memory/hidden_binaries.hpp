// SPDX-License-Identifier: Apache-2.0
// What processes keep of binaries that an input does not list.
//
// Up to OTP 26 a crash dump leaves out a binary that only slices refer to. The virtual binary heap of a process still
// counts it: each of the VM's references to a binary adds its own size (erts/emulator/beam/erl_gc.h, OH_OVERHEAD), a
// slice that was copied with a message the size of the slice. So what it counts beyond the listed references belongs to
// the slices, or to references that died since the last garbage collection of their generation: an upper bound.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analyses/memory/binary_holders.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// A process whose virtual binary heap holds more than is listed and more than its slices show. All in bytes.
struct HiddenBinaries {
    ProcId process = ProcId::none;
    std::uint64_t slices = 0;        ///< whose binary is not listed
    std::uint64_t seen_bytes = 0;    ///< that these show
    std::uint64_t vheap_bytes = 0;   ///< both virtual heaps
    std::uint64_t hidden_bytes = 0;  ///< of these, not in listed references; more than seen_bytes
};

/// `held` is sorted by process, and so are the rows; `size_of` gives a listed binary's bytes by its address.
std::vector<HiddenBinaries> hidden_binaries(const Snapshot& snapshot, std::span<const HeldBinary> held,
                                            const std::function<Count(std::uint64_t)>& size_of);

}  // namespace beamheap::analyses
