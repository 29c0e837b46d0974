// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler_info.hpp"

#include <cstddef>

namespace beamheap {

std::string_view source_of(std::string_view info) {
    constexpr std::string_view key("\x06source\x6B", 8);  // length of the atom, its name, STRING_EXT
    const std::size_t at = info.rfind(key);
    if (at == info.npos || at + key.size() + 2 > info.size()) return {};
    const auto byte = [&info](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(info[i])); };
    const std::size_t from = at + key.size() + 2, length = byte(from - 2) << 8 | byte(from - 1);
    return length <= info.size() - from ? info.substr(from, length) : std::string_view();
}

}  // namespace beamheap
