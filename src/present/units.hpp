// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: "1.9 GiB", "12,345", "87 %", "2 h 05 min". Machine formats never use these.
#pragma once

#include <cstdint>
#include <string>

#include "analyses/base/number_format.hpp"

namespace beamheap::present {

using analyses::counted;
using analyses::grouped;
using analyses::human_bytes;
using analyses::human_percent;
/// "850 ms", "12.3 s", "4 min 05 s", "2 h 05 min", "3 d 04 h".
std::string human_duration(std::uint64_t milliseconds);

}  // namespace beamheap::present
