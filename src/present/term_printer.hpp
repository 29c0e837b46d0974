// Prints terms in Erlang and Elixir syntax, on one line, bounded in bytes and depth.
//
// What Erlang can read is printed so that erl_parse reads it back as the same term; what has no syntax (pids, funs,
// references) as the shell prints it. Where the bound is reached stands `...`, and what is open is closed:
// {a,[1,2|...],...}. What the input does not hold is said: <<12 bytes, not in the dump>>. Time and memory follow the
// output, not the term: 40 doubled cons cells, a million nested tuples and a terabyte of shared structure cost the same
// few hundred bytes. Nothing recurses. A term that contains itself, in damaged input, is cut where it comes back:
// [1,2|<cyclic term 7F00>].
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "beamheap/terms.hpp"
#include "present/literal_format.hpp"

namespace beamheap::present {

struct PrintOptions {
    Syntax syntax = Syntax::erlang;
    std::size_t max_bytes = 200;      ///< 0: as much as most_bytes
    std::size_t max_depth = 100'000;  ///< of nested terms
    /// For what is not known: of a printed text that was read back, it is what the text itself left out.
    std::string_view unknown = "<unknown>";
    static constexpr std::size_t most_bytes = std::size_t{64} << 20;
};

/// What became of a term on its way to text.
struct Printed {
    bool cut = false;        ///< something was left out because of the bounds
    bool cyclic = false;     ///< a term contains itself: the text says where it was cut
    bool missing = false;    ///< something is not in the input, and the text says so
    bool bits_lost = false;  ///< holds slices of which the input has whole bytes only: bitstrings among them are
                             ///< shortened, and shifted where they begin within a byte
};

/// Appends the term to `out`.
Printed print_term(TermSource& source, const Element& term, const PrintOptions& options, std::string& out);
std::string term_text(TermSource& source, const Element& term, const PrintOptions& options = {});

}  // namespace beamheap::present
