// Numbers as people read them: "1.9 GiB", "12,345", "87 %", "2 h 05 min". Machine formats never use these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace beamheap::present {

/// 12345 -> "12,345".
std::string grouped(std::uint64_t number);
/// Binary multiples, three significant digits at most: "512 B", "1.9 GiB", "87 MiB".
std::string human_bytes(std::uint64_t bytes);
/// "87 %", "1.4 %" below ten, "<0.1 %" where rounding would say zero of something.
std::string human_percent(double percent);
/// "850 ms", "12.3 s", "4 min 05 s", "2 h 05 min", "3 d 04 h".
std::string human_duration(std::uint64_t milliseconds);
/// "1 process", "12,345 processes".
std::string counted(std::uint64_t number, std::string_view singular, std::string_view plural);

}  // namespace beamheap::present
