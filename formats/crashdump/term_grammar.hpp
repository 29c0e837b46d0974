// SPDX-License-Identifier: Apache-2.0
// The grammar of the lines that hold terms: heaps, stacks, dictionaries, messages, literals, persistent terms.
//
// Lines end with LF, but an LF is not always the end of a line: the writer prints an atom as A<length>:<bytes> with
// its bytes raw (erts/emulator/beam/erl_process_dump.c, dump_element, every release), so that an atom may hold LF,
// or LF and "=proc:". Atoms are the only place; all other data is hex, base64 or decimal. So a line's end is found by
// lengths, and a place that follows an LF is a line's start unless an atom that began shortly before covers it:
// an atom has at most 255 characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace beamheap::crashdump {

/// Sections whose lines follow the term grammar.
enum class TermSection : std::uint8_t { messages, dictionary, stack, heap, literals, persistent_terms, binary };

/// How a dump writes bytes: chosen once, from the version line and the first line's end.
struct TermStyle {
    bool base64 = true;  ///< data of binaries and external terms: base64 since dump version 0.5, hex before
    bool crlf = false;   ///< written through a C runtime that turned every LF into CR LF, within atoms too
};

/// What line_end() says when it can't name a position.
inline constexpr std::size_t line_incomplete = static_cast<std::size_t>(-1);  ///< the text ends within the line
inline constexpr std::size_t line_malformed = static_cast<std::size_t>(-2);   ///< no line of that section looks so

/// Longest atom in bytes (255 characters of UTF-8), and the longest stretch of text that one can cover.
inline constexpr std::size_t max_atom_bytes = 1020;
inline constexpr std::size_t atom_reach = 2 * max_atom_bytes + 8;

/// The position behind the LF of the line that starts at `pos`, by the grammar and its lengths;
/// else line_incomplete or line_malformed. Time and memory: linear in the line, constant.
std::size_t line_end(TermSection section, TermStyle style, std::string_view text, std::size_t pos);

enum class LineStart : std::uint8_t {
    yes,        ///< certainly the start of a line
    no,         ///< certainly within an atom
    need_more,  ///< more of the text before is needed to tell (never when `whole`)
};

/// Whether the place right behind `before`, which ends with LF, starts a line.
/// `before` is the end of a section's body: at least atom_reach bytes of it, or all of it (`whole`: then its first
/// byte is known to start a line). Nearly always answered by a look at the last 2 KB.
LineStart line_starts_after(TermSection section, TermStyle style, std::string_view before, bool whole);

}  // namespace beamheap::crashdump
