// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them in sentences: "1.9 GiB", "12,345", "87 %".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace beamheap::analyses {

/// 12345 -> "12,345".
std::string grouped(std::uint64_t number);
/// Binary multiples, three significant digits at most: "512 B", "1.9 GiB", "87 MiB".
std::string human_bytes(std::uint64_t bytes);
/// "87 %", "1.4 %" below ten, "<0.1 %" where rounding would say zero of something.
std::string human_percent(double percent);
/// "1 process", "12,345 processes".
std::string counted(std::uint64_t number, std::string_view singular, std::string_view plural);

}  // namespace beamheap::analyses
