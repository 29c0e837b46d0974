// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/accumulation.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "analyses/base/sum.hpp"
#include "analyses/heaps/dominators.hpp"
#include "analyses/heaps/heap_order.hpp"
#include "analyses/heaps/item_names.hpp"
#include "analyses/heaps/record_scope.hpp"
#include "analyses/heaps/retained.hpp"
#include "analyses/heaps/sizes.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "erlang/term_reader.hpp"
#include "erlang/term_walks.hpp"
#include "model/whole.hpp"

namespace beamheap::analyses {
namespace {

constexpr double least_of_live = 1.0 / 3;
constexpr double most_of_container = 0.7;
constexpr double most_of_record = 0.5;
constexpr std::uint64_t large_collection = 1'000;   // elements
constexpr unsigned deepest = 64;                    // steps, of which those that are alike are one
constexpr std::uint64_t nested_levels = 8;          // fewer steps that are alike are told each
constexpr std::uint64_t most_levels = 10'000;       // that are gone down: each is read from the dump's text
constexpr std::uint64_t most_elements = 4'000'000;  // looked at in all
constexpr std::size_t most_compared_entries = 200;  // of a dictionary
constexpr std::uint64_t many_entries = 100;         // of a dictionary that is told as a whole

/// How many words a term must reach to be looked into.
std::uint64_t least_words(std::uint64_t live) {
    return std::max<std::uint64_t>(whole(least_of_live * static_cast<double>(live)), 1);
}

/// Whether it is certain, from flat sizes alone, that neither the state nor a root reaches `least` words, as in a
/// process that has nothing but a long queue: then who holds what need not be found out. A term reaches no more than
/// its flat size and what objects occupy beyond theirs.
bool all_small(const HeapGraph& graph, const FlatSizes& flat, const std::optional<LoopState>& state,
               std::uint64_t least) {
    if (graph.has_slice_edges()) return false;  // which flat sizes don't follow
    std::uint64_t beyond = 0;
    for (const HeapGraph::FlatOverride& o : graph.flat_overrides())
        if (graph.words(o.node) > o.words) beyond += graph.words(o.node) - o.words;
    for (const std::uint8_t kind : graph.all_kinds())
        if (const std::int64_t extra = graph.flat_extra(HeapGraph::kind_of(kind)); extra < 0)
            beyond += static_cast<std::uint64_t>(-extra);
    if (beyond >= least) return false;
    const auto small = [&](NodeId node) { return flat[node] < least - beyond; };
    if (state && state->term.kind == ElementKind::object && state->term.id.space == ObjectId::Space::heap &&
        !small(state->term.id.number))
        return false;
    std::uint64_t dictionary = 0;
    for (const Root root : graph.roots())
        if (root.kind == RootKind::dictionary && root.target != no_node)
            dictionary = saturating_add(dictionary, flat[root.target]);
    if (dictionary >= least - beyond) return false;
    return std::ranges::all_of(graph.roots(),
                               [&](const Root& root) { return root.target == no_node || small(root.target); });
}

class Descent {
public:
    Descent(const Snapshot& snapshot, ProcId process, TermSource& terms, const HeapOrder& order,
            const Dominators& dominators, const RetainedSizes& retained)
        : s_(snapshot), p_(process), terms_(terms), order_(order), dominators_(dominators), retained_(retained) {}

    Accumulation run() {
        Accumulation found;
        found.state = loop_state(s_, p_, terms_);
        scope_ = RecordScope(s_, p_, terms_, found.state);
        module_ = scope_.module();
        const std::uint64_t live = retained_.live_words();
        const auto start = first_term(found.state, least_words(live));
        if (!start) {
            of_dictionary(found, live);
            return found;
        }
        Element at = start->element;
        std::vector<Sentence> steps;
        bool pair = start->pair;
        bool in_hash = false;
        Run run;
        for (unsigned runs = 0; run.levels < most_levels && !is_structure(terms_, at);) {
            auto next = heaviest(at, pair, in_hash);
            if (!next && !in_hash) next = collection_in(at, pair);
            if (!next) break;
            if (run.levels >= nested_levels && weight(next->element) >= weight(at))
                break;  // a circle, in damaged input
            if (run.levels == 0 || next->step.empty() || !(next->step == run.step)) {
                if (is_nested(run, at) || ++runs > deepest) break;
                add(run, steps);
                run = {at, next->step, 0};
            }
            ++run.levels;
            const TermKind kind = terms_.head(at.id).kind;
            in_hash = kind == TermKind::hash_map || kind == TermKind::hash_node;
            pair = false;
            at = next->element;
        }
        const Element end = at;
        const bool nested = is_nested(run, end);
        if (nested) at = run.begin;
        else add(run, steps);
        found.where = step_into(start->step, steps);
        found.term = at;
        found.what = shape_in_words(terms_, at, {&scope_, module_});
        if (nested) say_depth(run, end, found.what);
        found.words = within_[at.id.number];
        found.percent = live == 0 ? 0 : 100 * static_cast<double>(found.words) / static_cast<double>(live);
        return found;
    }

private:
    struct Next {
        Element element;
        Sentence step;
        bool pair = false;  // an entry of the dictionary
    };

    // Steps that are alike, one behind the other: from a term to its first item, from that to its first item ...
    struct Run {
        Element begin;  // whose element the first of them leads to
        Sentence step;
        std::uint64_t levels = 0;
    };
    // Whether what is kept lies along them, and not where they lead, as far as they were gone.
    bool is_nested(const Run& run, const Element& end) const {
        return run.levels >= most_levels ||
               (run.levels >= nested_levels &&
                static_cast<double>(weight(end)) < most_of_container * static_cast<double>(weight(run.begin)));
    }
    // How many terms of a kind lie one within the other: below where the steps ended are some that are too small to be
    // gone to.
    void say_depth(const Run& run, Element end, Sentence& what) {
        const TermKind kind = terms_.head(run.begin.id).kind;
        std::uint64_t depth = run.levels;
        while (depth < most_levels && on_heap(end) && terms_.head(end.id).kind == kind) {
            ++depth;
            const auto next = heaviest(end, false, false, 0);
            if (!next || !(next->step == run.step) || weight(next->element) >= weight(end)) break;
            end = next->element;
        }
        what.say(depth < most_levels ? Form<1>(", nested {} deep") : Form<1>(", nested more than {} deep"),
                 Amount{depth, AmountUnit::count});
    }
    static void add(const Run& run, std::vector<Sentence>& steps) {
        if (run.step.empty()) return;
        if (run.levels >= nested_levels)
            steps.push_back(sentence("{}, {} times", run.step, Amount{run.levels, AmountUnit::count}));
        else steps.insert(steps.end(), run.levels, run.step);
    }
    // The term to begin with; from then on retained_ says what is kept within it.
    std::optional<Next> first_term(const std::optional<LoopState>& state, std::uint64_t least) {
        const HeapGraph& graph = terms_.graph();
        if (state && on_heap(state->term) && reach(state->term) >= least) {
            return Next{state->term, state->several() ? Ours("its handlers") : Ours("its State")};
        }
        if (state && on_heap(state->postponed) && reach(state->postponed) >= least)
            return Next{state->postponed, Ours("its postponed events")};
        FlatArray<std::uint64_t> by_root;
        retained_by_roots(graph, dominators_, retained_, by_root);
        std::size_t root = 0;
        for (std::size_t i = 1; i < by_root.size(); ++i)
            if (by_root[i] > by_root[root]) root = i;
        if (by_root.empty()) return std::nullopt;
        if (by_root[root] < least) {
            FlatSizes flat;
            flat.build(graph, order_);
            std::uint64_t most = 0;
            for (std::size_t i = 0; i < by_root.size(); ++i) {
                const NodeId target = graph.roots()[i].target;
                if (target == no_node || flat[target] <= most) continue;
                most = flat[target];
                root = i;
            }
        }
        const Element at = terms_.root(root);
        if (!on_heap(at) || reach(at) < least) return std::nullopt;
        module_ = scope_.of_root(graph, root);
        return Next{at, root_step(s_, p_, graph.roots()[root]), graph.roots()[root].kind == RootKind::dictionary};
    }

    // Of a dictionary of many entries none reaches much; what counts is what all of them keep.
    void of_dictionary(Accumulation& found, std::uint64_t live) const {
        FlatArray<std::uint64_t> by_root;
        retained_by_roots(terms_.graph(), dominators_, retained_, by_root);
        std::uint64_t entries = 0, words = 0;
        std::vector<Element> some;
        for (std::size_t i = 0; i < by_root.size(); ++i) {
            if (terms_.graph().roots()[i].kind != RootKind::dictionary) continue;
            ++entries;
            words = saturating_add(words, by_root[i]);
            if (some.size() < most_compared_entries) some.push_back(terms_.root(i));
        }
        if (entries < many_entries || words < least_words(live)) return;
        found.where = Ours("its process dictionary");
        found.what =
            sentence("{} {}", Counted{entries, "entry", "entries"}, entries_in_words(terms_, some, {&scope_, module_}));
        const auto fresh = static_cast<std::size_t>(
            std::ranges::count_if(some, [this](const Element& entry) { return has_fresh_key(entry); }));
        found.fresh_keys = fresh * 10 >= some.size() * 9;
        found.words = words;
        found.percent = 100 * static_cast<double>(words) / static_cast<double>(live);
    }

    // Whether the key of an entry of a dictionary is a reference, or a tuple with one.
    bool has_fresh_key(const Element& entry) const {
        TermReader reader(terms_);
        const std::vector<Element> pair = reader.tuple(entry, 2);
        if (pair.empty()) return false;
        const auto is_reference = [&](const Element& e) {
            return e.kind == ElementKind::object &&
                   (reader.is_kind(e, TermKind::reference) || reader.is_kind(e, TermKind::external_reference));
        };
        if (is_reference(pair[0])) return true;
        const std::vector<Element> key = reader.tuple(pair[0]);
        return key.size() <= 8 && std::ranges::any_of(key, is_reference);
    }

    // Words that a term reaches; asks for them within it.
    std::uint64_t reach(const Element& term) {
        Dominators within;
        within.build_below(terms_.graph(), order_, term.id.number);
        const std::uint64_t live = retained_.live_words();
        within_.build(terms_.graph(), order_, within);
        return std::min(live, within_.live_words());
    }

    static bool on_heap(const Element& element) {
        return element.kind == ElementKind::object && element.id.space == ObjectId::Space::heap;
    }
    std::uint64_t weight(const Element& element) const { return on_heap(element) ? within_[element.id.number] : 0; }

    // The element that alone keeps nearly all of what `at` keeps, or this share of it; none: it is the accumulation
    // point.
    std::optional<Next> heaviest(const Element& at, bool pair, bool in_hash, double share = most_of_container) {
        const ObjectHead head = terms_.head(at.id);
        module_ = scope_.within(at.id, module_);
        const std::uint64_t least = whole(share * static_cast<double>(within_[at.id.number]));
        if (head.kind == TermKind::cons && !in_hash) return heaviest_of_list(at, least);
        ElementCursor cursor = terms_.elements(at.id);
        Element element, keys, first;
        Next best;
        std::uint64_t most = 0, place = 0, best_place = 0;
        for (std::uint64_t i = 0; terms_.next(cursor, element) && ++looked_ < most_elements; ++i) {
            if (i == 0) first = element;
            if (head.kind == TermKind::flat_map && i == 0) keys = element;
            if (const std::uint64_t words = weight(element); words > most) {
                most = words;
                best.element = element;
                best_place = place;
            }
            ++place;
        }
        if (most < least || most == 0) return std::nullopt;
        switch (head.kind) {
            case TermKind::tuple:
                best.step = pair && head.elements == 2
                                ? key_step(first)
                                : element_step(scope_.of_tuple(terms_, at.id, head, module_), best_place + 1);
                break;
            case TermKind::flat_map:
                best.step = best_place == 0 ? Ours("key ...") : key_step(terms_, keys, best_place - 1);
                break;
            case TermKind::cons: best.step = key_step(first); break;  // [Key|Value] of a large map
            case TermKind::hash_map:
            case TermKind::hash_node: break;
            case TermKind::fun:
                best.step = sentence("environment of a fun of {}", Atom{std::string(head.module), false});
                break;
            default: break;
        }
        return best;
    }

    // Of a record, or a small map, the collection that has more than all else in it: what grows, and explains more than
    // the record that it stands in.
    std::optional<Next> collection_in(const Element& at, bool pair) {
        const TermKind kind = terms_.head(at.id).kind;
        if (kind != TermKind::tuple && kind != TermKind::flat_map) return std::nullopt;
        auto next = heaviest(at, pair, false, most_of_record);
        if (!next || !on_heap(next->element)) return std::nullopt;
        const auto shape = collection_shape(terms_, next->element);
        return shape && shape->count >= large_collection ? next : std::nullopt;
    }

    std::optional<Next> heaviest_of_list(const Element& first, std::uint64_t least) {
        ListWalk cells(terms_, first);
        Element element;
        for (std::uint64_t i = 1; ++looked_ < most_elements && cells.next(element); ++i) {
            if (const std::uint64_t words = weight(element); words >= least && words != 0)
                return Next{element, item_step(terms_, element, i)};
            // What is left can't hold such a one, or is no part of this heap.
            if (!on_heap(cells.rest()) || (weight(cells.rest()) < least && weight(cells.rest()) != 0)) break;
        }
        return std::nullopt;
    }

    const Snapshot& s_;
    ProcId p_;
    TermSource& terms_;
    const HeapOrder& order_;
    const Dominators& dominators_;
    const RetainedSizes& retained_;  // by all roots
    RetainedSizes within_;           // within the term that was begun with
    RecordScope scope_;
    std::string_view module_;  // whose records are in the term that is gone into
    std::uint64_t looked_ = 0;
};

}  // namespace

Accumulation accumulation(const Snapshot& snapshot, ProcId process, TermSource& terms, TermMeasures& measures) {
    Accumulation nothing;
    nothing.state = loop_state(snapshot, process, terms);
    if (terms.in_part() || all_small(terms.graph(), measures.flat(), nothing.state, least_words(measures.live_words())))
        return nothing;
    return Descent(snapshot, process, terms, measures.order(), measures.dominators(), measures.retained()).run();
}

}  // namespace beamheap::analyses
