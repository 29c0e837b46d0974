// SPDX-License-Identifier: Apache-2.0
// The VM's allocator instances in an image (erl_alloc.c, erl_alloc_util.c).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

struct AllocatorAt {
    std::uint64_t address = 0;   ///< Allctr_t
    std::string_view prefix;     ///< "eheap_": in the executable's constants
    std::int32_t instance = -1;  ///< 0: threads that are no scheduler; -1: the only one
};

/// Every instance: from arrays per scheduler (erts_allctr_thr_spec) and single ones (erts_allctrs_info), both found in
/// static data by the name that each Allctr_t points at. `lost`, where given, becomes larger by those of the arrays'
/// elements that lead to none.
std::vector<AllocatorAt> find_allocators(const Vm& vm, bytes::MemoryReader& memory, std::uint64_t* lost = nullptr);

}  // namespace beamheap::otp
