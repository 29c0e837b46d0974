#include "analyses/heaps/frame_words.hpp"

#include <algorithm>

namespace beamheap::analyses {
namespace {

constexpr std::uint32_t nowhere = 0xFFFFFFFFu;

std::uint32_t place_of(const Root& root) {
    switch (root.kind) {
        case RootKind::stack: return root.frame == no_frame ? PlaceWords::other : root.frame;
        case RootKind::dictionary: return PlaceWords::dictionary;
        case RootKind::message:
        case RootKind::seq_trace_token: return PlaceWords::messages;
        default: return PlaceWords::other;
    }
}

}  // namespace

void FrameWords::charge(const HeapGraph& graph, const HeapOrder& order, const Reach& reach,
                        std::vector<PlaceWords>& out) {
    places_.clear_and_trim(HeapGraph::kept_bytes);
    places_.assign(graph.size(), nowhere);
    for (const Root& root : graph.roots()) {
        if (root.target == no_node) continue;
        std::uint32_t& place = places_[order.position(root.target)];
        place = std::min(place, place_of(root));
    }
    std::uint32_t* places = places_.data();
    for (const Edge& edge : order.edges()) places[edge.to] = std::min(places[edge.to], places[edge.from]);

    frames_.clear();
    std::uint64_t dictionary = 0, messages = 0, other = 0;
    for (std::uint32_t at = 0; at < graph.size(); ++at) {
        const NodeId node = order.node(at);
        if (places[at] == nowhere || !reach.counts_as_live(graph, node)) continue;
        const std::uint64_t words = graph.words(node);
        if (places[at] == PlaceWords::dictionary) dictionary += words;
        else if (places[at] == PlaceWords::messages) messages += words;
        else if (places[at] == PlaceWords::other) other += words;
        else {
            if (frames_.size() <= places[at]) frames_.resize(std::size_t{places[at]} + 1);
            frames_[places[at]] += words;
        }
    }
    for (std::size_t frame = 0; frame < frames_.size(); ++frame)
        if (frames_[frame] != 0) out.push_back({static_cast<std::uint32_t>(frame), frames_[frame]});
    if (dictionary != 0) out.push_back({PlaceWords::dictionary, dictionary});
    if (messages != 0) out.push_back({PlaceWords::messages, messages});
    if (other != 0) out.push_back({PlaceWords::other, other});
}

}  // namespace beamheap::analyses
