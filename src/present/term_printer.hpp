// SPDX-License-Identifier: Apache-2.0
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
#include <exception>
#include <string>

#include "analyses/heaps/record_scope.hpp"
#include "beamheap/terms.hpp"
#include "present/literal_format.hpp"
#include "present/secrets/secret_terms.hpp"

namespace beamheap::present {

/// Thrown where an answer is longer than its bound; what() is the sentence.
struct AnswerTooLong : std::exception {
    const char* what() const noexcept override {
        return "the terms of this answer take more text than one answer may have: they are written out each time that "
               "something refers to them. Ask for less of each with --term-bytes, or for parts with term and heap";
    }
};

/// What the long terms of one answer may take together. A term that is shared a million times is written a million
/// times, so that a bound for each does not bound an answer: what it may take follows the heaps that it shows.
class AnswerBudget {
public:
    /// More of it for a heap that the answer shows.
    void allow(const HeapGraph& graph);
    /// Counts a printed term. Throws AnswerTooLong.
    void spend(std::size_t bytes) {
        if (bytes <= uncounted) return;
        if (bytes > left_) throw AnswerTooLong();
        left_ -= bytes;
    }
    std::uint64_t left() const { return left_; }

private:
    static constexpr std::size_t uncounted = 4096;  // bytes of a term that no answer is too long for
    std::uint64_t left_ = std::uint64_t{16} << 20;
};

struct PrintOptions {
    Syntax syntax = Syntax::erlang;
    std::size_t max_bytes = 200;      ///< 0: as much as most_bytes
    std::size_t max_depth = 100'000;  ///< of nested terms
    /// For what is not known: of a printed text that was read back, it is what the text itself left out.
    std::string_view unknown = "<unknown>";
    AnswerBudget* budget = nullptr;  ///< of the answer that it is a part of, where that has one
    /// Texts that are cut are matched before that: a secret of which only the beginning is shown is masked.
    bool hide_secrets = false;
    /// What is hidden by its place is printed as '***'; nullptr: nothing is.
    SecretTerms* secrets = nullptr;
    /// Whose records the tuples are: a field whose name says so is hidden, with hide_secrets. nullptr: none is one.
    const analyses::RecordScope* records = nullptr;
    bool as_records = false;  ///< those are printed as records: #state{socket = #Port<0.6>,...}
    /// A list of numbers that ~p prints as a string of which nothing is seen ("\t\v") is printed as numbers, unless it
    /// is a separator of text: tabs and ends of lines alone.
    bool visible_strings = false;
    std::string_view module = {};  ///< whose records are in the term, with `records`; must outlive the call
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
