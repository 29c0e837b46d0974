// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/live_garbage.hpp"

#include "analyses/processes/process_columns.hpp"

namespace beamheap::analyses {

void Reach::build(const HeapGraph& graph, const HeapOrder& order, const RootPlaces* places) {
    order_ = &order;
    tells_places_ = places != nullptr && places->of_process() <= most_places;
    marks_.clear_and_trim(HeapGraph::kept_bytes);
    marks_.assign(graph.size(), 0);
    for (const Root root : graph.roots()) {
        if (root.target == no_node) continue;
        std::uint8_t& mark = marks_[order.position(root.target)];
        const std::uint32_t place = place_of(root);
        if (place == PlaceWords::nowhere) {
            mark |= by_garbage;
        } else if (place == PlaceWords::messages) {
            mark |= by_messages;
        } else {
            mark |= by_process;
            if (tells_places_) mark = static_cast<std::uint8_t>(mark | 1u << (place_shift + places->bit(place)));
        }
    }
    std::uint8_t* marks = marks_.data();
    order.edges().for_each(
        [marks](Edge edge) { marks[edge.to] = static_cast<std::uint8_t>(marks[edge.to] | marks[edge.from]); });
}

LiveGarbage live_and_garbage(const Census& census, const Process& process) {
    LiveGarbage result;
    const auto live = [](std::uint8_t mark, bool young) {
        return (mark & Reach::by_process) != 0 || ((mark & Reach::by_messages) != 0 && young);
    };
    result.live_words = census.words(live);
    result.message_words = census.words(
        [&](std::uint8_t mark, bool young) { return (mark & Reach::by_messages) != 0 && !live(mark, young); });
    result.used_words = used_words(process);
    result.garbage_words = result.used_words - Count(result.live_words);
    return result;
}

}  // namespace beamheap::analyses
