#include "analyses/base/term_reader.hpp"

#include <algorithm>

#include "analyses/base/erlang_syntax.hpp"

namespace beamheap::analyses {
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

bool TermReader::is_one_of(const Element& term, std::initializer_list<std::string_view> atoms) {
    return is_atom(term) && std::ranges::find(atoms, term.text) != atoms.end();
}

bool TermReader::is_kind(const Element& term, TermKind kind) const {
    return term.kind == ElementKind::object && source_.head(term.id).kind == kind;
}

bool TermReader::is_map(const Element& term) const {
    return is_kind(term, TermKind::flat_map) || is_kind(term, TermKind::hash_map);
}

bool TermReader::is_list(const Element& term) const {
    return term.kind == ElementKind::nil || is_kind(term, TermKind::cons);
}

std::vector<Element> TermReader::tuple(const Element& term, std::size_t arity) const {
    std::vector<Element> elements;
    if (term.kind != ElementKind::object) return elements;
    const ObjectHead head = source_.head(term.id);
    if (head.kind != TermKind::tuple || (arity != 0 && head.elements != arity)) return elements;
    ElementCursor cursor = source_.elements(term.id);
    Element element;
    while (elements.size() < std::max(arity, widest_tuple) && source_.next(cursor, element)) elements.push_back(element);
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
    Element cell = term;
    while (elements.size() < limit && is_kind(cell, TermKind::cons)) {
        ElementCursor cursor = source_.elements(cell.id);
        Element first, rest;
        if (!source_.next(cursor, first)) break;
        elements.push_back(first);
        if (!source_.next(cursor, rest)) break;
        cell = rest;
    }
    return elements;
}

bool TermReader::is_proper(const Element& term) const {
    Element cell = term;
    for (int cells = 0; cells < 1000 && is_kind(cell, TermKind::cons); ++cells) {
        ElementCursor cursor = source_.elements(cell.id);
        Element rest;
        if (!source_.next(cursor, rest) || !source_.next(cursor, rest)) return false;
        cell = rest;
    }
    return cell.kind == ElementKind::nil || is_kind(cell, TermKind::cons);
}

Element TermReader::map_value(const Element& map, std::string_view key) const {
    const bool flat = is_kind(map, TermKind::flat_map);
    std::vector<ElementCursor> levels{source_.elements(map.id)};
    if (flat) {
        Element keys, name, value;
        if (!source_.next(levels[0], keys) || !is_kind(keys, TermKind::tuple)) return {};
        ElementCursor names = source_.elements(keys.id);
        while (source_.next(names, name) && source_.next(levels[0], value))
            if (is(name, key)) return value;
        return {};
    }
    // Leaves of a large map are cells [Key|Value]; inner nodes, and tuples of leaves with one hash (27 and later), are
    // gone into.
    for (std::size_t seen = 0; !levels.empty() && seen < 4 * most_pairs;) {
        Element child;
        if (!source_.next(levels.back(), child)) {
            levels.pop_back();
            continue;
        }
        ++seen;
        if (child.kind != ElementKind::object) continue;
        if (source_.head(child.id).kind != TermKind::cons) {
            if (levels.size() < widest_tuple) levels.push_back(source_.elements(child.id));
            continue;
        }
        ElementCursor cell = source_.elements(child.id);
        Element name, value;
        if (source_.next(cell, name) && is(name, key) && source_.next(cell, value)) return value;
    }
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

}  // namespace beamheap::analyses
