// SPDX-License-Identifier: Apache-2.0
// Looks into terms as a pattern in Erlang would: is it {'EXIT', Pid, Reason}? what stands under `pid` in this report?
//
// Every question is bounded, answers "no" for what is not in the input, and never recurses. Keys of property lists and
// maps are atoms.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/terms.hpp"

namespace beamheap {

class TermReader {
public:
    explicit TermReader(TermSource& source) : source_(source) {}
    TermSource& source() const { return source_; }

    static bool is_atom(const Element& term) { return term.kind == ElementKind::atom; }
    static bool is(const Element& term, std::string_view atom) { return is_atom(term) && term.text == atom; }
    static bool is_one_of(const Element& term, std::span<const std::string_view> atoms);
    static bool is_one_of(const Element& term, std::initializer_list<std::string_view> atoms) {
        return is_one_of(term, std::span(atoms.begin(), atoms.size()));
    }
    bool is_kind(const Element& term, TermKind kind) const;
    bool is_map(const Element& term) const;
    bool is_list(const Element& term) const;  ///< [] or a cell

    /// What a tuple begins with, and how many elements it has.
    struct Begin {
        Element first;
        std::uint64_t arity = 0;
    };
    /// The same without reading all of it; nothing of other terms and of {}.
    std::optional<Begin> begin_of(const Element& term) const;
    /// Elements of a tuple of exactly `arity`, else empty. With arity 0: of any tuple, at most 16.
    std::vector<Element> tuple(const Element& term, std::size_t arity = 0) const;
    /// Elements of a tuple {Tag, ...} of this arity, else empty.
    std::vector<Element> tagged(const Element& term, std::string_view tag, std::size_t arity) const;
    /// Elements of a list, at most `limit`; a tail that is no list is left out.
    std::vector<Element> list(const Element& term, std::size_t limit = 1000) const;
    /// Whether a list ends in [], as far as 1,000 cells; one that was cut ends in what is not known.
    bool is_proper(const Element& term) const;
    /// What a map has under an atom, or a property list in {Key, Value}; kind `unknown` where there is nothing.
    Element get(const Element& term, std::string_view key) const;
    /// The same along several keys.
    Element get(const Element& term, std::initializer_list<std::string_view> keys) const;
    /// Keys of a map that are atoms, at most `limit`.
    bool has_key(const Element& term, std::string_view key) const;
    /// The text of a string, binary or iolist, as UTF-8 where it was, at most `limit` bytes; nothing where the term is
    /// no text. Atoms are none.
    std::optional<std::string> text(const Element& term, std::size_t limit = 4096) const;
    std::optional<std::int64_t> number(const Element& term) const;

private:
    Element map_value(const Element& map, std::string_view key) const;
    TermSource& source_;
};

}  // namespace beamheap
