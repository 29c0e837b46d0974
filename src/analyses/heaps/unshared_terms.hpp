// SPDX-License-Identifier: Apache-2.0
// Terms that grow when they are copied: a message, a spawn's arguments or an ETS insert copies a term without its
// sharing, so what is small here may be gigabytes there ([A|A] doubled 40 times has 40 cons cells, its copy 2^40).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyses/heaps/retained.hpp"
#include "analyses/heaps/sizes.hpp"
#include "beamheap/heap_graph.hpp"
#include "beamheap/ids.hpp"

namespace beamheap::analyses {

/// A term is worth telling if its copy has so many words, and so many times its own.
inline constexpr std::uint64_t blown_words = 1'000'000;
inline constexpr std::uint64_t blown_factor = 4;

/// A root whose term is far larger flat than shared.
struct BlownTerm {
    ProcId process = ProcId::none;
    RootKind root_kind = RootKind::stack;
    std::uint64_t address = 0;       ///< of the term
    std::uint64_t flat_words = 0;    ///< of a copy; at most saturated_words
    std::uint64_t shared_words = 0;  ///< as it is now
};

/// Appends the blown terms of one process's roots, each object once. `shared` is only used to work with. What objects
/// retain is asked once, and of few processes: only where some root's copy is large.
void add_blown_terms(const HeapGraph& graph, const FlatSizes& flat,
                     const std::function<const RetainedSizes&()>& find_retained, SharedSizes& shared, ProcId process,
                     std::vector<BlownTerm>& blown);

}  // namespace beamheap::analyses
