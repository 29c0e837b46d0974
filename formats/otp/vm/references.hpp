// SPDX-License-Identifier: Apache-2.0
// The numbers of a reference term, out of the structures that hold them.
#pragma once

#include <array>
#include <cstdint>

#include "bytes/address_space.hpp"
#include "formats/otp/layout/layout.hpp"
#include "formats/otp/layout/tagged_word.hpp"

namespace beamheap::otp {

struct ReferenceNumbers {
    unsigned count = 0;                    ///< 0: the image does not hold them
    std::array<std::uint32_t, 5> words{};  ///< least significant first
    std::uint64_t node = 0;                ///< of another node's reference: its ErlNode
};

/// Those of the reference that begins with `header` at `address`: one of this node (Tag::reference) or of another one
/// (Tag::external_reference). Facts: ErtsORefThing, ErtsMRefThing, ExternalThing (erl_term.h,
/// erl_node_container_utils.h).
ReferenceNumbers reference_numbers(bytes::MemoryReader& memory, const Layout& layout, std::uint64_t address,
                                   Word header);

}  // namespace beamheap::otp
