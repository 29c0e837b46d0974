#include "analyses/heaps/sizes.hpp"

#include <algorithm>
#include <array>

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

}  // namespace

std::uint64_t own_flat_words(const HeapGraph& graph, NodeId node) {
    const auto overrides = graph.flat_overrides();
    const auto found = std::lower_bound(overrides.begin(), overrides.end(), node,
                                        [](const HeapGraph::FlatOverride& o, NodeId n) { return o.node < n; });
    if (found != overrides.end() && found->node == node) return found->words;
    return static_cast<std::uint64_t>(graph.words(node) + graph.flat_extra(graph.kind(node)));
}

template <class Word>
bool FlatSizes::sweep(const HeapGraph& graph, const LiteralSizes* literals, FlatArray<Word>& flat) {
    const HeapOrder& order = *order_;
    const auto size = static_cast<std::uint32_t>(graph.size());
    flat.resize(size);
    bool fits = true;
    std::array<Word, term_kinds> extra{};
    for (std::size_t kind = 0; kind < term_kinds; ++kind)
        extra[kind] = static_cast<Word>(graph.flat_extra(static_cast<TermKind>(kind)));
    const std::span<const std::uint32_t> words = graph.all_words();
    const std::span<const std::uint8_t> kinds = graph.all_kinds();
    const auto own = [&](NodeId node) {
        return static_cast<Word>(words[node] + extra[static_cast<std::size_t>(HeapGraph::kind_of(kinds[node]))]);
    };
    if (order.identity())
        for (std::uint32_t at = 0; at < size; ++at) flat[at] = own(at);
    else
        for (std::uint32_t at = 0; at < size; ++at) flat[at] = own(order.node(at));
    for (const HeapGraph::FlatOverride& o : graph.flat_overrides()) flat[order.position(o.node)] = o.words;
    if (literals != nullptr && literals->graph != nullptr) {
        for (std::size_t i = 0; i < graph.foreign_size(); ++i) {
            const HeapGraph::ForeignEdge edge = graph.foreign(i);
            const NodeId literal = literals->graph->find(edge.address);
            if (literal == no_node || graph.kind(edge.from) == TermKind::sub_binary) continue;
            fits &= add(flat[order.position(edge.from)], (*literals->flat)[literal]);
        }
    }
    const std::span<const Edge> edges = order.edges();
    if (graph.has_slice_edges()) {
        for (std::size_t i = edges.size(); i-- > 0;) {
            if (graph.kind(order.node(edges[i].from)) == TermKind::sub_binary) continue;
            fits &= add(flat[edges[i].from], flat[edges[i].to]);
        }
    } else {
        for (std::size_t i = edges.size(); i-- > 0;) fits &= add(flat[edges[i].from], flat[edges[i].to]);
    }
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

void SharedSizes::Rows::build(const HeapGraph& g, bool with_foreign) {
    graph = &g;
    starts.clear_and_trim(HeapGraph::kept_bytes);
    seen.clear_and_trim(HeapGraph::kept_bytes);
    own.clear_and_trim(HeapGraph::kept_bytes);
    foreign.clear_and_trim(HeapGraph::kept_bytes);
    const std::size_t size = g.size();
    starts.assign(size + 1, 0);
    for (const Edge& edge : g.edges()) ++starts[edge.from + 1];
    for (std::size_t i = 0; i < size; ++i) starts[i + 1] += starts[i];
    seen.assign(size, 0);
    own.resize(size);
    for (NodeId node = 0; node < size; ++node)
        own[node] = static_cast<std::uint32_t>(g.words(node) + g.flat_extra(g.kind(node)));
    for (const HeapGraph::FlatOverride& o : g.flat_overrides()) own[o.node] = o.words;
    if (!with_foreign) return;
    foreign.assign(size + 1, 0);
    for (std::size_t i = 0; i < g.foreign_size(); ++i) ++foreign[g.foreign(i).from + 1];
    for (std::size_t i = 0; i < size; ++i) foreign[i + 1] += foreign[i];
}

void SharedSizes::build(const HeapGraph& graph, const HeapGraph* literals) {
    with_literals_ = literals != nullptr;
    rows_[0].build(graph, with_literals_);
    if (with_literals_) rows_[1].build(*literals, false);
    epoch_ = 0;
}

void SharedSizes::see(std::uint32_t space, NodeId node, std::uint64_t& sum) {
    Rows& rows = rows_[space];
    if (rows.seen[node] == epoch_) return;
    sum += rows.own[node];
    const TermKind kind = rows.graph->kind(node);
    // size_shared() of copy.c counts these for each binary and fun that they serve.
    if (kind == TermKind::binary_reference || kind == TermKind::fun_reference) return;
    rows.seen[node] = epoch_;
    if (kind != TermKind::sub_binary) stack_.push({space, node});
}

Count SharedSizes::search(Item first) {
    if (budget == 0) return {};
    ++epoch_;
    stack_.clear();
    std::uint64_t sum = 0;
    see(first.space, first.node, sum);
    while (!stack_.empty()) {
        if (--budget == 0) return {};
        const Item item = stack_[stack_.size() - 1];
        stack_.set_size(stack_.size() - 1);
        const Rows& rows = rows_[item.space];
        const std::span<const Edge> edges = rows.graph->edges();
        for (std::uint32_t e = rows.starts[item.node]; e < rows.starts[item.node + 1]; ++e)
            see(item.space, edges[e].to, sum);
        if (item.space != 0 || !with_literals_) continue;
        for (std::uint32_t f = rows.foreign[item.node]; f < rows.foreign[item.node + 1]; ++f) {
            const NodeId literal = rows_[1].graph->find(rows.graph->foreign(f).address);
            if (literal != no_node) see(1, literal, sum);
        }
    }
    return sum;
}

Count SharedSizes::words(NodeId node) { return search({0, node}); }

Count SharedSizes::literal_words(NodeId literal) { return search({1, literal}); }

}  // namespace beamheap::analyses
