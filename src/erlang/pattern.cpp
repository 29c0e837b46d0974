// SPDX-License-Identifier: Apache-2.0
// Matching walks the pattern, which is small, and looks at the term where the pattern says so. What fits is bound at
// once; an alternative that does not fit takes back what it has bound.
#include "erlang/pattern.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "erlang/term_reader.hpp"
#include "erlang/term_walks.hpp"

namespace beamheap::erlang {

namespace {

constexpr std::size_t most_of_text = 4096;
constexpr std::size_t most_compared = 2'000;
constexpr std::size_t most_elements = 200;  // of a list with [..., P, ...]

bool is_binary(TermKind kind) {
    return kind == TermKind::heap_binary || kind == TermKind::refc_binary || kind == TermKind::sub_binary;
}

// Whether two objects have the same head and bytes; their elements are for the caller to compare.
bool same_object(TermSource& terms, const ObjectHead& a, ObjectId a_id, const ObjectHead& b, ObjectId b_id) {
    if (is_binary(a.kind) && is_binary(b.kind)) {
        if (a.size != b.size || a.extra_bits != b.extra_bits) return false;
        std::string left, right;
        return terms.bytes(a_id, 0, most_of_text, left) != Bytes::absent &&
               terms.bytes(b_id, 0, most_of_text, right) != Bytes::absent && left == right;
    }
    return a.kind == b.kind && a.elements == b.elements && a.size == b.size && a.number == b.number &&
           a.digits == b.digits && a.module == b.module && a.function == b.function && a.arity == b.arity &&
           a.index == b.index && a.uniq == b.uniq && a.node == b.node && a.pid == b.pid && a.port == b.port &&
           a.words == b.words;
}

}  // namespace

bool same_term(TermSource& terms, const Element& first, const Element& second) {
    std::vector<std::pair<Element, Element>> left{{first, second}};
    for (std::size_t i = 0; i < left.size() && i < most_compared; ++i) {
        const auto [a, b] = left[i];
        if (a.kind != b.kind) return false;
        switch (a.kind) {
            case ElementKind::nil: break;
            case ElementKind::small:
                if (a.number != b.number) return false;
                break;
            case ElementKind::atom:
                if (a.text != b.text) return false;
                break;
            case ElementKind::pid:
                if (a.pid != b.pid) return false;
                break;
            case ElementKind::port:
                if (a.port != b.port) return false;
                break;
            case ElementKind::object: {
                if (a.id == b.id) break;
                if (!same_object(terms, terms.head(a.id), a.id, terms.head(b.id), b.id)) return false;
                ElementCursor in_a = terms.elements(a.id), in_b = terms.elements(b.id);
                for (Element x, y; left.size() < most_compared && terms.next(in_a, x);) {
                    if (!terms.next(in_b, y)) return false;
                    left.emplace_back(x, y);
                }
                break;
            }
            default: return false;
        }
    }
    return true;
}

bool says_something(TermSource& terms, const Element& term) {
    std::vector<Element> left{term};
    for (std::size_t i = 0; i < left.size() && i < 40; ++i) {
        if (left[i].kind == ElementKind::unknown || left[i].kind == ElementKind::nil) continue;
        if (left[i].kind != ElementKind::object) return true;
        const TermKind kind = terms.head(left[i].id).kind;
        if (kind != TermKind::tuple && kind != TermKind::cons) return true;
        ElementCursor cursor = terms.elements(left[i].id);
        for (Element element; left.size() < 60 && terms.next(cursor, element);) left.push_back(element);
    }
    return false;
}

class Matcher {
public:
    Matcher(const Pattern& pattern, TermSource& terms) : p_(pattern), terms_(terms), reader_(terms) {
        found_.pattern_ = &pattern;
        found_.bound_.resize(pattern.names_);
    }

    Match run(const Element& term) {
        found_.fits_ = fits(p_.root_, term);
        return std::move(found_);
    }

private:
    using Kind = Pattern::Kind;
    using Node = Pattern::Node;

    const Node& node(std::uint8_t i) const { return p_.nodes_[i]; }

    bool fits(std::uint8_t at, const Element& term) {
        if (++steps_ > Pattern::most_steps) return false;
        const Node& n = node(at);
        switch (n.kind) {
            case Kind::any: return true;
            case Kind::name: return bind(n.number, term);
            case Kind::atom: return TermReader::is(term, p_.piece(n));
            case Kind::integer: return term.kind == ElementKind::small && term.number == number(n);
            case Kind::tuple:
            case Kind::open_tuple: return tuple(n, term);
            case Kind::list:
            case Kind::cells: return list(n, term);
            case Kind::somewhere: return somewhere(n, term);
            case Kind::map: return map(n, term);
            case Kind::both:
                for (std::uint8_t child = n.first; child != 0; child = node(child).next)
                    if (!fits(child, term)) return false;
                return true;
            case Kind::either:
                for (std::uint8_t child = n.first; child != 0; child = node(child).next)
                    if (tried(child, term)) return true;
                return false;
            case Kind::typed: return is(static_cast<Type>(n.number), term) && fits(n.first, term);
            case Kind::text: return text(n, term);
        }
        return false;
    }

    /// fits(), which leaves nothing bound where it does not.
    bool tried(std::uint8_t at, const Element& term) {
        std::uint32_t before = 0;
        for (std::size_t i = 0; i < found_.bound_.size(); ++i)
            before |= static_cast<std::uint32_t>(found_.bound_[i].set) << i;
        if (fits(at, term)) return true;
        for (std::size_t i = 0; i < found_.bound_.size(); ++i) found_.bound_[i].set = (before >> i & 1) != 0;
        return false;
    }

    std::int64_t number(const Node& n) const {
        const std::string_view digits = p_.piece(n);
        std::int64_t value = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return value;
    }

    bool bind(std::size_t name, const Element& term) {
        Match::Bound& bound = found_.bound_[name];
        if (bound.set) return !bound.is_piece && same_term(terms_, bound.term, term);
        bound = {true, false, term, {}};
        return true;
    }

    bool bind_piece(std::size_t name, std::string_view piece) {
        Match::Bound& bound = found_.bound_[name];
        if (bound.set) return bound.is_piece && bound.text == piece;
        bound = {true, true, {}, std::string(piece)};
        return true;
    }

    bool tuple(const Node& n, const Element& term) {
        if (!reader_.is_kind(term, TermKind::tuple)) return false;
        ElementCursor cursor = terms_.elements(term.id);
        std::size_t wanted = 0;
        for (std::uint8_t child = n.first; child != 0; child = node(child).next) ++wanted;
        if (n.kind == Kind::tuple ? cursor.left != wanted : cursor.left < wanted) return false;
        for (std::uint8_t child = n.first; child != 0; child = node(child).next) {
            Element element;
            if (!terms_.next(cursor, element)) element = {};  // the input ends before it
            if (!fits(child, element)) return false;
        }
        return true;
    }

    bool list(const Node& n, const Element& term) {
        Element rest = term;
        for (std::uint8_t child = n.first; child != 0; child = node(child).next) {
            if (n.kind == Kind::cells && node(child).next == 0) return fits(child, rest);
            if (!reader_.is_kind(rest, TermKind::cons)) return false;
            ElementCursor cursor = terms_.elements(rest.id);
            Element first;
            if (!terms_.next(cursor, first) || !terms_.next(cursor, rest)) return false;
            if (!fits(child, first)) return false;
        }
        return rest.kind == ElementKind::nil;
    }

    bool somewhere(const Node& n, const Element& term) {
        ListWalk cells(terms_, term);
        std::size_t seen = 0;
        for (Element element; seen < most_elements && cells.next(element); ++seen)
            if (tried(n.first, element)) return true;
        return false;
    }

    bool map(const Node& n, const Element& term) {
        if (!reader_.is_map(term)) return false;
        for (std::uint8_t key = n.first; key != 0; key = node(node(key).next).next) {
            const auto value = map_value(term, p_.piece(node(key)));
            if (!value || !fits(node(key).next, *value)) return false;
        }
        return true;
    }

    std::optional<Element> map_value(const Element& map, std::string_view key) {
        MapWalk pairs(terms_, map.id, terms_.head(map.id));
        for (Pair pair; pairs.next(pair);) {
            if (TermReader::is(pair.key, key)) return pair.value;
            if (++steps_ > Pattern::most_steps) break;
        }
        return std::nullopt;
    }

    /// Pieces from the left to the right: a name takes what stands before the next text, the last one all that is left.
    bool text(const Node& n, const Element& term) {
        if (term.kind == ElementKind::nil) return false;
        const auto whole = reader_.text(term, most_of_text);
        if (!whole) return false;
        std::string_view left = *whole;
        const Node* open = nullptr;  // a name or _ whose end is not found yet
        for (std::uint8_t at = n.first; at != 0; at = node(at).next) {
            const Node& piece = node(at);
            if (piece.kind != Kind::atom) {
                open = &piece;
                continue;
            }
            const std::string_view literal = p_.piece(piece);
            // Behind the last text nothing is left over, so that it is looked for at the end.
            const bool last = piece.next == 0;
            std::size_t found =
                last ? (left.ends_with(literal) ? left.size() - literal.size() : left.npos)
                     : (open == nullptr ? (left.starts_with(literal) ? 0 : left.npos) : left.find(literal));
            if (found == left.npos || (open == nullptr && found != 0)) return false;
            if (open != nullptr && open->kind == Kind::name && !bind_piece(open->number, left.substr(0, found)))
                return false;
            open = nullptr;
            left.remove_prefix(found + literal.size());
        }
        if (open == nullptr) return left.empty();
        return open->kind != Kind::name || bind_piece(open->number, left);
    }

    bool is(Type type, const Element& term) {
        switch (type) {
            case Type::any: return true;
            case Type::atom: return TermReader::is_atom(term);
            case Type::pid: return term.kind == ElementKind::pid;
            case Type::port: return term.kind == ElementKind::port;
            case Type::integer: return term.kind == ElementKind::small;
            case Type::list: return reader_.is_list(term);
            case Type::tuple: return reader_.is_kind(term, TermKind::tuple);
            case Type::map: return reader_.is_map(term);
            case Type::text: return term.kind == ElementKind::object && reader_.text(term, most_of_text).has_value();
            case Type::known: return says_something(terms_, term);
        }
        return false;
    }

    const Pattern& p_;
    TermSource& terms_;
    TermReader reader_;
    Match found_;
    std::size_t steps_ = 0;
};

Match Pattern::match(TermSource& terms, const Element& term) const { return Matcher(*this, terms).run(term); }

const Match::Bound* Match::find(std::string_view name) const {
    const std::size_t i = fits_ ? pattern_->number_of(name) : bound_.size();
    return i < bound_.size() && bound_[i].set ? &bound_[i] : nullptr;
}

Element Match::operator[](std::string_view name) const {
    const Bound* bound = find(name);
    return bound == nullptr ? Element{} : bound->term;
}

bool Match::has(std::string_view name) const { return find(name) != nullptr; }

const std::string* Match::piece(std::string_view name) const {
    const Bound* bound = find(name);
    return bound == nullptr || !bound->is_piece ? nullptr : &bound->text;
}

}  // namespace beamheap::erlang
