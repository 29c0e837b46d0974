// SPDX-License-Identifier: Apache-2.0
// Words held now, charged to the function whose frame holds them.
//
// Each live word is charged once: to the youngest frame that reaches it, else to the dictionary, else to the messages,
// else to the process's other roots. So the words of a process sum up to its live words (live_garbage.hpp). Where the
// process has few places, the sweep that marked what is reached (Reach) has noted them too; else one forward sweep
// finds the place of an object, the smallest of those that refer to it. What messages alone reach is live where it lies
// in the young block only: messages get what is left of the live words.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/heaps/heap_order.hpp"
#include "analyses/heaps/live_garbage.hpp"
#include "analyses/heaps/root_places.hpp"
#include "beamheap/heap_graph.hpp"

namespace beamheap::analyses {

class FrameWords {
public:
    /// Appends the places that have words, youngest frame first. `places` are those of the graph. `live_words`: of this
    /// heap, by live_and_garbage().
    void charge(const HeapGraph& graph, const HeapOrder& order, const Reach& reach, const RootPlaces& places,
                std::uint64_t live_words, std::vector<PlaceWords>& out);

private:
    void add_up_marks(const HeapGraph& graph, const Reach& reach, const RootPlaces& places);
    template <class Number>
    void sweep(const HeapGraph& graph, const HeapOrder& order, const RootPlaces& places, FlatArray<Number>& numbers);
    template <class Number>
    void add_up(const HeapGraph& graph, const HeapOrder& order, const Number* numbers, std::size_t most);

    FlatArray<std::uint8_t> few_;  // numbers of places, by position: where there are few places
    FlatArray<std::uint32_t> many_;
    std::vector<std::uint64_t> sums_;  // words, by number
};

}  // namespace beamheap::analyses
