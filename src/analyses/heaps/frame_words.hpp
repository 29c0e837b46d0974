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
    /// Appends the places that have words, youngest frame first.
    void charge(const HeapGraph& graph, const HeapOrder& order, const Reach& reach, std::vector<PlaceWords>& out);

private:
    FlatArray<std::uint32_t> places_;  // by position
    std::vector<std::uint64_t> frames_;
};

}  // namespace beamheap::analyses
