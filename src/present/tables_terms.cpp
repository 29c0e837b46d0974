// SPDX-License-Identifier: Apache-2.0
#include "present/tables_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <utility>

#include "analyses/heaps/messages.hpp"
#include "erlang/erlang_syntax.hpp"
#include "present/table_cells.hpp"

namespace beamheap::present {
namespace {

std::uint64_t address_of(TermSource& source, const Element& term) {
    if (term.kind != ElementKind::object && term.kind != ElementKind::missing) return 0;
    if (term.address != 0 || term.kind == ElementKind::missing) return term.address;
    return source.head(term.id).address;
}

std::string sender_text(const TermView& view, std::uint32_t root) {
    const analyses::Sender sender = analyses::sender_of_root(view.source(), root);
    if (sender.pid.has()) return view.names().pid(sender.pid);
    return sender.port.has() ? port_text(sender.port) : std::string{};
}

}  // namespace

std::string field_name(const Names& names, const RecordType& record, std::uint64_t place) {
    return fmt::format("#{}.{}", bare_text(record.name, names.syntax()),
                       bare_text(record.fields[static_cast<std::size_t>(place) - 2], names.syntax()));
}

Value TermView::address_value(std::uint64_t address) {
    return address == 0 ? Value() : Value(fmt::format("{:X}", address));
}

std::string TermView::short_text(const Element& term) const {
    PrintOptions options = options_;
    options.max_bytes = 60;
    return term_text(source_, term, options);
}

std::vector<std::uint32_t> TermView::roots_of(RootKind kind) const {
    std::vector<std::uint32_t> found;
    const RootList& roots = graph().roots();
    found.reserve(static_cast<std::size_t>(std::ranges::count(roots, kind, &Root::kind)));
    for (auto root = roots.begin(); root != roots.end(); ++root)
        if ((*root).kind == kind) found.push_back(static_cast<std::uint32_t>(root.at()));
    return found;
}

bool TermView::dictionary_pair(std::size_t root, Element& key, Element& value) const {
    const Element entry = source_.root(root);
    if (entry.kind != ElementKind::object) return false;
    const ObjectHead head = source_.head(entry.id);
    if (head.kind != TermKind::tuple || head.elements != 2) return false;
    ElementCursor cursor = source_.elements(entry.id);
    return source_.next(cursor, key) && source_.next(cursor, value);
}

bool TermView::is_state(std::size_t i) const {
    if (!state_root_) return false;
    const NodeId target = graph().roots()[*state_root_].target;
    return i == *state_root_ || (target != no_node && graph().roots()[i].target == target);
}

std::string TermView::root_name(std::size_t i) const {
    return is_state(i) ? fmt::format("State ({})", slot_name(i)) : slot_name(i);
}

std::string TermView::slot_name(std::size_t i) const {
    const Root root = graph().roots()[i];
    switch (root.kind) {
        case RootKind::stack: {
            const auto frames = names_.snapshot().stacks[process_.stack];
            if (root.frame >= frames.size()) return fmt::format("stack y{}", root.index);
            return fmt::format("{} y{}", names_.function(frames[root.frame].function), root.index);
        }
        case RootKind::dictionary: {
            Element key;
            Element value;
            return dictionary_pair(i, key, value) ? "dictionary " + short_text(key)
                                                  : fmt::format("dictionary entry {}", root.index);
        }
        case RootKind::message: return fmt::format("message {}", root.index);
        case RootKind::seq_trace_token:
            return root.index == no_frame ? "sequential trace token" : fmt::format("token of message {}", root.index);
        case RootKind::garbage: return fmt::format("garbage {}", root.index);
        case RootKind::x_register: return fmt::format("x{}", root.index);
        default: return std::string(name_of(root.kind));
    }
}

analyses::Sentence TermView::root_sentence(std::size_t i) const {
    const Root root = graph().roots()[i];
    const auto slot = [&]() -> analyses::Sentence {
        Element key;
        Element value;
        const auto frames = names_.snapshot().stacks[process_.stack];
        if (root.kind == RootKind::stack && root.frame < frames.size())
            return analyses::sentence("{} y{}", frames[root.frame].function, analyses::Amount{root.index});
        if (root.kind == RootKind::dictionary && dictionary_pair(i, key, value)) {
            PrintOptions options = options_;
            options.max_bytes = 60;
            options.syntax = Syntax::erlang;
            return analyses::sentence("dictionary {}", analyses::InputText{term_text(source_, key, options),
                                                                           analyses::InputText::Holds::term});
        }
        return analyses::sentence("{}", analyses::InputText{slot_name(i), analyses::InputText::Holds::vm});
    }();
    return is_state(i) ? analyses::sentence("State ({})", slot) : slot;
}

Table frame_table(const TermView& view, std::span<const Frame> frames) {
    struct Row {
        std::uint32_t depth;
        Frame frame;
    };
    std::vector<Row> rows;
    for (const Frame& frame : frames) rows.push_back({static_cast<std::uint32_t>(rows.size()), frame});
    auto slots = std::make_shared<std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>>();
    for (const std::uint32_t root : view.roots_of(RootKind::stack))
        (*slots)[view.graph().roots()[root].frame].push_back(root);
    const Names& names = view.names();
    const bool any_line =
        std::any_of(frames.begin(), frames.end(), [&](const Frame& f) { return !names.place(f).empty(); });
    Columns<Row> columns{
        {{.name = "depth", .title = "#", .unit = Unit::count, .doc = "0 is the youngest frame"},
         [](const Row& r) { return Value(r.depth); }},
        {{.name = "function", .title = "FUNCTION", .doc = "that waits to go on", .content = Content::name},
         [&names](const Row& r) { return cells::function(names, r.frame.function); }},
        {{.name = "offset", .title = "OFFSET", .unit = Unit::count, .doc = "bytes into its code"},
         [](const Row& r) { return Value(r.frame.offset); }},
        {{.name = "file", .title = "FILE", .doc = "source file", .content = Content::name, .wide = true},
         [&names](const Row& r) { return cells::frame_file(names, r.frame); }},
        {{.name = "line", .title = "LINE", .unit = Unit::count, .doc = "source line", .wide = true},
         [&names](const Row& r) { return cells::frame_line(names, r.frame); }},
        {{.name = "line_certainty", .title = "CERTAINTY", .doc = Label::of(cells::line_certainty_doc), .wide = true},
         [&names](const Row& r) { return cells::line_certainty(names, r.frame); }},
        {{.name = "source_place",
          .title = "AT",
          .doc = "file and line, or lines",
          .content = Content::name,
          .wide = !any_line},
         [&names](const Row& r) { return cells::frame_place(names, r.frame); }},
        {{.name = "slots",
          .title = "SLOTS",
          .doc = "terms that the frame holds",
          .content = Content::term,
          .below = true},
         [view, slots](const Row& r) {
             Array terms;
             const auto found = slots->find(r.depth);
             if (found == slots->end()) return Value(std::move(terms));
             for (const std::uint32_t root : found->second)
                 terms.emplace_back(Object{{"name", fmt::format("y{}", view.graph().roots()[root].index)},
                                           {"term", view.root_text(root)}});
             return Value(std::move(terms));
         }},
    };
    return table_of(std::move(columns), std::move(rows), "no stack in this input");
}

Table dictionary_table(const TermView& view) {
    const auto part = [view](std::uint32_t root, bool value_wanted) {
        Element key;
        Element value;
        if (!view.dictionary_pair(root, key, value)) return value_wanted ? view.source().root(root) : Element{};
        return value_wanted ? value : key;
    };
    Columns<std::uint32_t> columns{
        {{.name = "key", .title = "KEY", .doc = "the key", .content = Content::term},
         [=](const std::uint32_t& r) { return Value(view.text(part(r, false))); }},
        {{.name = "value", .title = "VALUE", .doc = "what it stands for", .content = Content::term, .keyed_by = "key"},
         [=](const std::uint32_t& r) { return Value(view.text(part(r, true))); }},
        {{.name = "flat_words", .title = "FLAT words", .unit = Unit::words, .doc = "erts_debug:flat_size of the value"},
         [=](const std::uint32_t& r) { return Value(view.measures().flat_words(part(r, true))); }},
        {{.name = "shared_words",
          .title = "SHARED words",
          .unit = Unit::words,
          .doc = "erts_debug:size of the value: shared parts once",
          .lesser = 1},
         [=](const std::uint32_t& r) { return Value(view.measures().shared_words(part(r, true))); }},
    };
    return table_of(std::move(columns), view.roots_of(RootKind::dictionary), view.nothing("an empty dictionary"));
}

Table message_table(const TermView& view, std::vector<std::uint32_t> roots, Columns<std::uint32_t> more) {
    Columns<std::uint32_t> columns{
        {{.name = "pos", .title = "POS", .unit = Unit::count, .doc = "place in the queue, 0 is the oldest"},
         [=](const std::uint32_t& r) { return Value(view.graph().roots()[r].index); }},
        {{.name = "term", .title = "TERM", .doc = "the message", .content = Content::term, .own_line = true},
         [=](const std::uint32_t& r) { return Value(view.root_text(r)); }},
        {{.name = "flat_words",
          .title = "FLAT words",
          .unit = Unit::words,
          .doc = "erts_debug:flat_size of the message; null while it is not decoded (from another node)"},
         [=](const std::uint32_t& r) { return Value(view.measures().root_flat_words(r)); }},
        {{.name = "sender",
          .title = "SENDER",
          .doc = "who sent it: as the VM recorded it (cores), or as a message of OTP's form says",
          .content = Content::name},
         [=](const std::uint32_t& r) { return cells::text(sender_text(view, r)); }},
    };
    std::ranges::move(more, std::back_inserter(columns));
    return table_of(std::move(columns), std::move(roots), view.nothing("no messages"));
}

namespace {

/// The objects that roots hold: of each the root that is named, and the others of the few that have some.
struct HeldTerms {
    std::vector<std::uint32_t> rows;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> others;  // by the root that is named
};

/// Which of the roots of one object is named: where a person would look for it first.
unsigned rank(const TermView& view, std::uint32_t root) {
    switch (view.graph().roots()[root].kind) {
        case RootKind::dictionary: return 0;
        case RootKind::message: return 1;
        case RootKind::stack: return 2;
        default: return 3;
    }
}

/// Roots by what they hold. Immediates hold nothing; objects are in the graph, among the literals, or missing. Queues
/// hold millions of messages, each of which is held once: nothing is kept for each of those but its row.
HeldTerms held_terms(const TermView& view, bool garbage) {
    constexpr std::size_t no_row = static_cast<std::size_t>(-1);
    HeldTerms held;
    const RootList& roots = view.graph().roots();
    held.rows.reserve(roots.size());
    std::vector<std::uint64_t> seen(view.graph().size() / 64 + 1);  // a bit an object
    std::unordered_map<NodeId, std::size_t> shared;                 // objects of the graph that several roots hold
    for (const Root root : roots) {
        if ((root.kind == RootKind::garbage) != garbage || root.target == no_node) continue;
        std::uint64_t& bits = seen[root.target / 64];
        const std::uint64_t bit = std::uint64_t{1} << root.target % 64;
        if ((bits & bit) != 0) shared.try_emplace(root.target, no_row);
        bits |= bit;
    }
    std::unordered_map<std::uint64_t, std::size_t> by_address;  // of literals and what is missing
    for (auto at = roots.begin(); at != roots.end(); ++at) {
        const Root root = *at;
        const auto i = static_cast<std::uint32_t>(at.at());
        if ((root.kind == RootKind::garbage) != garbage) continue;
        if (root.target == no_node) {
            const ElementKind kind = view.source().root(i).kind;
            if (kind != ElementKind::object && kind != ElementKind::missing) continue;
        }
        const std::uint64_t address = root.target != no_node ? 0 : view.graph().missing_root(i);
        std::size_t none = no_row;
        std::size_t* row = &none;
        if (root.target != no_node) {
            const auto found = shared.find(root.target);
            if (found != shared.end()) row = &found->second;
        } else if (address != 0) {
            row = &by_address.try_emplace(address, no_row).first->second;
        }
        if (*row == no_row) {
            *row = held.rows.size();
            held.rows.push_back(i);
            continue;
        }
        std::uint32_t& named = held.rows[*row];
        // Of two slots of the stack the older frame: the loop's own rather than the callback's.
        const Root before = roots[named];
        const bool older = root.kind == RootKind::stack && before.kind == RootKind::stack && root.frame != no_frame &&
                           root.frame > before.frame;
        const bool first = rank(view, i) < rank(view, named) || older;
        std::vector<std::uint32_t> others = std::move(held.others[named]);
        held.others.erase(named);
        others.push_back(first ? std::exchange(named, i) : i);
        held.others.emplace(named, std::move(others));
    }
    return held;
}

constexpr std::size_t sorted_exactly = 200;

/// The most words first, equals as they stand. Digit by digit from the lowest on, as far as the largest has any:
/// messages by the million have few words each, which are asked for again rather than kept.
template <class Words>
void sort_by_words(std::vector<std::uint32_t>& roots, Words words) {
    constexpr unsigned digit_bits = 11;
    constexpr std::size_t digits = std::size_t{1} << digit_bits;
    const auto digit = [&](std::uint32_t root, unsigned shift) { return digits - 1 - (words(root) >> shift) % digits; };
    std::uint64_t all = 0;
    for (const std::uint32_t root : roots) all |= words(root);
    std::vector<std::uint32_t> sorted(roots.size());
    for (unsigned shift = 0; shift < 64 && all >> shift != 0; shift += digit_bits) {
        std::array<std::uint32_t, digits + 1> begins{};
        for (const std::uint32_t root : roots) ++begins[digit(root, shift) + 1];
        for (std::size_t i = 0; i < digits; ++i) begins[i + 1] += begins[i];
        for (const std::uint32_t root : roots) sorted[begins[digit(root, shift)]++] = root;
        std::swap(roots, sorted);
    }
}

/// What reaches most comes first. How much that is is looked up for the first few of those whose flat size, or else
/// what the heap holds at all, says that they can be; a search for each of 100,000 terms would take minutes.
void sort_by_reach(const TermView& view, std::vector<std::uint32_t>& held) {
    const std::uint64_t live = view.measures().live_words();
    const auto at_most = [&](std::uint32_t root) {
        return std::min(live, view.measures().root_flat_words(root).value_or(0));
    };
    sort_by_words(held, at_most);
    const auto first = std::span(held.data(), std::min(held.size(), sorted_exactly));
    std::vector<std::pair<std::uint64_t, std::uint32_t>> exact;
    for (const std::uint32_t root : first)
        exact.emplace_back(view.measures().shared_words(view.source().root(root)).value_or(at_most(root)), root);
    std::ranges::stable_sort(exact, std::ranges::greater{}, [](const auto& each) { return each.first; });
    std::ranges::transform(exact, first.begin(), [](const auto& each) { return each.second; });
}

}  // namespace

std::vector<std::uint32_t> largest_roots(const TermView& view) {
    HeldTerms held = held_terms(view, false);
    sort_by_reach(view, held.rows);
    return std::move(held.rows);
}

RootTable root_table(const TermView& view, bool garbage) {
    HeldTerms held = held_terms(view, garbage);
    if (!garbage) sort_by_reach(view, held.rows);
    const std::optional<std::uint32_t> first = held.rows.empty() ? std::nullopt : std::optional(held.rows.front());
    const auto also = std::make_shared<const decltype(held.others)>(std::move(held.others));
    Columns<std::uint32_t> columns{
        {{.name = "root_kind",
          .title = "KIND",
          .doc = "stack dictionary message seq_trace_token x_register exception group_leader garbage",
          .lesser = 3},
         [=](const std::uint32_t& r) { return Value(name_of(view.graph().roots()[r].kind)); }},
        {{.name = "root", .title = "ROOT", .doc = "which one", .content = Content::term, .end_tells = true, .best = 28},
         [=](const std::uint32_t& r) { return Value(view.root_name(r)); }},
        {{.name = "flat_words",
          .title = "FLAT words",
          .unit = Unit::words,
          .doc = "erts_debug:flat_size: what a copy would need, shared parts once per occurrence"},
         [=](const std::uint32_t& r) { return Value(view.measures().root_flat_words(r)); }},
        {{.name = "shared_words",
          .title = "SHARED words",
          .unit = Unit::words,
          .doc = "erts_debug:size: every part once",
          .lesser = 2},
         [=](const std::uint32_t& r) { return Value(view.measures().shared_words(view.source().root(r))); }},
        {{.name = "retained_words",
          .title = "RETAINED words",
          .unit = Unit::words,
          .doc = "what would be freed if this root, and those that hold the same term, were gone"},
         [=](const std::uint32_t& r) { return Value(view.measures().root_words(r)); }},
        {{.name = "retained_binary_bytes",
          .title = "BINARIES",
          .unit = Unit::bytes,
          .doc = "retained: bytes of binaries outside the heap that nothing else in this process refers to",
          .lesser = 1},
         [=](const std::uint32_t& r) { return Value(view.measures().root_binary_bytes(r)); }},
        {{.name = "address", .title = "ADDRESS", .doc = "of the term"},
         [=](const std::uint32_t& r) {
             return TermView::address_value(address_of(view.source(), view.source().root(r)));
         }},
        {{.name = "term", .title = "TERM", .doc = "what it holds", .content = Content::term, .own_line = true},
         [=](const std::uint32_t& r) { return Value(view.root_text(r)); }},
        {{.name = "also_held_by",
          .title = "ALSO HELD BY",
          .holds = Holds::texts,
          .doc = "other roots that hold the same term",
          .content = Content::term,
          .below = true},
         [=](const std::uint32_t& r) {
             Array others;
             if (const auto found = also->find(r); found != also->end())
                 for (const std::uint32_t root : found->second) others.emplace_back(view.slot_name(root));
             return Value(std::move(others));
         }},
    };
    return {table_of(std::move(columns), std::move(held.rows),
                     view.nothing(garbage ? "no garbage" : "no root refers to anything")),
            first};
}

void TermView::hide_elements(ObjectId tuple, std::uint64_t key) const {
    if (secrets_ != nullptr) secrets_->hide_elements(tuple, key);
}

Table object_table(const TermView& view, std::uint32_t key, bool secret) {
    for (const std::uint32_t root : secret ? view.roots_of(RootKind::table_object) : std::vector<std::uint32_t>()) {
        const Element object = view.source().root(root);
        if (object.kind == ElementKind::object) view.hide_elements(object.id, key - 1);
    }
    const auto key_of = [view, key](std::uint32_t root) {
        Element found;
        const Element object = view.source().root(root);
        if (object.kind != ElementKind::object) return found;
        ElementCursor cursor = view.source().elements(object.id);
        for (std::uint32_t i = 0; i < key; ++i)
            if (!view.source().next(cursor, found)) return Element{};
        return found;
    };
    // Atoms and small numbers are no objects that could be hidden.
    const auto text_of = [view, key, hidden = secret && view.secrets() != nullptr](std::uint32_t root) {
        const Element object = view.source().root(root);
        if (!hidden || object.kind != ElementKind::object) return view.root_text(root);
        std::string text;
        ElementCursor cursor = view.source().elements(object.id);
        Element element;
        for (std::uint64_t i = 1; view.source().next(cursor, element); ++i)
            text += (i == 1 ? "{" : ",") + (i == key ? view.text(element) : std::string("'***'"));
        return text + "}";
    };
    Columns<std::uint32_t> columns{
        {{.name = "pos", .title = "#", .unit = Unit::count, .doc = "by key in ordered sets, else by hash"},
         [=](const std::uint32_t& r) { return Value(view.graph().roots()[r].index); }},
        {{.name = "key", .title = "KEY", .doc = "the object's key", .content = Content::term},
         [=](const std::uint32_t& r) { return Value(view.text(key_of(r))); }},
        {{.name = "flat_words",
          .title = "FLAT words",
          .unit = Unit::words,
          .doc = "erts_debug:flat_size of the object; null in compressed tables"},
         [=](const std::uint32_t& r) { return Value(view.measures().root_flat_words(r)); }},
        {{.name = "address", .title = "ADDRESS", .doc = "of the object", .wide = true},
         [=](const std::uint32_t& r) {
             return TermView::address_value(address_of(view.source(), view.source().root(r)));
         }},
        {{.name = "object",
          .title = "OBJECT",
          .doc = "the object",
          .content = Content::term,
          .own_line = true,
          .keyed_by = "key"},
         [=](const std::uint32_t& r) { return Value(text_of(r)); }},
    };
    return table_of(std::move(columns), view.roots_of(RootKind::table_object), "an empty table");
}

Table histogram_table(std::vector<analyses::KindShare> rows) {
    Columns<analyses::KindShare> columns{
        {{.name = "kind", .title = "KIND", .doc = "kind of heap object"},
         [](const analyses::KindShare& r) { return Value(name_of(r.kind)); }},
        {{.name = "objects", .title = "OBJECTS", .unit = Unit::count, .doc = "how many"},
         [](const analyses::KindShare& r) { return Value(r.count); }},
        {{.name = "words", .title = "WORDS", .unit = Unit::words, .doc = "what they occupy"},
         [](const analyses::KindShare& r) { return Value(r.words); }},
    };
    return table_of(std::move(columns), std::move(rows), "no objects");
}

namespace {

/// Which element of `from` is `to`, named as one says it. `module` is whose records it is in.
std::string step_name(const TermView& view, ObjectId from, ObjectId to, std::string_view module) {
    TermSource& source = view.source();
    const ObjectHead head = source.head(from);
    ElementCursor cursor = source.elements(from);
    Element element;
    std::uint64_t index = 0;
    const auto is_it = [&] { return element.kind == ElementKind::object && element.id == to; };
    switch (head.kind) {
        case TermKind::tuple:
            while (source.next(cursor, element))
                if (++index; is_it()) {
                    const RecordType* const record = view.record_of(from, module);
                    return record == nullptr || index < 2 ? fmt::format("field {}", index)
                                                          : field_name(view.names(), *record, index);
                }
            break;
        case TermKind::cons: source.next(cursor, element); return is_it() ? "head" : "tail";
        case TermKind::flat_map: {
            Element keys;
            source.next(cursor, keys);
            if (keys.kind == ElementKind::object && keys.id == to) return "keys";
            ElementCursor names = keys.kind == ElementKind::object ? source.elements(keys.id) : ElementCursor{};
            while (source.next(cursor, element)) {
                Element key;
                source.next(names, key);
                if (is_it()) return fmt::format("#{{{}}}", view.short_text(key));
            }
            break;
        }
        case TermKind::hash_map:
        case TermKind::hash_node: return "node";
        case TermKind::sub_binary: return "bytes of";
        case TermKind::fun: return "environment";
        default: break;
    }
    return "part";
}

bool is_kind(const TermView& view, ObjectId id, TermKind kind) { return view.source().head(id).kind == kind; }

}  // namespace

std::vector<PathStep> path_steps(const TermView& view, const analyses::Path& path) {
    std::vector<PathStep> steps;
    TermSource& source = view.source();
    std::uint64_t cell = 0;  // cells of a list gone along, since its first
    bool in_map = false;     // within the nodes of a large map
    const analyses::RecordScope* const records = view.records();
    std::string_view module = records == nullptr ? std::string_view{} : records->of_root(view.graph(), path.root);
    for (std::size_t i = 1; i < path.objects.size(); ++i) {
        const ObjectId from = path.objects[i - 1];
        const ObjectId to = path.objects[i];
        if (records != nullptr) module = records->within(from, module);
        std::string via = step_name(view, from, to, module);
        if (via == "node") {
            in_map = true;
            continue;
        }
        if (in_map && is_kind(view, from, TermKind::cons)) {  // a leaf [Key|Value]
            in_map = false;
            ElementCursor cursor = source.elements(from);
            Element key;
            source.next(cursor, key);
            via = via == "tail" ? fmt::format("#{{{}}}", view.short_text(key)) : "key";
        } else if (in_map && via.starts_with("field")) {
            continue;  // keys of one hash
        } else if (via == "tail") {
            ++cell;
            if (i + 1 != path.objects.size() || !is_kind(view, to, TermKind::cons)) {
                if (is_kind(view, to, TermKind::cons)) continue;
                via = fmt::format("tail behind [{}]", cell);
                cell = 0;
            } else {
                via = fmt::format("rest from [{}]", cell + 1);
            }
        } else if (via == "head") {
            via = fmt::format("[{}]", cell + 1);
            cell = 0;
        }
        steps.push_back({to, std::move(via)});
    }
    // The pair of a dictionary entry goes without saying.
    if (!steps.empty() && view.graph().roots()[path.root].kind == RootKind::dictionary &&
        steps.front().via == "field 2")
        steps.front().via = "value";
    return steps;
}

std::string path_text(const TermView& view, const analyses::Path& path, std::span<const PathStep> steps) {
    std::string text = view.root_name(path.root);
    for (const PathStep& step : steps)
        if (step.via != "value") text += " -> " + step.via;
    return text;
}

Table path_table(const TermView& view, const analyses::Path* path, std::vector<PathStep> steps) {
    if (path != nullptr) steps.insert(steps.begin(), PathStep{path->objects.front(), view.root_name(path->root)});
    const auto element = [](const PathStep& step) {
        Element e;
        e.kind = ElementKind::object;
        e.id = step.id;
        return e;
    };
    Columns<PathStep> columns{
        {{.name = "via", .title = "VIA", .doc = "how the step before refers to this", .content = Content::term},
         [](const PathStep& s) { return Value(s.via); }},
        {{.name = "kind", .title = "KIND", .doc = "kind of heap object"},
         [=](const PathStep& s) { return Value(name_of(view.source().head(s.id).kind)); }},
        {{.name = "flat_words", .title = "FLAT words", .unit = Unit::words, .doc = "erts_debug:flat_size"},
         [=](const PathStep& s) { return Value(view.measures().flat_words(element(s))); }},
        {{.name = "retained_words",
          .title = "RETAINED words",
          .unit = Unit::words,
          .doc = "what it alone keeps alive; null for literals"},
         [=](const PathStep& s) { return Value(view.measures().retained_words(element(s))); }},
        {{.name = "address", .title = "ADDRESS", .doc = "of the term"},
         [=](const PathStep& s) { return TermView::address_value(view.source().head(s.id).address); }},
        {{.name = "term", .title = "TERM", .doc = "the term", .content = Content::term, .own_line = true},
         [=](const PathStep& s) { return Value(view.text(element(s))); }},
    };
    return table_of(std::move(columns), std::move(steps), {});
}

}  // namespace beamheap::present
