// SPDX-License-Identifier: Apache-2.0
// The only place that makes bytes of the input safe to show.
//
// A dump holds whatever the node's users could put into it: escape sequences in a slogan, right-to-left overrides in
// an atom, half a UTF-8 character at a cut. What leaves beamheap is always valid UTF-8 without control characters,
// and without characters that reorder or hide text (bidirectional controls, zero-width characters, tags):
//   * in text they become \n, \t, \r, \x1b (a byte) or \x{202e} (a character),
//   * in JSON they become JSON's own escapes, and a byte that is no UTF-8 becomes the four characters \xff.
// Each function is linear in its input and copies clean runs in one piece.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace beamheap::present {

/// Appends `raw` to `out`, fit for a terminal or a text file, on one line.
void append_text(std::string_view raw, std::string& out);
std::string safe_text(std::string_view raw);

/// Appends the inside of a JSON string (no quotes around it).
void append_json(std::string_view raw, std::string& out);

/// Appends a CSV cell: as append_text, then a ' before a first = + - or @ (which a spreadsheet would run as a formula),
/// then quotes where RFC 4180 wants them. Numbers don't come through here.
void append_csv(std::string_view raw, std::string& out);
/// The same for TSV, which has no quotes: tabs and newlines are escaped already.
void append_tsv(std::string_view raw, std::string& out);

/// Appends text for Markdown (also inside a table): | ` < > & @ [ ] * \ and newline lose their meaning.
void append_markdown(std::string_view raw, std::string& out);

/// Columns that a sanitised text takes on a terminal: 0 for combining marks, 2 for wide East Asian characters.
std::size_t display_width(std::string_view safe);
/// The longest start of a sanitised text that fits into `width` columns, with an ellipsis if it was cut.
std::string clipped(std::string_view safe, std::size_t width);
/// What stands for a blank that no line may be broken at; no sanitised text has one of its own.
inline constexpr char glued_blank = '\x1f';
/// A sanitised text in lines of at most `width` columns, broken at blanks; lines after the first begin with `hang`
/// blanks (at most half the width), or with fewer where the word there has room then. A word that is wider than a line
/// stays whole, so that it can be copied. Glued blanks are blanks in what it gives.
std::string wrapped(std::string_view safe, std::size_t width, std::size_t hang);

/// Bytes of the valid UTF-8 character that `text` begins with (1 to 4) and its code point; 0 where it is none:
/// overlong forms, surrogates and values over 0x10FFFF are not valid.
std::size_t decode_utf8(std::string_view text, char32_t& code_point);

}  // namespace beamheap::present
