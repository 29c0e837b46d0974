// SPDX-License-Identifier: Apache-2.0
// Carriers added up by allocator, and those that a few blocks keep.
//
// The sums that the VM keeps tell how much is lost in carriers; only the carriers themselves tell how: many small holes
// that no request fits (largest hole), or carriers that are empty but for a block or two, which no setting of the
// allocator gives back until these go.
#pragma once

#include <cstdint>
#include <vector>

#include "beamheap/carriers.hpp"

namespace beamheap::analyses {

struct CarrierSum {
    TextId allocator = TextId::none;
    std::uint64_t carriers = 0, carrier_bytes = 0;
    std::uint64_t single = 0, pooled = 0;  ///< of carriers
    std::uint64_t blocks = 0, block_bytes = 0;
    std::uint64_t holes = 0, largest_hole_bytes = 0;
    std::uint64_t nearly_empty = 0, nearly_empty_bytes = 0;  ///< multiblock carriers of which a tenth is used, or less
};

/// A multiblock carrier with blocks, of which a tenth is used at the most.
bool nearly_empty(const Carrier& carrier);
/// By allocator, most carrier bytes first.
std::vector<CarrierSum> carrier_sums(const Carriers& carriers);
/// Indexes of nearly empty carriers, most unused bytes first.
std::vector<std::uint32_t> nearly_empty_carriers(const Carriers& carriers);

}  // namespace beamheap::analyses
