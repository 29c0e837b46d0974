// SPDX-License-Identifier: Apache-2.0
// The parts of terms that have no elements, as Erlang and Elixir write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "erlang/erlang_syntax.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// As a key of an Elixir map or keyword list: `name: `.
void append_elixir_key(std::string& out, std::string_view name);

/// The shortest digits that read back as the same number, laid out as Erlang's io_lib does: 1.0e308, 0.1, -0.0.
void append_float(std::string& out, double value);

/// Whether a code point stands in a string that io:format("~p") prints as a string (Latin-1 printable, and the
/// characters that have escapes).
bool is_printable_latin1(std::uint64_t code);

/// Text for the inside of a string between double quotes, from valid UTF-8: quotes, backslashes and control characters
/// escaped (`\x{...}`; in Elixir also `#{`).
void append_escaped(std::string& out, std::string_view utf8, char quote, Syntax syntax);

/// The longest start of `bytes` that is valid UTF-8 of printable characters, in bytes; `ends_within` is set where what
/// follows is the beginning of a character that is cut.
std::size_t printable_utf8(std::string_view bytes, bool& ends_within);

}  // namespace beamheap::present
