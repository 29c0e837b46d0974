// SPDX-License-Identifier: Apache-2.0
// Binaries outside the heaps that are held by no process but by what is stored: objects of ETS tables, persistent
// terms.
#pragma once

#include <cstdint>
#include <vector>

namespace beamheap {

struct StoredBinary {
    std::uint64_t address = 0;              ///< of the VM's Binary
    std::uint64_t offset = 0, size = 0;     ///< bytes of it that the reference shows
    std::uint32_t table = persistent_term;  ///< index in Snapshot::ets
    static constexpr std::uint32_t persistent_term = 0xFFFFFFFF;
};

struct StoredBinaries {
    std::vector<StoredBinary> references;
    std::uint64_t compressed_tables = 0;  ///< not looked into: their objects are in external format
    std::uint64_t damaged_tables = 0;     ///< not followed to the end
    std::uint64_t first_damaged = 0;      ///< address of the first of those
    std::uint64_t lost = 0;               ///< references to what is not there
};

}  // namespace beamheap
