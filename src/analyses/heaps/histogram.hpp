// SPDX-License-Identifier: Apache-2.0
// What a heap consists of: objects and words by kind.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyses/heaps/census.hpp"
#include "beamheap/heap_graph.hpp"

namespace beamheap::analyses {

struct KindShare {
    TermKind kind = TermKind::unknown;
    std::uint64_t count = 0;
    std::uint64_t words = 0;
};

class Histogram {
public:
    /// All objects that were counted.
    void add(const Census& census);
    void add(const Histogram& other);
    /// Only those that garbage alone reaches.
    void add_garbage(const Census& census);
    /// Kinds that occur, most words first.
    std::vector<KindShare> rows() const;

private:
    template <class Wanted>
    void add_some(const Census& census, Wanted wanted);

    std::array<std::uint64_t, term_kinds> count_{};
    std::array<std::uint64_t, term_kinds> words_{};
};

}  // namespace beamheap::analyses
