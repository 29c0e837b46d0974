// SPDX-License-Identifier: Apache-2.0
// Who keeps most of the binaries outside the heaps: one process, or all of one kind.
//
// Where all heaps were read, what their terms refer to says it; else the virtual binary heaps do, which also count what
// waits for the next collection.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/facts/facts.hpp"
#include "analyses/heaps/binary_place.hpp"

namespace beamheap::analyses {

struct BinaryKeepers {
    std::vector<ProcId> processes;  ///< who keeps most, or all of the kind that does; most bytes first
    FunctionId kind = FunctionId::none;
    std::uint64_t bytes = 0;           ///< that these keep
    std::uint64_t most_by_one = 0;     ///< of these
    std::uint64_t of_all = 0;          ///< that all processes keep
    bool known = false;                ///< virtual heaps are told (early releases' dumps have none), or heaps were read
    bool by_terms = false;             ///< from terms, of all heaps: what is kept is referred to
    std::optional<BinaryPlace> place;  ///< of the largest that the first of them refers to; by terms alone
};

Result<BinaryKeepers> find_fact(FactOf<BinaryKeepers>, const Facts& facts);

}  // namespace beamheap::analyses
