// SPDX-License-Identifier: Apache-2.0
#include "beamheap/code_version.hpp"

#include <cstring>

namespace beamheap {
namespace {

// Both halves of the product of two words of 64 bits: each bit of either changes about half of the others.
std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t hashed(std::uint64_t seed, std::string_view text) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15ull;
    std::uint64_t hash = folded(seed ^ text.size(), odd);
    for (; !text.empty(); text.remove_prefix(text.size() < 8 ? text.size() : 8)) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data(), text.size() < 8 ? text.size() : 8);
        // The sum keeps a word that makes a factor zero from wiping out what came before it.
        hash = folded(hash ^ word, odd) + (hash << 1 | hash >> 63);
    }
    return hash;
}

std::uint64_t hashed(std::uint64_t seed, std::string_view first, std::string_view second) {
    return hashed(hashed(seed, first), second);
}

}  // namespace

CodeVersion code_version(std::string_view attributes, std::string_view compilation) {
    if (attributes.empty() && compilation.empty()) return {};
    CodeVersion version{hashed(0xA24BAED4963EE407ull, attributes, compilation),
                        hashed(0x8CB92BA72F3D8DD7ull, attributes, compilation)};
    if (!version.known()) version.low = 1;
    return version;
}

}  // namespace beamheap
