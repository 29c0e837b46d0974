// SPDX-License-Identifier: Apache-2.0
// Counters of traced functions: a profile that was under way when the image was taken (beam_bp.c).
//
// Each function's ErtsCodeInfo leads to a GenericBp where it has a breakpoint, one per trace session since OTP 27, with
// flags that say which counters are on: a pointer whose flag is off is garbage. call_time and call_memory have a hash
// of processes for each scheduler, whose counts add up.
#pragma once

#include <vector>

#include "beamheap/traced.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

std::vector<TracedFunction> read_traced(Reader& reader);

}  // namespace beamheap::otp
