// SPDX-License-Identifier: Apache-2.0
// Secrets in what databases are asked and what they answer: parameters by the query that they are of, values of rows by
// the names of their columns. Postgrex, MyXQL: #{columns => [<<"id">>, <<"password">>], rows => [[1, <<"x">>]]};
// epgsql: {ok, [{column, Name, ...}],
// [{1, <<"x">>}]}; odbc: {selected, ["ID", "PASSWORD"], [{1, "x"}]}.
#include <algorithm>

#include "erlang/term_walks.hpp"
#include "present/secrets/secret_neighbours.hpp"
#include "present/secrets/secret_terms.hpp"

namespace beamheap::present {
namespace {

constexpr std::size_t most_siblings = 64;

bool in_binary(TermKind kind) {
    return kind == TermKind::heap_binary || kind == TermKind::refc_binary || kind == TermKind::sub_binary;
}

// How the text of a query begins: SELECT, INSERT, UPDATE, DELETE, WITH, REPLACE, in either case.
bool begins_query(std::string_view text) {
    for (const std::string_view verb : {"select ", "insert ", "update ", "delete ", "with ", "replace "}) {
        const auto same = [](char a, char b) { return (a | 0x20) == b || a == b; };
        if (text.size() >= verb.size() && std::ranges::equal(text.substr(0, verb.size()), verb, same)) return true;
    }
    return false;
}

}  // namespace

// The text of a query; empty where it is none.
std::string SecretTerms::query_text(const Element& element) {
    constexpr std::size_t head = 8, longest = 4096;
    std::string text;
    const TermKind kind = kind_of(element);
    if (in_binary(kind)) {
        const std::uint64_t size = source_.head(element.id).size;
        if (size < head) return text;
        source_.bytes(element.id, 0, head, text);
        if (!begins_query(text)) return {};
        text.clear();
        source_.bytes(element.id, 0, std::min<std::uint64_t>(size, longest), text);
        return text;
    }
    if (kind != TermKind::cons) return text;
    ElementCursor cursor = source_.elements(element.id);
    Element first;
    constexpr std::string_view initials = "SIUDWRsiudwr";
    if (!source_.next(cursor, first) || first.kind != ElementKind::small || first.number <= 0 || first.number > 'z' ||
        initials.find(static_cast<char>(first.number)) == initials.npos)
        return text;
    text = short_text(element, longest);
    return begins_query(text) ? text : std::string{};
}

// Which of a list's elements are names of columns that are secret: texts, atoms, or records that begin with a word and
// a name.
std::vector<std::uint64_t> SecretTerms::secret_columns_of(const Element& names) {
    std::vector<std::uint64_t> places;
    ListWalk walk(source_, names);
    Element name;
    for (std::uint64_t i = 0; i < most_siblings && walk.next(name); ++i) {
        if (name.kind == ElementKind::small) return {};
        if (kind_of(name) == TermKind::tuple) {
            ElementCursor cursor = source_.elements(name.id);
            Element second;
            if (cursor.left < 3 || !source_.next(cursor, second) || !source_.next(cursor, second)) return {};
            name = second;
        }
        if (key_of(name).secrecy == Secrecy::always) places.push_back(i);
    }
    return places;
}

void SecretTerms::mark_places(const Element& row, const std::vector<std::uint64_t>& places) {
    Element value;
    auto place = places.begin();
    if (kind_of(row) == TermKind::tuple) {
        ElementCursor cursor = source_.elements(row.id);
        for (std::uint64_t i = 0; place != places.end() && source_.next(cursor, value); ++i)
            if (*place == i) mark(value), ++place;
    } else if (kind_of(row) == TermKind::cons) {
        ListWalk walk(source_, row);
        for (std::uint64_t i = 0; place != places.end() && walk.next(value); ++i)
            if (*place == i) mark(value), ++place;
    }
}

void SecretTerms::mark_columns(const Element& rows, const std::vector<std::uint64_t>& places) {
    ListWalk walk(source_, rows);
    for (Element row; walk.next(row);) mark_places(row, places);
}

// {old,X}, {value,X} and ["x"] behind a key.
bool SecretTerms::is_wrapped(const Element& element) {
    const TermKind kind = kind_of(element);
    if (kind != TermKind::tuple && kind != TermKind::cons) return false;
    ElementCursor cursor = source_.elements(element.id);
    Element first;
    const bool pair = cursor.left == 2;
    if (!source_.next(cursor, first)) return false;
    if (kind == TermKind::cons) return first.kind == ElementKind::object && is_text(first);
    constexpr std::string_view words = " old new value from to some just ";
    return pair && first.kind == ElementKind::atom && !first.text.empty() &&
           words.find(" " + std::string(first.text) + " ") != words.npos;
}

// What elements of a tuple, or values of a map, tell of each other.
void SecretTerms::look_at_siblings(const std::vector<Element>& elements) {
    if (elements.size() < 2 || elements.size() > most_siblings) return;
    std::size_t lists = 0;
    for (const Element& element : elements) lists += kind_of(element) == TermKind::cons ? 1 : 0;
    if (lists == 0) return;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const TermKind kind = kind_of(elements[i]);
        if (kind == TermKind::cons && i + 1 < elements.size() && kind_of(elements[i + 1]) == TermKind::cons) {
            ElementCursor cursor = source_.elements(elements[i + 1].id);
            Element row;
            if (source_.next(cursor, row) && (kind_of(row) == TermKind::tuple || kind_of(row) == TermKind::cons))
                if (const std::vector<std::uint64_t> places = secret_columns_of(elements[i]); !places.empty())
                    mark_columns(elements[i + 1], places);
        }
        if (kind != TermKind::cons && !in_binary(kind)) continue;
        const std::string query = query_text(elements[i]);
        if (query.empty()) continue;
        const std::vector<std::uint64_t> places = secret_parameters(query);
        for (std::size_t j = 0; !places.empty() && j < elements.size(); ++j)
            if (j != i && kind_of(elements[j]) == TermKind::cons && !is_text(elements[j]))
                mark_places(elements[j], places);
    }
}

}  // namespace beamheap::present
