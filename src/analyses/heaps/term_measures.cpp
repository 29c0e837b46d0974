// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/term_measures.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace beamheap::analyses {

TermMeasures::TermMeasures(TermSource& source, const TermMeasures* other) : source_(source) {
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
    order_.build(source.graph());
}

void TermMeasures::find_flat() {
    if (flat_ready_) return;
    flat_ready_ = true;
    LiteralSizes literals;
    if (source_.literals() != nullptr) literals = {source_.literals(), &literals_->flat};
    flat_.build(source_.graph(), order_, &literals);
}

void TermMeasures::find_root_flat() {
    if (root_flat_ready_) return;
    root_flat_ready_ = true;
    const HeapGraph& graph = source_.graph();
    FlatSizes own;
    if (!flat_ready_) {
        LiteralSizes literals;
        if (source_.literals() != nullptr) literals = {source_.literals(), &literals_->flat};
        own.build(graph, order_, &literals);
    }
    const FlatSizes& flat = flat_ready_ ? flat_ : own;
    root_flat_.begin(graph.roots().size());
    for (std::size_t i = 0; i < graph.roots().size(); ++i)
        if (const NodeId target = graph.roots().target(i); target != no_node) root_flat_.set(i, flat[target]);
}

Count TermMeasures::root_flat_words(std::size_t root) {
    if (source_.graph().roots().target(root) == no_node) return flat_words(source_.root(root));
    find_root_flat();
    return root_flat_[root];
}

void TermMeasures::find_shared() {
    if (shared_ready_) return;
    shared_ready_ = true;
    shared_.build(source_.graph(), source_.literals());
    shared_.budget = shared_budget;
}

void TermMeasures::find_reach() {
    if (reach_ready_) return;
    reach_ready_ = true;
    reach_.build(source_.graph(), order_);
}

std::uint64_t TermMeasures::live_words() {
    if (holders_ready_) return retained_.live_words();
    Reach own;
    if (!reach_ready_) own.build(source_.graph(), order_);
    const HeapGraph& graph = source_.graph();
    const std::span<const std::uint8_t> marks = (reach_ready_ ? reach_ : own).all();
    std::uint64_t sum = 0;
    for (NodeId node = 0; node < graph.size(); ++node) sum += marks[order_.position(node)] != 0 ? graph.words(node) : 0;
    return sum;
}

void TermMeasures::find_holders() {
    if (holders_ready_) return;
    holders_ready_ = true;
    const HeapGraph& graph = source_.graph();
    dominators_.build(graph, order_);
    retained_.build(graph, order_, dominators_);
}

/// What a root keeps alive is all that its object dominates: one part of the heap, where a part is what has the same
/// topmost dominator below the process. So nothing is kept for each object but the number of its part, and what a giant
/// holds is told in little more memory than it takes itself.
void TermMeasures::measure_roots() {
    if (roots_ready_) return;
    roots_ready_ = true;
    constexpr std::uint32_t none = Dominators::unreached;
    const HeapGraph& graph = source_.graph();
    const auto size = static_cast<std::uint32_t>(graph.size());
    FlatArray<std::uint32_t> parts;  // by place: who dominates it, and once that was looked at, its part
    if (holders_ready_) {
        parts.resize(dominators_.all().size());
        std::ranges::copy(dominators_.all(), parts.begin());
    } else {
        Dominators dominators;
        dominators.build(graph, order_);
        parts = dominators.take();
    }
    FlatArray<std::uint32_t> tops;  // by part: the place that dominates it
    ManySizes words;
    for (std::uint32_t place = 1; place <= size; ++place) {
        const std::uint32_t above = parts[place];
        if (above == none) continue;
        if (above == Dominators::root) {
            parts[place] = static_cast<std::uint32_t>(tops.size());
            tops.push(place);
            words.push(0);
        } else {
            parts[place] = parts[above];  // who dominates stands before
        }
        words.add(parts[place], graph.words(order_.node(place - 1)));
    }
    // What another live object refers to is kept by that, too.
    FlatArray<std::uint8_t> referred;
    referred.assign(tops.size(), 0);
    for (const Edge edge : graph.edges()) {
        const std::uint32_t to = order_.position(edge.to) + 1;
        if (parts[to] != none && tops[parts[to]] == to && parts[order_.position(edge.from) + 1] != none)
            referred[parts[to]] = 1;
    }
    ManySizes bytes;
    add_binaries(parts, tops.size(), bytes);
    root_words_.begin(graph.roots().size());
    if (!bytes.empty()) root_bytes_.begin(graph.roots().size());
    for (std::size_t i = 0; i < graph.roots().size(); ++i) {
        const NodeId target = graph.roots().target(i);
        if (target == no_node) continue;
        const std::uint32_t part = parts[order_.position(target) + 1];
        if (referred[part] != 0) continue;
        root_words_.set(i, words[part]);
        if (!bytes.empty() && words[part] != 0) root_bytes_.set(i, bytes[part]);
    }
}

/// A binary's bytes belong to the part that all references to it are in. `bytes` stays empty where there are none.
void TermMeasures::add_binaries(const FlatArray<std::uint32_t>& parts, std::size_t count, ManySizes& bytes) {
    struct Use {
        std::uint64_t address;
        std::uint64_t seen;
        std::uint32_t part;
    };
    std::vector<Use> uses;
    for (const BinaryUse& use : source_.graph().binaries()) {
        const std::uint32_t part = parts[order_.position(use.node) + 1];
        if (use.base == BinaryUse::Base::binary && part != Dominators::unreached)
            uses.push_back({use.address, use.size, part});
    }
    if (uses.empty()) return;
    std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.address < b.address; });
    bytes.begin(count);
    for (std::size_t i = 0; i < uses.size();) {
        std::uint64_t seen = 0;
        bool together = true;
        std::size_t next = i;
        for (; next < uses.size() && uses[next].address == uses[i].address; ++next) {
            together = together && uses[next].part == uses[i].part;
            seen = std::max(seen, uses[next].seen);
        }
        if (together) bytes.add(uses[i].part, source_.binary_size(uses[i].address).value_or(seen));
        i = next;
    }
}

std::uint64_t TermMeasures::flat_words_of(NodeId node) {
    if (!flat_ready_ && source_.graph().size() >= giant) {
        find_shared();
        if (const Count small = shared_.flat_words(node, small_term); small.has()) return *small;
    }
    return flat()[node];
}

Count TermMeasures::flat_words(const Element& term) {
    if (term.kind == ElementKind::missing || term.kind == ElementKind::unknown) return {};
    if (term.kind != ElementKind::object) return 0;
    switch (term.id.space) {
        case ObjectId::Space::heap: return flat_words_of(term.id.number);
        case ObjectId::Space::literals: return literals_->flat[term.id.number];
        case ObjectId::Space::decoded: return {};
    }
    return {};
}

Count TermMeasures::shared_words(const Element& term) {
    if (term.kind == ElementKind::missing || term.kind == ElementKind::unknown) return {};
    if (term.kind != ElementKind::object) return 0;
    find_shared();
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
