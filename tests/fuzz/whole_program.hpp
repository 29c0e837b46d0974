// The whole program on bytes, as the fuzzers and the replay of their corpus call it.
#pragma once

#include <string_view>

namespace beamheap::fuzz {

/// Opens `bytes` as beamheap opens a file, loads it by each plan that a verb uses, and walks every heap. Whatever
/// the bytes are, it must come back, in time and memory bounded by their number; results are thrown away.
void whole_program(std::string_view bytes);

}  // namespace beamheap::fuzz
