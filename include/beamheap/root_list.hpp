// SPDX-License-Identifier: Apache-2.0
// Where a process holds on to terms, in little more than four bytes a root.
//
// Roots come in runs: the messages of a queue, the slots of a frame, the entries of a dictionary differ by their number
// alone. So what all roots of a run have in common is kept once, and of each only what it refers to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "beamheap/edge_list.hpp"
#include "beamheap/flat_array.hpp"

namespace beamheap {

enum class RootKind : std::uint8_t {
    stack,
    dictionary,
    message,
    seq_trace_token,  ///< of a message; of the process itself where the index is no_frame
    x_register,
    group_leader,
    exception,
    literal,
    garbage,
    table_object,  ///< of an ETS table
};
/// "stack", "dictionary", "message", ...
std::string_view name_of(RootKind kind);

inline constexpr std::uint32_t no_frame = 0xFFFFFFFFu;

/// Where a process holds on to a term.
struct Root {
    NodeId target = no_node;  ///< none: an immediate, or an object that the graph does not hold
    RootKind kind = RootKind::stack;
    std::uint32_t index = 0;  ///< y register, x register, message (0 is the oldest), dictionary entry
    std::uint32_t frame = 0;  ///< stack: index into Process::stack, 0 is the youngest; no_frame: of none
    bool operator==(const Root&) const = default;
};

class RootList {
    struct Run {
        std::uint32_t first;  // number of its first root
        std::uint32_t index;  // of that; of each further one it is one more
        std::uint32_t frame;
        RootKind kind;
    };

public:
    class Iterator {
    public:
        using value_type = Root;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;  // gives values, but may be copied and used again
        using iterator_concept = std::forward_iterator_tag;

        Iterator() = default;
        Root operator*() const { return list_->root(at_, list_->runs_[run_]); }
        Iterator& operator++() {
            ++at_;
            if (run_ + 1 < list_->runs_.size() && at_ == list_->runs_[run_ + 1].first) ++run_;
            return *this;
        }
        Iterator operator++(int) {
            Iterator before = *this;
            ++*this;
            return before;
        }
        bool operator==(const Iterator& other) const { return at_ == other.at_; }
        /// Its number.
        std::size_t at() const { return at_; }

    private:
        friend class RootList;
        Iterator(const RootList* list, std::uint32_t at) : list_(list), at_(at) {}
        const RootList* list_ = nullptr;
        std::uint32_t at_ = 0;
        std::uint32_t run_ = 0;
    };

    std::size_t size() const { return targets_.size(); }
    bool empty() const { return targets_.empty(); }
    Iterator begin() const { return {this, 0}; }
    Iterator end() const { return {this, static_cast<std::uint32_t>(size())}; }
    /// O(log runs).
    Root operator[](std::size_t i) const { return root(i, *run_of(i)); }
    NodeId target(std::size_t i) const { return targets_[i]; }

    void push(const Root& root) {
        const auto at = static_cast<std::uint32_t>(targets_.size());
        const Run* const last = runs_.empty() ? nullptr : &runs_[runs_.size() - 1];
        if (last == nullptr || last->kind != root.kind || last->frame != root.frame ||
            last->index + (at - last->first) != root.index)
            runs_.push({at, root.index, root.frame, root.kind});
        targets_.push(root.target);
    }
    /// Takes away those from number `size` on.
    void cut(std::size_t size) {
        targets_.set_size(std::min(size, targets_.size()));
        while (!runs_.empty() && runs_[runs_.size() - 1].first >= size) runs_.set_size(runs_.size() - 1);
    }
    /// Keeps those for which f(target) is true, which may change the target; called with each in order.
    template <class F>
    void keep_if(F f) {
        NodeId* const targets = targets_.data();
        std::size_t at = 0;
        while (at < targets_.size() && f(targets[at])) ++at;
        if (at == targets_.size()) return;
        before_.clear();
        for (const Run& run : runs_) before_.push(run);
        const std::size_t end = targets_.size();
        const Run* run = before_.begin();
        while (run + 1 != before_.end() && run[1].first <= at) ++run;
        cut(at);
        for (++at; at < end; ++at) {
            if (run + 1 != before_.end() && run[1].first == at) ++run;
            NodeId target = targets[at];
            if (f(target))
                push({target, run->kind, run->index + (static_cast<std::uint32_t>(at) - run->first), run->frame});
        }
    }
    /// Adds to the frames of all roots on the stack that are of one.
    void move_frames(std::uint32_t by) {
        for (Run& run : runs_)
            if (run.kind == RootKind::stack && run.frame != no_frame) run.frame += by;
    }
    void clear_and_trim(std::size_t keep) {
        targets_.clear_and_trim(keep);
        runs_.clear_and_trim(keep);
        before_.clear_and_trim(keep);
    }
    std::size_t used_bytes() const { return targets_.used_bytes() + runs_.used_bytes(); }

private:
    Root root(std::size_t i, const Run& run) const {
        return {targets_[i], run.kind, run.index + (static_cast<std::uint32_t>(i) - run.first), run.frame};
    }
    const Run* run_of(std::size_t i) const {
        if (runs_.size() == 1 || i < runs_[1].first) return runs_.begin();  // of a queue, which comes first
        const Run* const behind = std::upper_bound(runs_.begin(), runs_.end(), i,
                                                   [](std::size_t n, const Run& run) { return n < run.first; });
        return behind - 1;
    }

    FlatArray<NodeId> targets_;
    FlatArray<Run> runs_;
    FlatArray<Run> before_;  // what keep_if() changes
};

}  // namespace beamheap
