#include "analyses/heaps/term_measures.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace beamheap::analyses {

TermMeasures::TermMeasures(TermSource& source, const TermMeasures* other) : source_(source) {
    const HeapGraph& graph = source.graph();
    LiteralSizes literals;
    if (other != nullptr && other->source_.literals() == source.literals()) {
        literals_ = other->literals_;
    } else {
        auto measured = std::make_shared<Literals>();
        if (source.literals() != nullptr) {
            measured->order.build(*source.literals());
            measured->flat.build(*source.literals(), measured->order);
        }
        literals_ = std::move(measured);
    }
    if (source.literals() != nullptr) literals = {source.literals(), &literals_->flat};
    order_.build(graph);
    flat_.build(graph, order_, &literals);
}

void TermMeasures::find_reach() {
    if (reach_ready_) return;
    reach_ready_ = true;
    reach_.build(source_.graph(), order_);
}

std::uint64_t TermMeasures::live_words() {
    find_reach();
    const std::span<const std::uint32_t> words = source_.graph().all_words();
    const std::span<const std::uint8_t> marks = reach_.all();
    std::uint64_t sum = 0;
    for (NodeId node = 0; node < words.size(); ++node) sum += marks[order_.position(node)] != 0 ? words[node] : 0;
    return sum;
}

void TermMeasures::find_holders() {
    if (holders_ready_) return;
    holders_ready_ = true;
    const HeapGraph& graph = source_.graph();
    dominators_.build(graph, order_);
    retained_.build(graph, order_, dominators_);
}

void TermMeasures::measure_roots() {
    if (roots_ready_) return;
    roots_ready_ = true;
    find_holders();
    retained_by_roots(source_.graph(), dominators_, retained_, root_words_);
    measure_binaries();
}

/// Each binary's bytes belong to the nearest object (or root) without which none of its references is reached.
void TermMeasures::measure_binaries() {
    const HeapGraph& graph = source_.graph();
    root_bytes_.assign(graph.roots().size(), 0);
    struct Use {
        std::uint64_t address;
        std::uint64_t seen;
        NodeId node;
    };
    std::vector<Use> uses;
    for (const BinaryUse& use : graph.binaries())
        if (use.base == BinaryUse::Base::binary && dominators_.reached(use.node))
            uses.push_back({use.address, use.size, use.node});
    if (uses.empty()) return;
    std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.address < b.address; });
    dominators_.build_jumps();
    FlatArray<std::uint64_t> bytes;  // by place
    bytes.assign(graph.size() + 1, 0);
    for (std::size_t i = 0; i < uses.size();) {
        std::uint32_t place = order_.position(uses[i].node) + 1;
        std::uint64_t seen = 0;
        std::size_t next = i;
        for (; next < uses.size() && uses[next].address == uses[i].address; ++next) {
            place = dominators_.nearest(place, order_.position(uses[next].node) + 1);
            seen = std::max(seen, uses[next].seen);
        }
        bytes[place] += source_.binary_size(uses[i].address).value_or(seen);
        i = next;
    }
    for (std::size_t at = graph.size(); at-- > 0;) {
        const std::uint32_t parent = dominators_.at(static_cast<std::uint32_t>(at));
        if (parent != Dominators::unreached) bytes[parent] += bytes[at + 1];
    }
    for (std::size_t i = 0; i < graph.roots().size(); ++i) {
        const NodeId target = graph.roots()[i].target;
        if (target != no_node && root_words_[i] != 0) root_bytes_[i] = bytes[order_.position(target) + 1];
    }
}

Count TermMeasures::flat_words(const Element& term) const {
    if (term.kind == ElementKind::missing || term.kind == ElementKind::unknown) return {};
    if (term.kind != ElementKind::object) return 0;
    switch (term.id.space) {
        case ObjectId::Space::heap: return flat_[term.id.number];
        case ObjectId::Space::literals: return literals_->flat[term.id.number];
        case ObjectId::Space::decoded: return {};
    }
    return {};
}

Count TermMeasures::shared_words(const Element& term) {
    if (term.kind == ElementKind::missing || term.kind == ElementKind::unknown) return {};
    if (term.kind != ElementKind::object) return 0;
    if (!shared_ready_) {
        shared_.build(source_.graph(), source_.literals());
        shared_.budget = shared_budget;
        shared_ready_ = true;
    }
    switch (term.id.space) {
        case ObjectId::Space::heap: return shared_.words(term.id.number);
        case ObjectId::Space::literals: return shared_.literal_words(term.id.number);
        case ObjectId::Space::decoded: return {};
    }
    return {};
}

Count TermMeasures::retained_words(const Element& term) {
    if (term.kind != ElementKind::object || term.id.space != ObjectId::Space::heap) return {};
    find_holders();
    return retained_[term.id.number];
}

}  // namespace beamheap::analyses
