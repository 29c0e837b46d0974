// SPDX-License-Identifier: Apache-2.0
// Sizes of the terms of one process that is asked about, literals included, as erts_debug tells them.
//
// Each measure is found out when it is first asked for: messages are shown without knowing who holds what (dominators,
// retained words, what is reached).
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "analyses/heaps/dominators.hpp"
#include "analyses/heaps/heap_order.hpp"
#include "analyses/heaps/live_garbage.hpp"
#include "analyses/heaps/retained.hpp"
#include "analyses/heaps/sizes.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// A size for each of many (roots, parts of a heap): nearly all of them fit in 32 bits.
class ManySizes {
public:
    /// Of so many, each zero.
    void begin(std::size_t count) { sizes_.assign(count, 0); }
    void push(std::uint64_t size) {
        sizes_.push(0);
        set(sizes_.size() - 1, size);
    }
    void set(std::size_t i, std::uint64_t size) {
        sizes_[i] = size < large ? static_cast<std::uint32_t>(size) : large;
        if (size >= large) large_.insert_or_assign(i, size);
    }
    void add(std::size_t i, std::uint64_t more) { set(i, (*this)[i] + more); }
    std::uint64_t operator[](std::size_t i) const {
        if (i >= sizes_.size()) return 0;
        return sizes_[i] != large ? sizes_[i] : large_.at(i);
    }
    bool empty() const { return sizes_.empty(); }

private:
    static constexpr std::uint32_t large = 0xFFFFFFFFu;
    FlatArray<std::uint32_t> sizes_;
    std::unordered_map<std::size_t, std::uint64_t> large_;
};

class TermMeasures {
public:
    /// From so many objects on, flat sizes of all of them are not kept for the sake of a few terms.
    static constexpr std::size_t giant = std::size_t{1} << 20;
    static constexpr std::size_t small_term = 4096;  ///< objects whose sizes are added up when the term is asked for
    /// Shared sizes are told until so many objects have been looked at for them, all terms together.
    static constexpr std::uint64_t shared_budget = 200'000'000;

    /// Whoever asks about many processes of an input gives those of another one, whose source must be there still:
    /// where both refer to the same literals, these are measured once.
    explicit TermMeasures(TermSource& source, const TermMeasures* other = nullptr);
    TermMeasures(const TermMeasures&) = delete;
    TermMeasures& operator=(const TermMeasures&) = delete;

    /// erts_debug:flat_size, saturating; 0 for immediates; missing for what the input does not hold.
    Count flat_words(const Element& term);
    /// erts_debug:size; missing where the budget is spent, too.
    Count shared_words(const Element& term);
    /// What the object of the heap alone keeps alive; missing for literals, which no process keeps alive.
    Count retained_words(const Element& term);
    /// The same of what a root holds, which costs little for each of millions.
    Count root_flat_words(std::size_t root);
    /// What only the root keeps alive: words of the heap, and bytes of binaries outside that nothing else in this
    /// process refers to. Binaries that the input does not list count with the bytes that are seen of them.
    std::uint64_t root_words(std::size_t root) { return measure_roots(), root_words_[root]; }
    std::uint64_t root_binary_bytes(std::size_t root) { return measure_roots(), root_bytes_[root]; }
    /// Finds both for all roots, if they are not known yet. What that takes for each object is given back at once: who
    /// does it before other sizes are asked for has not both in memory.
    void measure_roots();

    const HeapOrder& order() const { return order_; }
    /// References that closed a cycle, in the heap and among the literals: sizes leave them out.
    std::uint64_t cut_references() const { return order_.cut() + literals_->order.cut(); }
    const FlatSizes& flat() { return find_flat(), flat_; }
    const Dominators& dominators() { return find_holders(), dominators_; }
    const RetainedSizes& retained() { return find_holders(), retained_; }
    const Reach& reach() { return find_reach(), reach_; }
    /// Words that the roots reach: retained().live_words(), without asking who holds what.
    std::uint64_t live_words();

private:
    void find_reach();
    void find_holders();
    void find_flat();
    void find_root_flat();
    void find_shared();
    std::uint64_t flat_words_of(NodeId node);
    void add_binaries(const FlatArray<std::uint32_t>& parts, std::size_t count, ManySizes& bytes);

    struct Literals {
        HeapOrder order;
        FlatSizes flat;
    };
    TermSource& source_;
    std::shared_ptr<const Literals> literals_;
    HeapOrder order_;
    FlatSizes flat_;
    SharedSizes shared_;
    bool flat_ready_ = false, root_flat_ready_ = false, shared_ready_ = false, reach_ready_ = false,
         holders_ready_ = false, roots_ready_ = false;
    Dominators dominators_;
    RetainedSizes retained_;
    Reach reach_;
    ManySizes root_flat_, root_words_, root_bytes_;
};

}  // namespace beamheap::analyses
