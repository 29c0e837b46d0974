// SPDX-License-Identifier: Apache-2.0
#include "present/secrets/secret_terms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "erlang/term_walks.hpp"
#include "model/characters.hpp"
#include "present/literal_format.hpp"
#include "present/secrets/redact.hpp"
#include "present/secrets/secret_neighbours.hpp"
#include "present/secrets/secret_places.hpp"
#include "present/term_printer.hpp"

namespace beamheap::present {
namespace {

// What can't be guessed stands in the place of a value whose key is asked about.
constexpr std::string_view unguessable = "Zq7xK9vLmN4t";

bool is_binary(TermKind kind) {
    return kind == TermKind::heap_binary || kind == TermKind::refc_binary || kind == TermKind::sub_binary;
}
bool is_map(TermKind kind) { return kind == TermKind::flat_map || kind == TermKind::hash_map; }

}  // namespace

std::string mask_literal(std::string_view escaped) {
    std::string masked = mask_all_secrets(fmt::format("\"{}\"", escaped));
    if (masked.size() < 2 || masked.front() != '"' || masked.back() != '"') return "***";
    return masked.substr(1, masked.size() - 2);
}

std::vector<bool>* SecretTerms::marks(ObjectId::Space space) {
    switch (space) {
        case ObjectId::Space::heap: return &secret_;
        case ObjectId::Space::literals: return &secret_literals_;
        case ObjectId::Space::decoded: break;
    }
    return nullptr;
}

bool SecretTerms::hides(ObjectId id) {
    if (!marked_) mark_all();
    const std::vector<bool>* all = marks(id.space);
    return all != nullptr && id.number < all->size() && (*all)[id.number];
}

void SecretTerms::hide(const Element& element) {
    if (!marked_) mark_all();
    mark(element);
    mark_parts();
    mark_hidden_binaries();
}

void SecretTerms::hide_elements(ObjectId tuple, std::uint64_t key) {
    if (!marked_) mark_all();
    if (tuple.space == ObjectId::Space::heap) all_but_[tuple.number] = key;
    ElementCursor cursor = source_.elements(tuple);
    Element element;
    for (std::uint64_t i = 0; source_.next(cursor, element); ++i)
        if (i != key) hide(element);
}

TermKind SecretTerms::kind_of(const Element& element) {
    if (element.kind != ElementKind::object) return TermKind::unknown;
    switch (element.id.space) {
        case ObjectId::Space::heap: return source_.graph().kind(element.id.number);
        case ObjectId::Space::literals: return source_.literals()->kind(element.id.number);
        case ObjectId::Space::decoded: break;
    }
    return source_.head(element.id).kind;
}

// Atoms are asked about again and again, and few are keys.
const SecretTerms::Key& SecretTerms::key_of_atom(std::string_view name) {
    constexpr std::size_t most_kept = 4096;
    if (const auto found = atoms_.find(name); found != atoms_.end()) return found->second;
    if (atoms_.size() == most_kept) atoms_.clear();
    return atoms_
        .emplace(name, Key{secrecy_of(name), names_credentials(name), secret_record(name), secret_element(name),
                           name == "crypto" || name == "public_key"})
        .first->second;
}

SecretTerms::Key SecretTerms::key_of(const Element& element) {
    if (element.kind == ElementKind::atom) return key_of_atom(element.text);
    const TermKind kind = kind_of(element);
    if (!is_binary(kind) && kind != TermKind::cons) return {};
    return {.secrecy = secrecy_of(short_text(element))};
}

// A key of several parts: {smtp,password}, [db,password], ["ldap","bind","password"].
bool SecretTerms::is_secret_path(const Element& key) {
    constexpr std::size_t most_parts = 8;
    const TermKind kind = kind_of(key);
    Element part;
    if (kind == TermKind::tuple) {
        ElementCursor cursor = source_.elements(key.id);
        for (std::size_t i = 0; i < most_parts && source_.next(cursor, part); ++i)
            if (key_of(part).secrecy == Secrecy::always) return true;
    } else if (kind == TermKind::cons) {
        ListWalk parts(source_, key);
        for (std::size_t i = 0; i < most_parts && parts.next(part) && part.kind != ElementKind::small; ++i)
            if (key_of(part).secrecy == Secrecy::always) return true;
    }
    return false;
}

bool SecretTerms::names_secret(const Element& key) { return key_of(key).secrecy == Secrecy::always; }

bool SecretTerms::names_secret(const Element& key, const Element& value) {
    const Secrecy secrecy = key_of(key).secrecy;
    if (secrecy == Secrecy::none || value.kind == ElementKind::nil) return false;
    if (value.kind == ElementKind::atom && tells_nothing(value.text)) return false;
    if (secrecy == Secrecy::always) return true;
    constexpr std::size_t enough = 256;
    return looks_like_code(term_text(source_, value, {.max_bytes = enough}));
}

std::vector<std::uint64_t> SecretTerms::elements_of(ObjectId tuple) {
    if (!hides(tuple)) return keyed_elements(tuple);
    std::vector<std::uint64_t> places(source_.elements(tuple).left);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    return places;
}

// The text of an atom, a binary or a list of characters; empty where it is longer, or is none.
std::string SecretTerms::short_text(const Element& term, std::size_t most) {
    std::string text;
    if (term.kind == ElementKind::atom) return std::string(term.text);
    if (term.kind != ElementKind::object) return text;
    const ObjectHead head = source_.head(term.id);
    if (is_binary(head.kind)) {
        if (head.size <= most && head.extra_bits == 0) source_.bytes(term.id, 0, head.size, text);
        return text;
    }
    if (head.kind != TermKind::cons) return text;
    ListWalk cells(source_, term);
    for (Element character; cells.next(character);) {
        if (text.size() == most || character.kind != ElementKind::small || character.number <= 0 ||
            character.number > 0x10FFFF)
            return {};
        append_utf8(text, static_cast<std::uint32_t>(character.number));
    }
    return cells.rest().kind == ElementKind::nil ? text : std::string{};
}

bool SecretTerms::is_text(const Element& element) {
    const TermKind kind = kind_of(element);
    if (kind != TermKind::cons) return is_binary(kind);
    ElementCursor cursor = source_.elements(element.id);
    Element head;
    return source_.next(cursor, head) && head.kind == ElementKind::small;
}

// {basic,"name","x"}, {proxy_auth,{"name","x"}}, {basic,"name:x"}; of {scram,_,_} all.
bool SecretTerms::credentials(std::string_view tag, const std::vector<Element>& elements,
                              std::vector<std::uint64_t>& places) {
    if (elements.size() < 2) return false;
    const Element& first = elements[1];
    std::size_t from = elements.size();
    if (tag == "scram") from = 1;
    else if (elements.size() > 2 && is_text(first)) from = 2;
    else if (elements.size() == 2 && first.kind == ElementKind::object &&
             (kind_of(first) == TermKind::tuple || holds_credentials(short_text(first, 512))))
        from = 1;
    for (; from < elements.size(); ++from) places.push_back(from);
    return !places.empty();
}

bool is_secret_field(TermSource& source, std::string_view field, const Element& value) {
    const Secrecy secrecy = secrecy_of(field);
    if (secrecy == Secrecy::none || value.kind == ElementKind::nil) return false;
    if (value.kind == ElementKind::atom && tells_nothing(value.text)) return false;
    constexpr std::size_t enough = 256;
    return secrecy == Secrecy::always || looks_like_code(term_text(source, value, {.max_bytes = enough}));
}

std::vector<std::uint64_t> SecretTerms::keyed_elements(ObjectId tuple) {
    if (!all_but_.empty() && tuple.space == ObjectId::Space::heap)
        if (const auto found = all_but_.find(tuple.number); found != all_but_.end()) {
            std::vector<std::uint64_t> places;
            for (std::uint64_t i = 0; i < source_.elements(tuple).left; ++i)
                if (i != found->second) places.push_back(i);
            return places;
        }
    std::vector<std::uint64_t> places = elements_behind_keys(tuple);
    if (records_ != nullptr && !records_->empty()) add_secret_fields(tuple, places);
    return places;
}

void SecretTerms::add_secret_fields(ObjectId tuple, std::vector<std::uint64_t>& places) {
    // What elements_behind_keys() has read: all of a tuple, or more than any record has.
    if (elements_.size() < 2 || elements_[0].kind != ElementKind::atom) return;
    const RecordType* const record =
        records_->of_tag(elements_[0].text, elements_.size(), records_->within(tuple, records_->module()));
    if (record == nullptr) return;
    const std::size_t before = places.size();
    for (std::size_t i = 1; i < elements_.size(); ++i)
        if (key_of_atom(record->fields[i - 1]).secrecy != Secrecy::none &&
            is_secret_field(source_, record->fields[i - 1], elements_[i]))
            places.push_back(i);
    if (places.size() == before) return;
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
}

std::vector<std::uint64_t> SecretTerms::elements_behind_keys(ObjectId tuple) {
    constexpr std::size_t most_elements = 4096;
    std::vector<std::uint64_t> places;
    std::vector<Element>& elements = elements_;
    elements.clear();
    ElementCursor cursor = source_.elements(tuple);
    Element element;
    bool has_key = false;
    while (elements.size() < most_elements && source_.next(cursor, element)) {
        has_key = has_key || key_of(element).any();
        elements.push_back(element);
    }
    if (elements.size() < 2) return places;
    Element first = elements[0];
    if (elements.size() == 2 && kind_of(first) == TermKind::cons) has_key = has_key || is_secret_path(first);
    if (kind_of(first) == TermKind::tuple) {
        has_key = has_key || (elements.size() == 2 && is_secret_path(first));
        ElementCursor inner = source_.elements(first.id);
        if (!source_.next(inner, first)) first = {};
        has_key = has_key || key_of(first).any();
    }
    if (!has_key) return places;
    if (names_secret(first) || (elements.size() == 2 && is_secret_path(elements[0]))) {
        for (std::size_t i = 1; i < elements.size(); ++i) places.push_back(i);
        return places;
    }
    const bool tagged = elements[0].kind == ElementKind::atom;
    const Key tag = tagged ? key_of_atom(elements[0].text) : Key{};
    if (tag.credentials && credentials(elements[0].text, elements, places)) return places;
    // An element of XML: its name, its attributes, what it holds.
    if (tagged && elements.size() > 2 && (elements[0].text.starts_with("xmlel") || elements[0].text == "xmlElement") &&
        names_secret(elements[1])) {
        for (std::size_t i = 2; i < elements.size(); ++i) places.push_back(i);
        return places;
    }
    // A function and what it was called with: {ejabberd_auth,check_password,[...]}.
    const auto is_arguments = [&](std::size_t i) {
        return i >= 2 && kind_of(elements[i]) == TermKind::cons && elements[i - 1].kind == ElementKind::atom &&
               elements[i - 2].kind == ElementKind::atom && !elements[i - 1].text.empty() &&
               elements[i - 1].text[0] >= 'a' && elements[i - 1].text[0] <= 'z' &&
               (names_secret(elements[i - 1]) || key_of_atom(elements[i - 2].text).calls) && !is_text(elements[i]);
    };
    bool behind_key = false;
    for (std::size_t i = 1; i < elements.size(); ++i) {
        const bool text = is_text(elements[i]);
        if (tag.record || is_arguments(i) || (text && (behind_key || i == tag.element)) ||
            (behind_key && is_wrapped(elements[i])) ||
            (key_of(elements[i - 1]).secrecy == Secrecy::by_value && names_secret(elements[i - 1], elements[i])))
            places.push_back(i);
        behind_key = behind_key || names_secret(elements[i]);
    }
    return places;
}

// [{key,password},{value,x}]: the first says what the second one is.
void SecretTerms::look_at_pair_of_pairs(const Element& head, const Element& tail) {
    if (kind_of(head) != TermKind::tuple || kind_of(tail) != TermKind::cons) return;
    const auto pair = [&](const Element& tuple, Element& name, Element& value) {
        if (kind_of(tuple) != TermKind::tuple) return false;
        ElementCursor cursor = source_.elements(tuple.id);
        return cursor.left == 2 && source_.next(cursor, name) && source_.next(cursor, value);
    };
    Element name, value, next;
    constexpr std::size_t longest_member = 12;
    if (!pair(head, name, value) || !has_name(short_text(name, longest_member)) || !names_secret(value)) return;
    ElementCursor behind = source_.elements(tail.id);
    if (source_.next(behind, next) && pair(next, name, value) && names_its_value(short_text(name, longest_member)))
        mark(value);
}

// A cell of a list or, improper, a pair.
void SecretTerms::look_at_cell(ObjectId id) {
    ElementCursor cursor = source_.elements(id);
    Element head, tail, next;
    if (!source_.next(cursor, head) || !source_.next(cursor, tail)) return;
    if (!inner_[id.number]) look_at_pieces(id);
    if (head.kind == ElementKind::small) return look_at_characters(id);
    look_at_pair_of_pairs(head, tail);
    if (key_of(head).secrecy == Secrecy::none) return;
    if (kind_of(tail) != TermKind::cons) {
        if (names_secret(head, tail)) mark(tail);
        return;
    }
    ElementCursor behind = source_.elements(tail.id);
    if (source_.next(behind, next) && is_text(next) && names_secret(head, next)) mark(next);
}

// The characters of an element of an iolist, lists within it included, as far as they fit; false: it is none.
bool SecretTerms::add_text(const Element& element, std::string& text) {
    constexpr std::size_t most_steps = 64;
    if (element.kind == ElementKind::small && element.number > 0 && element.number <= 0x10FFFF)
        return append_utf8(text, static_cast<std::uint32_t>(element.number)), true;
    std::vector<Element> waiting{element};
    for (std::size_t step = 0; !waiting.empty() && step < most_steps && text.size() < longest_key; ++step) {
        const Element next = waiting.back();
        waiting.pop_back();
        if (next.kind == ElementKind::nil) continue;
        if (next.kind == ElementKind::atom) {
            text += next.text;
        } else if (next.kind == ElementKind::small && next.number > 0 && next.number <= 0x10FFFF) {
            append_utf8(text, static_cast<std::uint32_t>(next.number));
        } else if (next.kind == ElementKind::object && is_binary(kind_of(next))) {
            source_.bytes(next.id, 0, longest_key, text);
        } else if (next.kind == ElementKind::object && kind_of(next) == TermKind::cons) {
            ElementCursor cursor = source_.elements(next.id);
            Element head, tail;
            if (!source_.next(cursor, head) || !source_.next(cursor, tail)) return false;
            waiting.push_back(tail);
            waiting.push_back(head);
        } else {
            return false;
        }
    }
    return true;
}

// Whether the texts' rules hide what stands behind a text: of any kind of secret a word tells.
bool SecretTerms::names_what_follows(const std::string& before) {
    const auto letter = [](unsigned char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
    if (before.size() < 2 || std::ranges::none_of(before, letter)) return false;
    const auto hidden = [](const std::string& text) { return text.find(unguessable) == std::string::npos; };
    constexpr std::size_t most_kept = 4096;
    if (const auto found = befores_.find(before); found != befores_.end()) return found->second;
    if (befores_.size() == most_kept) befores_.clear();
    std::string escaped;
    append_escaped(escaped, before, '"', Syntax::erlang);
    const bool names = hidden(mask_all_secrets(fmt::format("[\"{}\",\"{}\"]", escaped, unguessable))) ||
                       hidden(mask_all_secrets(fmt::format("\"{}{}\"", escaped, unguessable)));
    befores_.emplace(before, names);
    return names;
}

// A text in pieces: what stands before a piece is asked of the texts' rules ("password=", "Authorization: Bearer ",
// "-setcookie"), with what nobody can guess in the piece's place.
void SecretTerms::look_at_pieces(ObjectId id) {
    constexpr std::size_t most_pieces = 256;
    Element list;
    list.kind = ElementKind::object;
    list.id = id;
    ListWalk walk(source_, list);
    std::string before;
    Element piece;
    for (std::size_t n = 0; n < most_pieces; ++n) {
        const bool last = !walk.next(piece);
        if (last) piece = walk.rest();
        if (piece.kind == ElementKind::object) {
            const TermKind kind = kind_of(piece);
            if (!is_binary(kind) && kind != TermKind::cons) return;
            if (names_what_follows(before)) mark(piece);
        }
        std::string text;
        if (last || !add_text(piece, text)) return;
        before += text;
        if (before.size() > longest_key) before.erase(0, before.size() - longest_key);
    }
}

// A text within which something is secret: what remains of it behind its first character may not show that it is.
void SecretTerms::look_at_characters(ObjectId id) {
    constexpr std::size_t most = std::size_t{1} << 16;
    if (inner_[id.number]) return;
    Element list;
    list.kind = ElementKind::object;
    list.id = id;
    std::string text;
    std::vector<ObjectId> cells;
    ListWalk walk(source_, list);
    for (Element character; text.size() < most && walk.next(character) && character.kind == ElementKind::small;) {
        if (character.number < 0 || character.number > 0x10FFFF) break;
        append_utf8(text, character.number == 0 ? '?' : static_cast<std::uint32_t>(character.number));
        if (walk.rest().kind != ElementKind::object) break;
        cells.push_back(walk.rest().id);
    }
    if (text.size() < 4) return;
    std::string escaped;
    append_escaped(escaped, text, '"', Syntax::erlang);
    if (mask_literal(escaped) == escaped) return;
    for (const ObjectId cell : cells)
        if (std::vector<bool>* const all = marks(cell.space)) (*all)[cell.number] = true;
}

void SecretTerms::mark(const Element& element) {
    if (element.kind != ElementKind::object) return;
    std::vector<bool>* const all = marks(element.id.space);
    if (all == nullptr || element.id.number >= all->size() || (*all)[element.id.number]) return;
    const TermKind kind = kind_of(element);
    if (kind == TermKind::reference || kind == TermKind::external_reference || kind == TermKind::external_pid ||
        kind == TermKind::external_port)
        return;  // who something is, not what it is
    (*all)[element.id.number] = true;
    waiting_.push_back(element.id);
}

void SecretTerms::mark_parts() {
    while (!waiting_.empty()) {
        const ObjectId next = waiting_.back();
        waiting_.pop_back();
        ElementCursor cursor = source_.elements(next);
        for (Element element; source_.next(cursor, element);) mark(element);
        if (next.space == ObjectId::Space::heap) mark_bytes_of(static_cast<NodeId>(next.number));
    }
}

// The bytes that a hidden slice shows may be an object of their own: it is as secret, whatever else shows of it.
void SecretTerms::mark_bytes_of(NodeId slice) {
    const HeapGraph& graph = source_.graph();
    if (graph.kind(slice) != TermKind::sub_binary) return;
    const BinaryUse* const use = graph.binary_of(slice);
    if (use == nullptr) return;
    if (use->base == BinaryUse::Base::object) {
        const NodeId base = graph.find(use->address);
        if (base != no_node) secret_[base] = true;
        return;
    }
    hidden_binaries_.insert(use->address);
}

// All references to a binary outside of the heap of which a hidden slice shows a part.
void SecretTerms::mark_hidden_binaries() {
    if (hidden_binaries_.empty()) return;
    for (const BinaryUse& use : source_.graph().binaries())
        if (use.base == BinaryUse::Base::binary && hidden_binaries_.contains(use.address)) secret_[use.node] = true;
    hidden_binaries_.clear();
}

void SecretTerms::look_at(ObjectId id, TermKind kind) {
    if (kind == TermKind::cons) return look_at_cell(id);
    if (kind == TermKind::tuple) {
        if (id.space == ObjectId::Space::heap && no_tuple_[id.number]) return;
        const std::vector<std::uint64_t> places = keyed_elements(id);
        look_at_siblings(elements_);
        if (places.empty()) return;
        ElementCursor cursor = source_.elements(id);
        Element element;
        auto place = places.begin();
        for (std::uint64_t i = 0; place != places.end() && source_.next(cursor, element); ++i)
            if (*place == i) mark(element), ++place;
        return;
    }
    // What other members of the map say of those whose own names say nothing.
    constexpr std::size_t most_members = 64;
    bool values = false, numbers = false, cipher = false, all = false;
    std::vector<std::pair<std::string, Element>> members;
    MapWalk pairs(source_, id, source_.head(id));
    std::size_t count = 0;
    for (Pair pair; pairs.next(pair); ++count) {
        if (names_secret(pair.key, pair.value) || is_secret_path(pair.key) ||
            (pair.key.kind == ElementKind::atom && secret_record(pair.key.text)))
            mark(pair.value);
        if (count >= most_members) continue;
        constexpr std::size_t longest_member = 12;
        std::string name = short_text(pair.key, longest_member);
        if (has_name(name)) values = values || names_secret(pair.value);
        numbers = numbers || name == "kty";
        cipher = cipher || name == "cipher";
        if (name == "__struct__" && pair.value.kind == ElementKind::atom) all = secret_struct(pair.value.text);
        members.emplace_back(std::move(name), pair.value);
    }
    elements_.clear();
    for (const std::string_view wanted : {"columns", "rows"})  // in the order in which tuples have them
        for (const auto& [name, value] : members)
            if (name == wanted) elements_.push_back(value);
    for (const auto& [name, value] : members)
        if (name != "columns" && name != "rows") elements_.push_back(value);
    look_at_siblings(elements_);
    if (!values && !numbers && !cipher && !all) return;
    for (const auto& [name, value] : members)
        if (all || (values && names_its_value(name)) || (numbers && member_of_key(name)) || (cipher && name == "key"))
            mark(value);
}

void SecretTerms::mark_all() {
    marked_ = true;
    const HeapGraph& graph = source_.graph();
    const auto objects = static_cast<NodeId>(graph.size());
    secret_.assign(objects, false);
    no_tuple_.assign(objects, false);
    inner_.assign(objects, false);
    if (const HeapGraph* literals = source_.literals()) secret_literals_.assign(literals->size(), false);
    for (NodeId node = 0; node < objects; ++node) {
        const TermKind kind = graph.kind(node);
        if (kind != TermKind::flat_map && kind != TermKind::cons) continue;
        ElementCursor cursor = source_.elements({ObjectId::Space::heap, node});
        Element part;  // the keys of a map, the tail of a cell
        if (!source_.next(cursor, part) || (kind == TermKind::cons && !source_.next(cursor, part))) continue;
        if (part.kind == ElementKind::object && part.id.space == ObjectId::Space::heap)
            (kind == TermKind::cons ? inner_ : no_tuple_)[part.id.number] = true;
    }
    for (NodeId node = 0; node < objects; ++node) {
        const TermKind kind = graph.kind(node);
        if (kind != TermKind::cons && kind != TermKind::tuple && !is_map(kind)) continue;
        look_at({ObjectId::Space::heap, node}, kind);
        mark_parts();
    }
    mark_hidden_binaries();
    inner_ = {};
    no_tuple_ = {};
}

}  // namespace beamheap::present
