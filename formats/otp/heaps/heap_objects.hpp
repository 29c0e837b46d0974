// SPDX-License-Identifier: Apache-2.0
// What an object on a heap is, by its header word: kind, size, and which of its words are terms.
//
// Sizes and places follow the structures of erl_term.h, erl_map.h, erl_fun.h, erl_bits.h and erl_binary.h; Layout says
// which of a release's forms hold. In every kind the words that are terms stand in a row.
#pragma once

#include <cstdint>

#include "beamheap/heap_graph.hpp"
#include "bytes/elf_image.hpp"
#include "formats/otp/layout/layout.hpp"
#include "formats/otp/layout/tagged_word.hpp"

namespace beamheap::otp {

struct ObjectShape {
    TermKind kind = TermKind::unknown;
    std::uint64_t words = 0;       ///< 0: no object that this release could have made
    std::uint64_t first_term = 0;  ///< words from here ...
    std::uint64_t terms = 0;       ///< ... so many are terms
};

/// The boxed object whose words begin at `p`, of which `available` words are there. A whole object fits them.
ObjectShape shape_of(const Layout& layout, const std::byte* p, std::uint64_t available);

/// A slice or reference to a binary: where its bytes are.
struct BinaryPlace {
    std::uint64_t binary = 0;  ///< Binary outside the heap; 0 if the bytes are in a heap object
    std::uint64_t object = 0;  ///< that heap object
    std::uint64_t offset = 0;  ///< first byte
    std::uint64_t bytes = 0;   ///< whole and partial bytes that are seen
    unsigned bit_offset = 0;   ///< bits before the first one seen, in the first byte
    unsigned extra_bits = 0;   ///< bits seen of the last byte, if it is not seen whole
    std::uint64_t data = 0;    ///< address of the first byte
    bool known = false;
};

}  // namespace beamheap::otp
