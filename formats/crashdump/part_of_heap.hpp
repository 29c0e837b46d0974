// SPDX-License-Identifier: Apache-2.0
// Of the heap of a giant, what a few of its roots need.
//
// A process with a million messages is asked for its first ones, its stack and its dictionary; its heap is hundreds of
// megabytes of text. The VM prints an object when it first comes to it, and it comes to the messages first, oldest
// first, then to the dictionary, then to the stack (dump_process_info() in erl_process_dump.c): so what the first
// messages refer to is at the front of the text, and what the dictionary and the stack alone refer to is at its back,
// behind the line of the last message. These two pieces are read, as a heap without what is between them. Nothing rests
// on that order: whether all that the roots refer to is there is looked at, and if it is not, more is read, and in the
// end all.
#pragma once

#include <cstdint>
#include <span>

#include "beamheap/terms.hpp"
#include "formats/crashdump/heap_reader.hpp"
#include "formats/crashdump/literals.hpp"
#include "formats/crashdump/term_sections.hpp"

namespace beamheap::crashdump {

/// Has `reader` read, in `values` mode, so much of a process's sections that all is there what the wanted roots refer
/// to, and finishes it. False, and the reader's graph is of no use: the heap has less than `least` bytes, what is read
/// is damaged, or a quarter of the heap is not enough.
bool read_part_of_heap(std::span<const SectionText> sections, const HeapFacts& facts, const TermsWanted& wanted,
                       const Literals* literals, std::uint64_t least, HeapReader& reader);

}  // namespace beamheap::crashdump
