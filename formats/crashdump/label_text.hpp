// SPDX-License-Identifier: Apache-2.0
// Prints the term of a $process_label out of the text of a heap, without decoding the heap.
//
// Labels are small terms for people, {Module, Id} or a string. What is printed is cut after label_bytes; objects that
// the text does not hold, and kinds that no label has (maps, funs, references), print as `...`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace beamheap::crashdump {

inline constexpr std::size_t label_bytes = 200;

/// The term that a value stands for: an element of a heap line ("A2:ok", "I5", "H7F0012AB"). `text` is made of whole
/// lines of a heap or of =literals. Empty where the value is an object that the text does not hold.
std::string label_text(std::string_view text, std::string_view element);

/// An element of a heap line, and removes it from the text: empty where it is malformed.
std::string_view take_element(std::string_view& text);

/// The body of the line "ADDRESS:body" in text, from `from` (a line's start) on; empty where there is none.
std::string_view find_line(std::string_view text, std::size_t from, std::string_view address);

}  // namespace beamheap::crashdump
