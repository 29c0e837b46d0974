// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/sizes.hpp"

#include <algorithm>
#include <cstring>

namespace beamheap::analyses {
namespace {

template <class Word>
bool add(Word& to, std::uint64_t words) {
    if constexpr (sizeof(Word) == 8) {
        const bool over = __builtin_add_overflow(to, words, &to) || to > saturated_words;
        if (over) to = saturated_words;
        return true;
    } else {
        return !__builtin_add_overflow(to, words, &to);
    }
}

/// What an object of its kind and words adds to a flat size.
std::uint64_t own_words(const HeapGraph& graph, NodeId node) {
    return static_cast<std::uint64_t>(graph.words(node) + graph.flat_extra(graph.kind(node)));
}

/// Makes own words of words: adds what a copy of their kind has beyond them. Few kinds have any, and few objects are of
/// those.
template <class Word>
void add_extra_words(const HeapGraph& graph, FlatArray<Word>& own) {
    const std::span<const std::uint8_t> entries = graph.all_kinds();
    for (std::size_t kind = 0; kind < term_kinds; ++kind) {
        const std::int64_t extra = graph.flat_extra(static_cast<TermKind>(kind));
        if (extra == 0) continue;
        for (const std::uint8_t entry : HeapGraph::entries_of(static_cast<TermKind>(kind))) {
            const std::uint8_t* at = entries.data();
            const std::uint8_t* const end = at + entries.size();
            while (at != end && (at = static_cast<const std::uint8_t*>(
                                     std::memchr(at, entry, static_cast<std::size_t>(end - at)))) != nullptr) {
                own[static_cast<std::size_t>(at - entries.data())] += static_cast<Word>(extra);
                ++at;
            }
        }
    }
}

}  // namespace

std::uint64_t own_flat_words(const HeapGraph& graph, NodeId node) {
    const auto overrides = graph.flat_overrides();
    const auto found = std::lower_bound(overrides.begin(), overrides.end(), node,
                                        [](const HeapGraph::FlatOverride& o, NodeId n) { return o.node < n; });
    if (found != overrides.end() && found->node == node) return found->words;
    return own_words(graph, node);
}

template <class Word>
bool FlatSizes::sweep(const HeapGraph& graph, const LiteralSizes* literals, FlatArray<Word>& flat) {
    const HeapOrder& order = *order_;
    const auto size = static_cast<std::uint32_t>(graph.size());
    flat.resize(size);
    bool fits = true;
    const std::span<const std::uint8_t> words = graph.all_words();
    if (order.identity()) {
        std::copy(words.begin(), words.end(), flat.begin());
        for (const HeapGraph::WideWords& wide : graph.wide_words()) flat[wide.node] = wide.words;
        add_extra_words(graph, flat);
    } else {
        for (std::uint32_t at = 0; at < size; ++at) flat[at] = static_cast<Word>(own_words(graph, order.node(at)));
    }
    for (const HeapGraph::FlatOverride& o : graph.flat_overrides()) flat[order.position(o.node)] = o.words;
    if (literals != nullptr && literals->graph != nullptr) {
        for (std::size_t i = 0; i < graph.foreign_size(); ++i) {
            const HeapGraph::ForeignEdge edge = graph.foreign(i);
            const NodeId literal = literals->graph->find(edge.address);
            if (literal == no_node || graph.kind(edge.from) == TermKind::sub_binary) continue;
            fits &= add(flat[order.position(edge.from)], (*literals->flat)[literal]);
        }
    }
    Word* const sums = flat.data();
    if (graph.has_slice_edges())
        order.edges().backwards([&](Edge edge) {
            if (graph.kind(order.node(edge.from)) != TermKind::sub_binary) fits &= add(sums[edge.from], sums[edge.to]);
        });
    else order.edges().backwards([&](Edge edge) { fits &= add(sums[edge.from], sums[edge.to]); });
    return fits;
}

void FlatSizes::build(const HeapGraph& graph, const HeapOrder& order, const LiteralSizes* literals) {
    order_ = &order;
    narrow_.clear_and_trim(HeapGraph::kept_bytes);
    wide_.clear_and_trim(HeapGraph::kept_bytes);
    is_wide_ = !sweep(graph, literals, narrow_);
    if (!is_wide_) return;
    narrow_.clear_and_trim(0);
    sweep(graph, literals, wide_);
}

namespace {

/// Of a graph's foreign edges, the first of each stride-th of its objects.
void index_foreign(FlatArray<std::uint32_t>& starts, const HeapGraph& graph, unsigned stride) {
    starts.resize(graph.size() / stride + 1);
    std::uint32_t edge = 0;
    for (std::size_t block = 0; block < starts.size(); ++block) {
        while (edge < graph.foreign_size() && graph.foreign(edge).from < block * stride) ++edge;
        starts[block] = edge;
    }
}

}  // namespace

void SharedSizes::Rows::build(const HeapGraph& g, bool with_foreign) {
    graph = &g;
    seen.clear_and_trim(HeapGraph::kept_bytes);
    foreign.clear_and_trim(HeapGraph::kept_bytes);
    references.build(g.edges(), g.size());
    if (with_foreign) index_foreign(foreign, g, stride);
    seen.resize_zeroed_by_caller(g.size());  // or what searches of earlier numbers left there
    overridden = 0;
    for (const HeapGraph::FlatOverride& o : g.flat_overrides())
        overridden |= 1u << static_cast<unsigned>(g.kind(o.node));
}

std::uint64_t SharedSizes::Rows::own(NodeId node) const {
    static_assert(term_kinds <= 32);
    const TermKind kind = graph->kind(node);
    if ((overridden >> static_cast<unsigned>(kind) & 1) != 0) return own_flat_words(*graph, node);
    return static_cast<std::uint32_t>(graph->words(node) + graph->flat_extra(kind));
}

void SharedSizes::build(const HeapGraph& graph, const HeapGraph* literals) {
    with_literals_ = literals != nullptr;
    rows_[0].build(graph, with_literals_);
    if (with_literals_) rows_[1].build(*literals, false);
}

bool SharedSizes::was_seen(Item item) const {
    if (many_) return rows_[item.space].seen[item.node] == epoch_;
    return std::ranges::any_of(few_.view(),
                               [item](const Item& each) { return each.node == item.node && each.space == item.space; });
}

void SharedSizes::mark_seen(Item item) {
    if (!many_ && few_.size() < few) return few_.push(item);
    if (!many_)
        for (const Item& each : few_.view()) rows_[each.space].seen[each.node] = epoch_;
    many_ = true;
    rows_[item.space].seen[item.node] = epoch_;
}

void SharedSizes::see(std::uint32_t space, NodeId node, std::uint64_t& sum) {
    const Rows& rows = rows_[space];
    if (was_seen({space, node})) return;
    sum += rows.own(node);
    const TermKind kind = rows.graph->kind(node);
    // size_shared() of copy.c counts these for each binary and fun that they serve.
    if (kind == TermKind::binary_reference || kind == TermKind::fun_reference) return;
    mark_seen({space, node});
    if (kind != TermKind::sub_binary) stack_.push({space, node});
}

/// Calls f(space, node) with each object that `of` refers to, in the heap and among the literals.
template <class F>
void SharedSizes::each_part(Item of, F f) const {
    const Rows& rows = rows_[of.space];
    rows.references.for_each_target(of.node, [&](NodeId to) { f(of.space, to); });
    if (of.space != 0 || !with_literals_) return;
    const std::size_t foreign = rows.graph->foreign_size();
    std::size_t at = rows.foreign[of.node / Rows::stride];
    while (at < foreign && rows.graph->foreign(at).from < of.node) ++at;
    for (; at < foreign && rows.graph->foreign(at).from == of.node; ++at)
        if (const NodeId literal = rows_[1].graph->find(rows.graph->foreign(at).address); literal != no_node)
            f(1u, literal);
}

Count SharedSizes::search(Item first) {
    if (budget == 0) return {};
    ++epoch_;
    few_.clear();
    many_ = false;
    stack_.clear();
    std::uint64_t sum = 0;
    see(first.space, first.node, sum);
    while (!stack_.empty()) {
        if (--budget == 0) return {};
        const Item item = stack_[stack_.size() - 1];
        stack_.set_size(stack_.size() - 1);
        each_part(item, [&](std::uint32_t space, NodeId node) { see(space, node, sum); });
    }
    return sum;
}

Count SharedSizes::words(NodeId node) { return search({0, node}); }

Count SharedSizes::literal_words(NodeId literal) { return search({1, literal}); }

Count SharedSizes::flat_words(NodeId node, std::size_t most) {
    std::uint64_t sum = 0;
    std::size_t objects = 0;
    stack_.clear();
    const auto see = [&](std::uint32_t space, NodeId each) {
        ++objects;
        sum += rows_[space].own(each);
        if (rows_[space].graph->kind(each) != TermKind::sub_binary) stack_.push({space, each});
    };
    see(0, node);
    while (!stack_.empty() && objects <= most) {
        const Item item = stack_[stack_.size() - 1];
        stack_.set_size(stack_.size() - 1);
        each_part(item, see);
    }
    return objects <= most ? Count(sum) : Count();
}

}  // namespace beamheap::analyses
