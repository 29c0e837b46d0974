// SPDX-License-Identifier: Apache-2.0
// Carriers of an image, found and walked block by block.
//
// Each allocator has a list of its multiblock carriers and one of its singleblock carriers (Allctr_t,
// erl_alloc_util.h). Those that it gave up to the pool are in no list of its own: where it counts some, what lies
// between the known ones is searched, since each carrier starts at a multiple of 16 KB and its header names the
// allocator. A multiblock carrier is one only if its blocks lead from the first to the last exactly to its end. The
// sums equal what the allocators counted themselves (seen on 23, 25, 27 and 29).
#pragma once

#include "beamheap/carriers.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// Needs the processes in the reader's snapshot, to say whose heaps keep a carrier.
Carriers read_carriers(Reader& reader);

}  // namespace beamheap::otp
