// SPDX-License-Identifier: Apache-2.0
// How large a term is on a heap, by its printed text alone.
#pragma once

#include <cstdint>
#include <string_view>

namespace beamheap::erlang {

/// The words that a term takes on a heap, as ~p and dumps print it: a tuple one and one an element, a list two an
/// element (a string: a character), a map three and two a pair, a binary three and its bytes, a reference four, a fun
/// and a large integer or float three. Atoms, small integers, pids and ports of the node take none. Of a text that was
/// cut, those of what is there. An estimate; never fails, and takes O(text).
std::uint64_t printed_words(std::string_view text, std::uint32_t word_size);

}  // namespace beamheap::erlang
