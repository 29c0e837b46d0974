// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/largest_collection.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/heaps/item_names.hpp"
#include "analyses/heaps/loop_state.hpp"
#include "analyses/heaps/record_scope.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "erlang/term_reader.hpp"
#include "erlang/term_walks.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_places = 4'000;     // of records and maps with fields
constexpr unsigned deepest_field = 8;          // records within records
constexpr std::uint64_t largest_record = 256;  // elements of a tuple that is gone into
constexpr std::uint64_t few_items = 64;        // of a list of records that is gone into

struct Place {
    Element term;
    Sentence where;
    unsigned depth = 0;
    std::string_view module;  ///< whose records are in it
};

class Collections {
public:
    Collections(const Snapshot& snapshot, ProcId process, TermSource& terms, std::uint64_t least)
        : s_(snapshot), p_(process), terms_(terms), reader_(terms), least_(least) {}

    std::optional<LargestCollection> run() {
        const auto state = loop_state(s_, p_, terms_);
        scope_ = RecordScope(s_, p_, terms_, state);
        if (state && state->several()) handlers_ = state->term.id;
        if (state) add(state->term, state->several() ? Ours("its handlers") : Ours("its State"), 0, scope_.module());
        const RootList& roots = terms_.graph().roots();
        std::vector<Element> entries;
        for (std::size_t i = 0; i < roots.size(); ++i) {
            if (roots[i].kind == RootKind::dictionary) entries.push_back(terms_.root(i));
            if (roots[i].kind == RootKind::stack && !(state && state->root == i))
                add(terms_.root(i), stack_text(roots[i].frame), 0, scope_.of_root(terms_.graph(), i));
        }
        dictionary(entries);
        for (std::size_t i = 0; i < places_.size(); ++i) look_at(Place(places_[i]));
        return std::move(best_);
    }

private:
    void add(const Element& term, Sentence where, unsigned depth, std::string_view module) {
        if (term.kind == ElementKind::object && places_.size() < most_places && depth < deepest_field)
            places_.push_back({term, std::move(where), depth, scope_.within(term.id, module)});
    }

    Sentence stack_text(std::uint32_t frame) const {
        if (s_[p_].stack == StackId::none) return Ours("its stack");
        const std::span<const Frame> frames = s_.stacks[s_[p_].stack];
        if (frame >= frames.size() || frames[frame].function == FunctionId::none) return Ours("its stack");
        return sentence("the stack of {}", frames[frame].function);
    }

    void dictionary(const std::vector<Element>& entries) {
        for (const Element& entry : entries) {
            const std::vector<Element> pair = reader_.tuple(entry, 2);
            if (!pair.empty() && TermReader::is_atom(pair[0]))
                add(pair[1], sentence("its process dictionary > key {}", Atom{std::string(pair[0].text)}), 1,
                    scope_.module());
        }
        if (entries.size() < least_) return;
        LargestCollection found;
        found.where = Ours("its process dictionary");
        found.what = sentence("{} {}", Counted{entries.size(), "entry", "entries"},
                              entries_in_words(terms_, entries, {&scope_, scope_.module()}));
        found.count = entries.size();
        CollectionShape pairs;
        for (std::size_t i = 0; i < entries.size(); i += entries.size() / few_items + 1) {
            const std::vector<Element> pair = reader_.tuple(entries[i], 2);
            if (pair.empty()) continue;
            pairs.keys.push_back(pair[0]);
            pairs.values.push_back(pair[1]);
        }
        found.processes = named_processes(s_, terms_, pairs);
        best_ = std::move(found);
    }

    void look_at(const Place& place) {
        const ObjectHead head = terms_.head(place.term.id);
        const bool fields = head.kind == TermKind::tuple || head.kind == TermKind::flat_map;
        if (!fields && head.kind != TermKind::cons && head.kind != TermKind::hash_map) return;
        if (const auto found = collection_shape(terms_, place.term)) return of_collection(place, *found);
        if (head.kind == TermKind::flat_map && head.size <= largest_record) {
            MapWalk walk(terms_, place.term.id, head);
            for (Pair pair; walk.next(pair);)
                add(pair.value, sentence("{} > key {}", place.where, Atom{std::string(pair.key.text)}), place.depth + 1,
                    place.module);
        } else if (head.kind == TermKind::tuple && head.elements <= largest_record) {
            const RecordType* const record = scope_.of_tuple(terms_, place.term.id, head, place.module);
            ElementCursor cursor = terms_.elements(place.term.id);
            Element element;
            for (std::uint64_t i = 1; terms_.next(cursor, element); ++i)
                add(element, step_into(place.where, element_step(record, i)), place.depth + 1, place.module);
        }
    }

    void of_collection(const Place& place, const CollectionShape& shape) {
        if (shape.count <= few_items && shape.values.empty())
            for (std::size_t i = 0; i < shape.keys.size(); ++i)
                add(shape.keys[i], sentence("{} > {}", place.where, item_step(terms_, shape.keys[i], i + 1)),
                    place.depth + 1, place.module);
        if (shape.count <= few_items)
            for (std::size_t i = 0; i < shape.values.size() && i < shape.keys.size(); ++i)
                add(shape.values[i], sentence("{} > {}", place.where, value_step(shape.keys[i])), place.depth + 1,
                    place.module);
        if (shape.count < least_ || (best_ && best_->count >= shape.count)) return;
        LargestCollection found;
        found.where = place.where;
        found.handlers = handlers_ && *handlers_ == place.term.id;
        found.what =
            found.handlers ? handlers_in_words(shape) : shape_in_words(terms_, place.term, {&scope_, place.module});
        found.plain = shape.values.empty() && std::ranges::all_of(shape.keys, [](const Element& key) {
                          return key.kind == ElementKind::small;
                      });
        found.count = shape.count;
        found.processes = named_processes(s_, terms_, shape);
        best_ = std::move(found);
    }

    // "key <0.124.0>", "a value": what it stands under, where that is a process or an atom.
    static Sentence value_step(const Element& key) {
        if (key.kind == ElementKind::pid) return sentence("key {}", AnyProcess{key.pid});
        if (TermReader::is_atom(key)) return sentence("key {}", Atom{std::string(key.text)});
        return Ours("a value");
    }

    // {handler, Module, Id, State, Supervised} each (gen_event.erl, R13 to 29).
    Sentence handlers_in_words(const CollectionShape& shape) {
        Sentence text = sentence("{} event handlers", Amount{shape.count});
        std::optional<std::string> module;
        for (const Element& handler : shape.keys) {
            const std::vector<Element> fields = reader_.tuple(handler, 5);
            if (fields.empty() || !TermReader::is_atom(fields[1]) || (module && *module != fields[1].text)) return text;
            module = fields[1].text;
        }
        if (module) text.say(", all of {}", Atom{*module, false});
        return text;
    }

    const Snapshot& s_;
    ProcId p_;
    TermSource& terms_;
    TermReader reader_;
    std::uint64_t least_;
    RecordScope scope_;
    std::vector<Place> places_;
    std::optional<ObjectId> handlers_;
    std::optional<LargestCollection> best_;
};

}  // namespace

NamedProcesses named_processes(const Snapshot& s, TermSource& terms, const CollectionShape& collection) {
    TermReader reader(terms);
    const bool all_known = s.source.all_processes_known();
    NamedProcesses found;
    const auto names = [&](const Element& term, bool& lives) {
        bool any = false;
        const auto look = [&](const Element& element) {
            if (element.kind != ElementKind::pid || element.pid.node != 0) return;
            any = true;
            lives |= s.find(element.pid) != ProcId::none;
        };
        look(term);
        if (reader.is_kind(term, TermKind::tuple))
            for (const Element& element : reader.tuple(term)) look(element);
        return any;
    };
    for (std::size_t i = 0; i < collection.keys.size(); ++i) {
        bool lives = false;
        const bool any =
            names(collection.keys[i], lives) || (i < collection.values.size() && names(collection.values[i], lives));
        found.named += any;
        found.ended += any && !lives && all_known;
    }
    return found;
}

std::optional<LargestCollection> largest_collection(const Snapshot& snapshot, ProcId process, TermSource& terms,
                                                    std::uint64_t least) {
    if (terms.in_part()) return std::nullopt;
    return Collections(snapshot, process, terms, least).run();
}

}  // namespace beamheap::analyses
