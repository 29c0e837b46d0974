// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/messages.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "erlang/erlang_syntax.hpp"

namespace beamheap::analyses {
namespace {

/// Up to `limit` elements of a tuple; empty for anything else.
std::vector<Element> tuple_elements(TermSource& source, const Element& term, std::size_t limit) {
    std::vector<Element> elements;
    if (term.kind != ElementKind::object || source.head(term.id).kind != TermKind::tuple) return elements;
    ElementCursor cursor = source.elements(term.id);
    Element element;
    while (elements.size() < limit && source.next(cursor, element)) elements.push_back(element);
    return elements;
}

bool is_atom(const Element& element, std::string_view name) {
    return element.kind == ElementKind::atom && element.text == name;
}

Sender sender(TermSource& source, const Element& element) {
    if (element.kind == ElementKind::pid) return {element.pid, {}};
    if (element.kind == ElementKind::port) return {{}, element.port};
    if (element.kind != ElementKind::object) return {};
    const ObjectHead head = source.head(element.id);
    if (head.kind == TermKind::external_pid && head.pid.node != 0) return {head.pid, {}};
    return {};
}

/// Pid of {Pid, _}.
Sender first_of_pair(TermSource& source, const Element& element) {
    const std::vector<Element> pair = tuple_elements(source, element, 2);
    return pair.empty() ? Sender{} : sender(source, pair[0]);
}

constexpr std::size_t longest_shape = 400;
constexpr std::size_t widest = 16;
constexpr int deepest_shape = 4;

/// Recursion here follows the printed levels, which are four.
class Shape {
public:
    explicit Shape(TermSource& source) : source_(source) {}
    std::string text;

    void add(const Element& e, int level) {
        if (text.size() > longest_shape) return;
        switch (e.kind) {
            case ElementKind::nil: text += "[]"; return;
            case ElementKind::small: text += "integer()"; return;
            case ElementKind::atom: text += atom_text(e.text); return;
            case ElementKind::pid: text += "pid()"; return;
            case ElementKind::port: text += "port()"; return;
            case ElementKind::object: break;
            default: text += "term()"; return;
        }
        const ObjectHead head = source_.head(e.id);
        switch (head.kind) {
            case TermKind::tuple: return tuple(e, head, level);
            case TermKind::cons: return list(e, level);
            case TermKind::flat_map:
            case TermKind::hash_map: return map(e, head, level);
            case TermKind::bignum: text += "integer()"; return;
            case TermKind::float_number: text += "float()"; return;
            case TermKind::heap_binary:
            case TermKind::refc_binary:
            case TermKind::sub_binary: text += "binary()"; return;
            case TermKind::fun:
            case TermKind::external_fun: text += "fun()"; return;
            case TermKind::reference:
            case TermKind::external_reference: text += "reference()"; return;
            case TermKind::external_pid: text += "pid()"; return;
            case TermKind::external_port: text += "port()"; return;
            default: text += "term()"; return;
        }
    }

private:
    // Of {<<"api_key">>, Atom} the atom is what is under the key: no form, and maybe a secret.
    void add_behind(const Element& before, const Element& e, int level) {
        if (e.kind == ElementKind::atom && may_be_text(before)) text += "atom()";
        else add(e, level);
    }
    bool may_be_text(const Element& e) {
        if (e.kind != ElementKind::object) return false;
        const TermKind kind = source_.head(e.id).kind;
        if (kind == TermKind::cons) {
            ElementCursor cursor = source_.elements(e.id);
            Element first;
            return source_.next(cursor, first) && first.kind == ElementKind::small;
        }
        return kind == TermKind::heap_binary || kind == TermKind::refc_binary || kind == TermKind::sub_binary;
    }
    void tuple(const Element& e, const ObjectHead& head, int level) {
        if (level >= deepest_shape) {
            text += "tuple()";
            return;
        }
        text += '{';
        ElementCursor cursor = source_.elements(e.id);
        Element before, element;
        for (std::size_t i = 0; i < widest && source_.next(cursor, element); ++i) {
            if (i != 0) text += ',';
            add_behind(before, element, level + 1);
            before = element;
        }
        text += head.elements > widest ? ",...}" : "}";
    }
    void list(const Element& e, int level) {
        // [alias|Ref], the tag of calls since 24, is worth telling from a list.
        ElementCursor cursor = source_.elements(e.id);
        Element first;
        Element tail;
        source_.next(cursor, first);
        source_.next(cursor, tail);
        const bool improper = tail.kind != ElementKind::nil &&
                              !(tail.kind == ElementKind::object && source_.head(tail.id).kind == TermKind::cons);
        if (!improper || level >= deepest_shape) {
            text += "list()";
            return;
        }
        text += '[';
        add(first, level + 1);
        text += '|';
        add_behind(first, tail, level + 1);
        text += ']';
    }
    /// Names of keys where all are atoms.
    void map(const Element& e, const ObjectHead& head, int level) {
        text += "#{";
        if (head.kind == TermKind::flat_map && head.size <= widest && level < deepest_shape) {
            ElementCursor cursor = source_.elements(e.id);
            Element keys;
            source_.next(cursor, keys);
            std::vector<Element> names = tuple_elements(source_, keys, widest);
            for (std::size_t i = 0; i < names.size(); ++i) {
                Element value;
                source_.next(cursor, value);
                if (i != 0) text += ',';
                add(names[i], deepest_shape);
                text += "=>";
                add(value, level + 1);
            }
        } else {
            text += "...";
        }
        text += '}';
    }
    TermSource& source_;
};

}  // namespace

Sender sender_of(TermSource& source, const Element& message) {
    const std::vector<Element> elements = tuple_elements(source, message, 5);
    if (elements.size() < 2) return {};
    const Element& tag = elements[0];
    if (is_atom(tag, "$gen_call") || is_atom(tag, "system")) return first_of_pair(source, elements[1]);
    if (is_atom(tag, "EXIT") || is_atom(tag, "io_request") || is_atom(tag, "ssh_cm"))
        return sender(source, elements[1]);
    if (is_atom(tag, "DOWN")) return elements.size() == 5 ? sender(source, elements[3]) : Sender{};
    for (const std::string_view port_tag :
         {"tcp", "tcp_closed", "tcp_error", "tcp_passive", "udp", "udp_error", "sctp"})
        if (is_atom(tag, port_tag)) return sender(source, elements[1]);
    if (tag.kind == ElementKind::port) return {{}, tag.port};
    return {};
}

Sender sender_of_root(TermSource& source, std::size_t root) {
    const Sender recorded = sender(source, source.sender(root));
    return recorded.has() ? recorded : sender_of(source, source.root(root));
}

std::string shape_of(TermSource& source, const Element& term) {
    Shape shape(source);
    shape.add(term, 0);
    if (shape.text.size() > longest_shape) {
        shape.text.resize(longest_shape);
        shape.text += "...";
    }
    return std::move(shape.text);
}

}  // namespace beamheap::analyses
