// Words held now, charged to the function whose frame holds them.
//
// Each live word is charged once: to the youngest frame that reaches it, else to the dictionary, else to the messages,
// else to the process's other roots. One forward sweep: the place of an object is the smallest of those that refer to
// it. So the words of a process sum up to its live words (live_garbage.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/heaps/heap_order.hpp"
#include "analyses/heaps/live_garbage.hpp"
#include "beamheap/heap_graph.hpp"

namespace beamheap::analyses {

/// Words charged to one place of a process.
struct PlaceWords {
    static constexpr std::uint32_t dictionary = 0xFFFFFFFCu;
    static constexpr std::uint32_t messages = 0xFFFFFFFDu;
    static constexpr std::uint32_t other = 0xFFFFFFFEu;  ///< slots of no known frame, registers, ...
    std::uint32_t frame = other;  ///< index into the process's stack, 0 is the youngest; or one of the above
    std::uint64_t words = 0;
};

class FrameWords {
public:
    /// Appends the places that have words, youngest frame first. `live_words`: of this heap, by live_and_garbage().
    void charge(const HeapGraph& graph, const HeapOrder& order, const Reach& reach, std::uint64_t live_words,
                std::vector<PlaceWords>& out);

private:
    void number_places(const HeapGraph& graph);
    std::uint32_t number_of(std::uint32_t place) const;
    template <class Number>
    void sweep(const HeapGraph& graph, const HeapOrder& order, const Reach& reach, std::uint64_t live_words,
               FlatArray<Number>& numbers);

    FlatArray<std::uint8_t> few_;  // numbers of places, by position: where there are few places
    FlatArray<std::uint32_t> many_;
    std::vector<std::uint32_t> frames_;  // numbers of frames
    std::uint32_t dictionary_ = 0, messages_ = 0, other_ = 0;  // numbers of these
    std::vector<std::uint32_t> names_;  // of PlaceWords::frame, by number
    std::vector<std::uint64_t> sums_;   // words, by number, then of what no root reaches
};

}  // namespace beamheap::analyses
