// SPDX-License-Identifier: Apache-2.0
#include "erlang/term_reader.hpp"

#include <algorithm>

#include "erlang/erlang_syntax.hpp"
#include "erlang/term_walks.hpp"
#include "model/characters.hpp"

namespace beamheap {
namespace {

constexpr std::size_t widest_tuple = 16;
constexpr std::size_t most_pairs = 200;

bool is_binary(TermKind kind) {
    return kind == TermKind::heap_binary || kind == TermKind::refc_binary || kind == TermKind::sub_binary;
}

bool printable(std::int64_t code) {
    return (code >= 32 && code < 127) || (code >= 160 && code < 0x110000) || code == '\n' || code == '\t' ||
           code == '\r' || code == 27;
}

}  // namespace

bool TermReader::is_one_of(const Element& term, std::span<const std::string_view> atoms) {
    return is_atom(term) && std::ranges::find(atoms, term.text) != atoms.end();
}

bool TermReader::is_kind(const Element& term, TermKind kind) const {
    if (term.kind != ElementKind::object) return false;
    // Of what the graph knows to be a tuple, a cell or a map nothing has to be read for that.
    if (const HeapGraph& graph = source_.graph();
        term.id.space == ObjectId::Space::heap && term.id.number < graph.size()) {
        const TermKind known = graph.kind(term.id.number);
        if (known == TermKind::tuple || known == TermKind::cons || known == TermKind::flat_map) return known == kind;
    }
    return source_.head(term.id).kind == kind;
}

bool TermReader::is_map(const Element& term) const {
    return is_kind(term, TermKind::flat_map) || is_kind(term, TermKind::hash_map);
}

bool TermReader::is_list(const Element& term) const {
    return term.kind == ElementKind::nil || is_kind(term, TermKind::cons);
}

std::optional<TermReader::Begin> TermReader::begin_of(const Element& term) const {
    if (!is_kind(term, TermKind::tuple)) return std::nullopt;
    ElementCursor cursor = source_.elements(term.id);
    Begin begin{{}, cursor.left};
    if (!source_.next(cursor, begin.first)) return std::nullopt;
    return begin;
}

std::vector<Element> TermReader::tuple(const Element& term, std::size_t arity) const {
    std::vector<Element> elements;
    if (!is_kind(term, TermKind::tuple)) return elements;
    ElementCursor cursor = source_.elements(term.id);
    if (arity != 0 && cursor.left != arity) return elements;
    elements.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(cursor.left, std::max(arity, widest_tuple))));
    Element element;
    while (elements.size() < std::max(arity, widest_tuple) && source_.next(cursor, element))
        elements.push_back(element);
    if (arity != 0) elements.resize(arity);
    return elements;
}

std::vector<Element> TermReader::tagged(const Element& term, std::string_view tag, std::size_t arity) const {
    std::vector<Element> elements = tuple(term, arity);
    if (!elements.empty() && !is(elements[0], tag)) elements.clear();
    return elements;
}

std::vector<Element> TermReader::list(const Element& term, std::size_t limit) const {
    std::vector<Element> elements;
    ListWalk cells(source_, term);
    for (Element element; elements.size() < limit && cells.next(element);) elements.push_back(element);
    return elements;
}

bool TermReader::is_proper(const Element& term) const {
    ListWalk cells(source_, term);
    Element element;
    for (int i = 0; i < 1000; ++i)
        if (!cells.next(element)) return cells.rest().kind == ElementKind::nil;
    return true;
}

Element TermReader::map_value(const Element& map, std::string_view key) const {
    MapWalk pairs(source_, map.id, source_.head(map.id));
    Pair pair;
    for (std::size_t seen = 0; seen < 4 * most_pairs && pairs.next(pair); ++seen)
        if (is(pair.key, key)) return pair.value;
    return {};
}

Element TermReader::get(const Element& term, std::string_view key) const {
    if (is_map(term)) return map_value(term, key);
    for (const Element& entry : list(term, most_pairs))
        if (const auto pair = tagged(entry, key, 2); !pair.empty()) return pair[1];
    return {};
}

Element TermReader::get(const Element& term, std::initializer_list<std::string_view> keys) const {
    Element found = term;
    for (const std::string_view key : keys) found = get(found, key);
    return found;
}

bool TermReader::has_key(const Element& term, std::string_view key) const {
    return get(term, key).kind != ElementKind::unknown;
}

std::optional<std::string> TermReader::text(const Element& term, std::size_t limit) const {
    std::string out;
    // What is still to be read, the next one last: an iolist nests.
    std::vector<Element> left{term};
    bool any = false;
    for (std::size_t steps = 0; !left.empty() && out.size() < limit; ++steps) {
        if (steps > 4 * limit) return std::nullopt;
        const Element each = left.back();
        left.pop_back();
        if (each.kind == ElementKind::nil) continue;
        if (each.kind == ElementKind::small) {
            if (!any || !printable(each.number)) return std::nullopt;
            append_utf8(out, static_cast<std::uint32_t>(each.number));
            continue;
        }
        if (each.kind != ElementKind::object) return std::nullopt;
        const TermKind kind = source_.head(each.id).kind;
        if (is_binary(kind)) {
            if (source_.bytes(each.id, 0, limit - out.size(), out) == Bytes::absent) return std::nullopt;
        } else if (kind == TermKind::cons) {
            ElementCursor cursor = source_.elements(each.id);
            Element first, rest;
            if (!source_.next(cursor, first) || !source_.next(cursor, rest)) return std::nullopt;
            left.push_back(rest);
            left.push_back(first);
        } else {
            return std::nullopt;
        }
        any = true;
    }
    if (!any && term.kind != ElementKind::nil) return std::nullopt;
    return out;
}

std::optional<std::int64_t> TermReader::number(const Element& term) const {
    if (term.kind != ElementKind::small) return std::nullopt;
    return term.number;
}

}  // namespace beamheap
