// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/vm/references.hpp"

#include <algorithm>

namespace beamheap::otp {

using bytes::load;

ReferenceNumbers reference_numbers(bytes::MemoryReader& memory, const Layout& layout, std::uint64_t address,
                                   Word header) {
    ReferenceNumbers found;
    const std::uint64_t words = header_arity(header) + 1;
    const std::byte* p = memory.at(address, words * 8);
    if (p == nullptr || words < 3) return found;
    if (layout.tags[header_subtag(header)] == Tag::external_reference) {
        // ErlNode*, next, then the count of numbers and the numbers.
        if (words < 5) return found;
        found.node = load<Word>(p + 8);
        found.count =
            std::min<std::uint32_t>({load<std::uint32_t>(p + 24), 5u, static_cast<std::uint32_t>((words - 3) * 2 - 1)});
        for (unsigned i = 0; i < found.count; ++i) found.words[i] = load<std::uint32_t>(p + 28 + 4 * i);
        return found;
    }
    if (load<std::uint32_t>(p + 8) != 0xffffffffu) {  // a magic one: its numbers are in the binary that it stands for
        found.count = 3;
        const std::byte* numbers = memory.at(load<Word>(p + 8) + layout.at.magic_reference, 12);
        for (unsigned i = 0; numbers != nullptr && i < 3; ++i) found.words[i] = load<std::uint32_t>(numbers + 4 * i);
        return found;
    }
    found.count = words >= 4 ? 5 : 3;
    for (unsigned i = 0; i < found.count; ++i) found.words[i] = load<std::uint32_t>(p + 12 + 4 * i);
    return found;
}

}  // namespace beamheap::otp
