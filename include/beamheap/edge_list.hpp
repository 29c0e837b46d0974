// SPDX-License-Identifier: Apache-2.0
// References between the objects of a heap, by source, in five bytes each.
//
// A list of pairs would say for every reference what the one before it says nearly as well: where it comes from.
// Sources only grow, mostly by one or by nothing, so a byte is kept of how far each is from the one before. Whoever
// goes through the list, forwards or backwards, adds these up; who wants the references of one object asks an EdgeIndex
// where to begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include "beamheap/flat_array.hpp"

namespace beamheap {

/// An object of a graph. The largest value is "none".
using NodeId = std::uint32_t;
inline constexpr NodeId no_node = 0xFFFFFFFFu;

struct Edge {
    NodeId from;
    NodeId to;
    bool operator==(const Edge&) const = default;
};

class EdgeList {
public:
    /// Goes through a list that stays as it is. Equal to another one of the same list at the same place.
    class Iterator {
    public:
        using value_type = Edge;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;  // gives values, but may be copied and used again
        using iterator_concept = std::forward_iterator_tag;

        Iterator() = default;
        Edge operator*() const { return {from_, *target_}; }
        NodeId from() const { return from_; }
        NodeId to() const { return *target_; }
        /// Its number in the list.
        std::size_t at() const { return static_cast<std::size_t>(target_ - list_->targets_.data()); }
        Iterator& operator++() {
            ++target_;
            const std::uint8_t narrow = *++step_;
            from_ += __builtin_expect(narrow != wide_step, 1) ? narrow : list_->find_wide(at());
            return *this;
        }
        Iterator operator++(int) {
            Iterator before = *this;
            ++*this;
            return before;
        }
        bool operator==(const Iterator& other) const { return target_ == other.target_; }

    private:
        friend class EdgeList;
        friend class EdgeIndex;
        Iterator(const EdgeList& list, std::size_t at, NodeId from)
            : list_(&list), target_(list.targets_.data() + at), step_(list.steps_.data() + at), from_(from) {}
        const EdgeList* list_ = nullptr;
        const NodeId* target_ = nullptr;
        const std::uint8_t* step_ = nullptr;
        NodeId from_ = 0;
    };

    std::size_t size() const { return targets_.size(); }
    bool empty() const { return targets_.empty(); }
    Iterator begin() const { return {*this, 0, empty() ? 0 : step(0)}; }
    Iterator end() const { return {*this, size(), 0}; }
    /// What they refer to, in order.
    std::span<const NodeId> targets() const { return targets_.view(); }
    /// Calls f with each edge.
    template <class F>
    void for_each(F f) const {
        NodeId from = 0;
        const NodeId* const targets = targets_.data();
        const std::uint8_t* const steps = steps_.data();
        const std::size_t count = size();
        for (std::size_t at = 0; at < count; ++at) {
            from += __builtin_expect(steps[at] != wide_step, 1) ? steps[at] : find_wide(at);
            f(Edge{from, targets[at]});
        }
    }
    /// The same, the last one first.
    template <class F>
    void backwards(F f) const {
        NodeId from = last_from_;
        const NodeId* const targets = targets_.data();
        const std::uint8_t* const steps = steps_.data();
        for (std::size_t at = size(); at-- > 0;) {
            f(Edge{from, targets[at]});
            from -= __builtin_expect(steps[at] != wide_step, 1) ? steps[at] : find_wide(at);
        }
    }

    /// Adds an edge, whose source is not before that of the last one.
    void push(NodeId from, NodeId to) {
        steps_.reserve_more(2);
        put(targets_.size(), from);
        targets_.push(to);
        steps_.set_size(targets_.size());
    }
    /// Calls f(edge) with each in order, which gives its new target, or no_node: then the edge is not kept.
    template <class F>
    void rewrite(F f) {
        NodeId* const targets = targets_.data();
        std::uint8_t* const steps = steps_.data();
        const std::size_t size = targets_.size();
        const Wide* next = wide_.begin();
        NodeId from = 0, own = 0;
        std::size_t at = 0;
        for (; at < size; ++at) {  // up to the first that is not kept, no step changes
            own = __builtin_expect(steps[at] != wide_step, 1) ? steps[at] : (next++)->step;
            from += own;
            const NodeId to = f(Edge{from, targets[at]});
            if (to == no_node) break;
            targets[at] = to;
        }
        if (at == size) return;
        before_.clear();
        for (const Wide* wide = next; wide != wide_.end(); ++wide) before_.push(*wide);
        wide_.set_size(static_cast<std::size_t>(next - wide_.begin()) - (steps[at] == wide_step ? 1 : 0));
        next = before_.begin();
        NodeId step = own;  // from the last one that was kept
        std::size_t kept = at;
        for (++at; at < size; ++at) {
            own = __builtin_expect(steps[at] != wide_step, 1) ? steps[at] : (next++)->step;
            from += own, step += own;
            const NodeId to = f(Edge{from, targets[at]});
            if (to == no_node) continue;
            targets[kept] = to;
            steps[kept] = static_cast<std::uint8_t>(step);
            if (__builtin_expect(step >= wide_step, 0)) put_wide(kept, step);
            step = 0;
            ++kept;
        }
        last_from_ = from - step;
        targets_.set_size(kept);
        steps_.set_size(kept);
    }
    /// Takes away all edges of objects from `node` on.
    void cut_from(NodeId node) {
        std::size_t size = targets_.size();
        while (size != 0 && last_from_ >= node) last_from_ -= step(--size);
        set_size(size);
    }
    void clear_and_trim(std::size_t keep) {
        targets_.clear_and_trim(keep);
        steps_.clear_and_trim(keep);
        wide_.clear_and_trim(keep);
        before_.clear_and_trim(keep);
        last_from_ = 0;
    }
    std::size_t used_bytes() const { return targets_.used_bytes() + steps_.used_bytes() + wide_.used_bytes(); }

    /// For readers who add millions from one loop: `more` edges may be written at `targets` and `steps` from number
    /// `at` on; `last_from` is the source of the last one.
    struct Appender {
        NodeId* targets;
        std::uint8_t* steps;
        std::size_t at;
        NodeId last_from;
        EdgeList* list;

        __attribute__((always_inline)) void push(NodeId from, NodeId to) {
            const NodeId step = from - last_from;
            const std::size_t here = at++;
            last_from = from;
            targets[here] = to;
            steps[here] = static_cast<std::uint8_t>(step);
            if (__builtin_expect(step >= wide_step, 0)) list->put_wide(here, step);
        }
    };
    Appender open_appender(std::size_t more) {
        targets_.reserve_more(more);
        steps_.reserve_more(more + 1);
        return {targets_.data(), steps_.data(), targets_.size(), last_from_, this};
    }
    /// Takes over what was written.
    void close_appender(const Appender& written) {
        set_size(written.at);
        last_from_ = written.last_from;
    }

private:
    static constexpr std::uint8_t wide_step = 0xFF;
    struct Wide {
        std::size_t at;
        NodeId step;
    };

    // Behind the last step there always is room for another one, which an iterator at the end reads and does not use.
    NodeId step(std::size_t at) const {
        const std::uint8_t narrow = steps_[at];
        return __builtin_expect(narrow != wide_step, 1) ? narrow : find_wide(at);
    }
    void put(std::size_t at, NodeId from) {
        const NodeId step = from - last_from_;
        steps_.data()[at] = step < wide_step ? static_cast<std::uint8_t>(step) : wide_step;
        if (__builtin_expect(step >= wide_step, 0)) put_wide(at, step);
        last_from_ = from;
    }
    void put_wide(std::size_t at, NodeId step);
    NodeId find_wide(std::size_t at) const;
    void set_size(std::size_t size);

    FlatArray<NodeId> targets_;
    FlatArray<std::uint8_t> steps_;
    FlatArray<Wide> wide_;    // steps that need more than a byte, by `at`
    FlatArray<Wide> before_;  // those that rewrite() changes
    NodeId last_from_ = 0;
};

/// Where the edges of an object begin, in a byte for each object.
class EdgeIndex {
public:
    /// Of a list of a graph with `nodes` objects; both stay as they are.
    void build(const EdgeList& edges, std::size_t nodes);
    /// The first edge whose source is `node` or behind it.
    EdgeList::Iterator first_of(NodeId node) const {
        const Entry& entry = entries_[node / stride];
        EdgeList::Iterator edge(*edges_, entry.at, entry.from);
        while (edge != edges_->end() && edge.from() < node) ++edge;
        return edge;
    }
    /// Calls f with each object that `node` refers to, in order.
    template <class F>
    void for_each_target(NodeId node, F f) const {
        for (EdgeList::Iterator edge = first_of(node); edge != edges_->end() && edge.from() == node; ++edge)
            f(edge.to());
    }

private:
    static constexpr std::size_t stride = 8;
    struct Entry {
        std::uint32_t at;
        NodeId from;  // of the edge there
    };
    const EdgeList* edges_ = nullptr;
    FlatArray<Entry> entries_;
};

}  // namespace beamheap
