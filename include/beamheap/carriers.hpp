// SPDX-License-Identifier: Apache-2.0
// The VM's allocator carriers one by one: what each holds, and what keeps one that is nearly empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "beamheap/ids.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap {

/// A stretch of memory that an allocator took from the system (Carrier_t, erl_alloc_util.c). All sizes in bytes.
struct Carrier {
    std::uint64_t address = 0, bytes = 0;
    TextId allocator = TextId::none;            ///< "eheap_alloc"
    std::int32_t instance = -1;                 ///< 0: threads that are no scheduler; -1: the only one
    bool single = false;                        ///< holds one large block, else many
    bool pooled = false;                        ///< given up by its instance: any other may take it
    std::uint64_t blocks = 0, block_bytes = 0;  ///< in use, with their headers
    std::uint64_t holes = 0, free_bytes = 0, largest_hole = 0;
    std::vector<std::string> kept_by;  ///< of a nearly empty one: what its blocks are, at most a few
};

/// A block in use: the address of what the VM has in it, and its size in bytes with its header.
struct CarrierBlock {
    std::uint64_t address = 0, bytes = 0;
};

struct Carriers {
    std::vector<Carrier> carriers;            ///< by address
    std::vector<CarrierBlock> binary_blocks;  ///< of binary_alloc, all of them
    std::uint64_t unknown = 0;                ///< that look like carriers and could not be followed
    Count mapped_bytes;                       ///< writable memory of the process that is no file's
    Count written_bytes;                      ///< of that, what the image has data for: roughly the resident set
    Count stack_bytes;                        ///< of written_bytes: in the native stacks of threads
    Count carrier_bytes;                      ///< of written_bytes: inside carriers
    /// Memory that was written and belongs to no carrier and no stack: the executable's data, C libraries, NIFs and
    /// drivers that allocate by themselves, code of the JIT, segments that the VM has freed and keeps for later.
    Count other_bytes;
};

}  // namespace beamheap
