// SPDX-License-Identifier: Apache-2.0
// What a heap's objects are and who holds them, counted in one pass: by kind, by whether they lie in the young area,
// and by what reaches them. What a heap consists of (histogram.hpp) and what of it is live (live_garbage.hpp) are sums
// of it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "analyses/heaps/heap_order.hpp"
#include "beamheap/heap_graph.hpp"

namespace beamheap::analyses {

class Reach;

class Census {
public:
    /// Counts the objects of a graph; those of an earlier one are forgotten.
    void count(const HeapGraph& graph, const Reach& reach);

    struct Sum {
        std::uint64_t objects = 0;
        std::uint64_t words = 0;
    };
    /// Calls f(kind, sum) for the objects of each kind for which `wanted(mark, young)` holds: how Reach marks them, and
    /// whether they lie in the young area. Kinds of which there are some come once for each pair of these.
    template <class Wanted, class F>
    void each(Wanted wanted, F f) const {
        for_bits(used_, [&](unsigned group) {
            if (!wanted(static_cast<std::uint8_t>(group / 2), group % 2 != 0)) return;
            for_bits(kinds_of_[group], [&](unsigned kind) { f(static_cast<TermKind>(kind), sums_[group][kind]); });
        });
    }
    /// Words of all such objects, whatever they are.
    template <class Wanted>
    std::uint64_t words(Wanted wanted) const {
        std::uint64_t result = 0;
        each(wanted, [&](TermKind, const Sum& sum) { result += sum.words; });
        return result;
    }

private:
    static constexpr std::size_t kinds = 32, marks = 8,
                                 groups = marks * 2;  // a group is a mark, and whether it is young
    static constexpr unsigned entry_bits = 8,
                              kind_bits = entry_bits - 1;  // of HeapGraph::all_kinds(): its top bit is "young"
    static_assert(term_kinds <= kinds && kinds <= std::size_t{1} << kind_bits);
    void take_over();
    template <class F>
    static void for_bits(std::uint32_t bits, F f) {
        for (; bits != 0; bits &= bits - 1) f(static_cast<unsigned>(std::countr_zero(bits)));
    }

    std::array<std::array<Sum, kinds>, groups> sums_{};
    std::uint32_t used_ = 0;  // groups that have an object, as bits: of 16 groups a heap has two or three
    std::array<std::uint32_t, groups> kinds_of_{};  // kinds of which a used group has objects, likewise
    // What is being counted, zero in between (census.cpp says why there are two).
    std::array<std::array<std::uint64_t, marks << entry_bits>, 2> counting_{};
};

}  // namespace beamheap::analyses
