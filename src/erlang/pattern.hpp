// SPDX-License-Identifier: Apache-2.0
// Patterns in Erlang's own syntax: what a term has to look like, and what of it is meant.
//
// What OTP and libraries put into reasons, reports and states is a small set of shapes. A shape is written here as one
// would write it in a clause of Erlang, and checked by the compiler: a mistake in a pattern does not build.
//
//     constexpr Pattern noproc("{noproc, {_, call, [Name :: atom() | _]}}");
//     if (const Match found = noproc.match(terms, reason)) ... found["Name"] ...
//
// A pattern is one of these:
//
//     noproc  'Elixir.File.Error'  -7  []      itself
//     _  _Anything                             any term, also one that the input does not hold
//     Name                                     any term, which it names; a second time: an equal one
//     {a, B}  {a, B, ...}                      a tuple of two; of two or more
//     [A, B]  [A | Rest]                       a list of two; of one or more
//     [..., {port, P}, ...]                    a list that has such an element, the first of which is meant
//     #{key := V}                              a map that has this and perhaps others; keys are atoms
//     Name = P                                 a term that fits P, named
//     P :: atom()                              a term that fits P and is of this type (`types` below)
//     P | Q                                    a term that fits P, or else Q; within a list in parentheses: [(a | b)]
//     "text"                                   this text, as a string, a binary or an iolist, in UTF-8
//     "Cannot open " ++ File                   a text that begins so; File names the text behind it
//     _ ++ ": " ++ Rest                        a text that has this, of which the first one is meant
//
// Where it differs from Erlang: a text is a text however it is held; what has fitted (the first alternative, the first
// element, the shortest piece of a text) is not taken back when what stands to the right of it does not fit; 1 and 1.0,
// which Erlang tells apart too, are no integers alike.
//
// Damage and cost: what the input does not hold fits `_` and a name and nothing else. Terms are read in place through
// TermSource, and no more of them than the pattern looks at. A match goes as deep as the pattern, never as the term; it
// looks at `most_steps` elements at most, then it says no.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/terms.hpp"

namespace beamheap::erlang {

/// What a pattern asks of a term besides its form.
enum class Type : std::uint8_t {
    any,
    atom,
    pid,
    port,
    integer,  ///< that fits 60 bits
    list,     ///< [] or a cell
    tuple,
    map,
    text,   ///< a string, binary or iolist that holds characters; [] is none
    known,  ///< that says something: not made of `_`, [] and tuples and lists of these alone
};

class Match;

class Pattern {
public:
    /// Of a literal of the program; one that is no pattern does not compile, and the error says what is wrong.
    consteval Pattern(const char* literal) : Pattern(Literal{literal}) {}
    /// The same while the program runs, for tests: throws the sentence (const char*) where it is none. The text has to
    /// live as long as the pattern.
    static constexpr Pattern of(std::string_view text) { return Pattern(Literal{text}); }

    /// Whether the term fits, and what its names stand for.
    Match match(TermSource& terms, const Element& term) const;
    /// Whether it has this name.
    constexpr bool has(std::string_view name) const { return number_of(name) < names_; }
    constexpr std::string_view text() const { return text_; }
    /// Whether all its names are names of the other.
    constexpr bool names_within(const Pattern& other) const {
        for (std::size_t i = 0; i < names_; ++i)
            if (!other.has(name(i))) return false;
        return true;
    }

    static constexpr std::size_t most_nodes = 64, most_names = 12, most_steps = 20'000;
    static constexpr int deepest = 24;  ///< levels of a pattern

private:
    friend class Matcher;
    friend class PatternParser;
    friend class Match;
    struct Literal {
        std::string_view text;
    };
    constexpr explicit Pattern(Literal literal);

    enum class Kind : std::uint8_t {
        any,
        name,     // `number`: which
        atom,     // its name is the piece of text
        integer,  // likewise its digits
        tuple,    // its elements are children
        open_tuple,
        list,       // elements are children
        cells,      // the same, and a tail behind them
        somewhere,  // the child is an element of it
        map,        // children are key, value, key, value
        both,       // children all fit it: Name = Pattern
        either,     // one of the children does
        typed,      // the child does, and it is of type `number`
        text,       // children are pieces: literals (atom), names, any
    };
    struct Node {
        Kind kind = Kind::any;
        std::uint8_t number = 0;
        std::uint8_t first = 0;  // child; 0: none
        std::uint8_t next = 0;   // sibling; 0: none
        std::uint16_t at = 0, length = 0;
    };
    constexpr std::string_view piece(const Node& node) const { return text_.substr(node.at, node.length); }
    constexpr std::string_view name(std::size_t i) const { return text_.substr(name_at_[i], name_length_[i]); }
    constexpr std::size_t number_of(std::string_view wanted) const {
        std::size_t i = 0;
        while (i < names_ && name(i) != wanted) ++i;
        return i;
    }

    std::string_view text_;
    std::array<Node, most_nodes> nodes_{};
    std::array<std::uint16_t, most_names> name_at_{}, name_length_{};
    std::uint8_t size_ = 0, names_ = 0, root_ = 0;
};

/// What the names of a pattern stand for in a term that fits it.
class Match {
public:
    explicit operator bool() const { return fits_; }
    /// The term of a name; kind `unknown` where it has none: it stands in another alternative, or is a piece of text.
    Element operator[](std::string_view name) const;
    /// Whether a name stands for something, be it unknown.
    bool has(std::string_view name) const;
    /// Whether a name stands for a piece of a text, and which.
    const std::string* piece(std::string_view name) const;

private:
    friend class Matcher;
    struct Bound {
        bool set = false, is_piece = false;
        Element term;
        std::string text;
    };
    const Bound* find(std::string_view name) const;
    const Pattern* pattern_ = nullptr;
    std::vector<Bound> bound_;
    bool fits_ = false;
};

/// Whether a term says something: what a depth has left of a term (`_`, {_}, {{_},[_]}) does not.
bool says_something(TermSource& terms, const Element& term);

/// Whether two terms are equal, as =:= has it; what the input does not hold is equal to nothing. At most 2,000 elements
/// are compared; terms that are equal so far are equal.
bool same_term(TermSource& terms, const Element& a, const Element& b);

}  // namespace beamheap::erlang

#include "erlang/pattern_parser.hpp"
