// SPDX-License-Identifier: Apache-2.0
// Crash dumps that are damaged as formats are, not as bytes are: what a reader takes for granted comes twice,
// elsewhere, one too long, or as its neighbour's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace beamheap::fuzz {

/// One to four changes to the lines, sections, numbers and addresses of a dump, of at most `most` bytes; the same for
/// the same seed. Of bytes that are no dump it makes others like them.
std::string mutate_dump(std::string_view bytes, std::uint64_t seed, std::size_t most);

/// One to six changes to bytes of which nothing is known: bits, bytes, numbers of all widths, pieces lost, doubled,
/// moved, zeroed or from elsewhere, the end cut off.
std::string mutate_bytes(std::string_view bytes, std::uint64_t seed, std::size_t most);

/// Splitmix64 (Steele, Lea, Flood 2014): what follows from a seed.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    /// Below `bound`; 0 where that is 0.
    std::size_t below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(next() % bound); }

private:
    std::uint64_t state_;
};

}  // namespace beamheap::fuzz
