// SPDX-License-Identifier: Apache-2.0
// libFuzzer on one target, BEAMHEAP_FUZZ_TARGET. tests/fuzz/run builds and runs it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/targets.hpp"

namespace {
const beamheap::fuzz::Target& target = *beamheap::fuzz::find_target(BEAMHEAP_FUZZ_TARGET);
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    target.run({reinterpret_cast<const char*>(data), size});
    return 0;
}

// Every other time by what the format is made of, else by bytes and the words of the dictionary.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    if (target.mutate == nullptr || seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
    const std::string made = target.mutate({reinterpret_cast<const char*>(data), size}, seed, most);
    std::copy_n(made.begin(), made.size(), data);
    return made.size();
}
