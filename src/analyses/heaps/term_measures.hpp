// Sizes of the terms of one process that is asked about, literals included, as erts_debug tells them.
//
// Each measure is found out when it is first asked for: messages are shown without knowing who holds what (dominators,
// retained words, what is reached).
#pragma once

#include <cstdint>
#include <memory>

#include "analyses/heaps/dominators.hpp"
#include "analyses/heaps/heap_order.hpp"
#include "analyses/heaps/live_garbage.hpp"
#include "analyses/heaps/retained.hpp"
#include "analyses/heaps/sizes.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

class TermMeasures {
public:
    /// Shared sizes are told until so many objects have been looked at for them, all terms together.
    static constexpr std::uint64_t shared_budget = 200'000'000;

    /// Whoever asks about many processes of an input gives those of another one, whose source must be there still: where both
    /// refer to the same literals, these are measured once.
    explicit TermMeasures(TermSource& source, const TermMeasures* other = nullptr);
    TermMeasures(const TermMeasures&) = delete;
    TermMeasures& operator=(const TermMeasures&) = delete;

    /// erts_debug:flat_size, saturating; 0 for immediates; missing for what the input does not hold.
    Count flat_words(const Element& term);
    /// erts_debug:size; missing where the budget is spent, too.
    Count shared_words(const Element& term);
    /// What the object of the heap alone keeps alive; missing for literals, which no process keeps alive.
    Count retained_words(const Element& term);
    /// What only the root keeps alive: words of the heap, and bytes of binaries outside that nothing else in this
    /// process refers to. Binaries that the input does not list count with the bytes that are seen of them.
    std::uint64_t root_words(std::size_t root) { return measure_roots(), root_words_[root]; }
    std::uint64_t root_binary_bytes(std::size_t root) { return measure_roots(), root_bytes_[root]; }
    /// Finds both for all roots, if they are not known yet. What that takes for each object is given back at once: who does
    /// it before other sizes are asked for has not both in memory.
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
    void add_binaries(const FlatArray<std::uint32_t>& parts, std::size_t count, FlatArray<std::uint64_t>& bytes);

    struct Literals {
        HeapOrder order;
        FlatSizes flat;
    };
    TermSource& source_;
    std::shared_ptr<const Literals> literals_;
    HeapOrder order_;
    FlatSizes flat_;
    SharedSizes shared_;
    bool flat_ready_ = false, shared_ready_ = false, reach_ready_ = false, holders_ready_ = false, roots_ready_ = false;
    Dominators dominators_;
    RetainedSizes retained_;
    Reach reach_;
    FlatArray<std::uint64_t> root_words_;
    FlatArray<std::uint64_t> root_bytes_;
};

}  // namespace beamheap::analyses
