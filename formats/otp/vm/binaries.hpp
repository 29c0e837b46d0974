// SPDX-License-Identifier: Apache-2.0
// Binaries on a heap or in a literal area, as bytes in place.
#pragma once

#include <optional>
#include <string_view>

#include "bytes/address_space.hpp"
#include "formats/otp/layout/layout.hpp"
#include "formats/otp/layout/tagged_word.hpp"

namespace beamheap::otp {

/// The bytes of a binary term of whole bytes, at most `limit` of them; nothing where the term is none, is longer,
/// does not start at a byte boundary, or the image does not hold it.
std::optional<std::string_view> small_binary(bytes::MemoryReader& memory, const Layout& layout, Word term,
                                             std::uint64_t limit);

}  // namespace beamheap::otp
