#include "analyses/heaps/frame_words.hpp"

#include <algorithm>
#include <limits>

namespace beamheap::analyses {
namespace {

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

// Places are few, though their names are of 32 bits: they are numbered in their order, so that the sweep over all
// references works on bytes.
void FrameWords::number_places(const HeapGraph& graph) {
    frames_.clear();
    bool has_dictionary = false, has_messages = false, has_other = false;
    for (const Root& root : graph.roots()) {
        if (root.target == no_node) continue;
        const std::uint32_t place = place_of(root);
        if (place == PlaceWords::dictionary) has_dictionary = true;
        else if (place == PlaceWords::messages) has_messages = true;
        else if (place == PlaceWords::other) has_other = true;
        else {
            if (frames_.size() <= place) frames_.resize(std::size_t{place} + 1);
            frames_[place] = 1;
        }
    }
    names_.clear();
    for (std::uint32_t frame = 0; frame < frames_.size(); ++frame) {
        if (frames_[frame] == 0) continue;
        frames_[frame] = static_cast<std::uint32_t>(names_.size());
        names_.push_back(frame);
    }
    dictionary_ = static_cast<std::uint32_t>(names_.size());
    if (has_dictionary) names_.push_back(PlaceWords::dictionary);
    messages_ = static_cast<std::uint32_t>(names_.size());
    if (has_messages) names_.push_back(PlaceWords::messages);
    other_ = static_cast<std::uint32_t>(names_.size());
    if (has_other) names_.push_back(PlaceWords::other);
}

std::uint32_t FrameWords::number_of(std::uint32_t place) const {
    switch (place) {
        case PlaceWords::dictionary: return dictionary_;
        case PlaceWords::messages: return messages_;
        case PlaceWords::other: return other_;
        default: return frames_[place];
    }
}

template <class Number>
void FrameWords::sweep(const HeapGraph& graph, const HeapOrder& order, const Reach& reach, FlatArray<Number>& numbers) {
    constexpr Number nowhere = std::numeric_limits<Number>::max();
    numbers.clear_and_trim(HeapGraph::kept_bytes);
    numbers.assign(graph.size(), nowhere);
    for (const Root& root : graph.roots()) {
        if (root.target == no_node) continue;
        Number& number = numbers[order.position(root.target)];
        number = std::min(number, static_cast<Number>(number_of(place_of(root))));
    }
    Number* const places = numbers.data();
    for (const Edge& edge : order.edges()) places[edge.to] = std::min(places[edge.to], places[edge.from]);
    for (std::uint32_t at = 0; at < graph.size(); ++at) {
        if (places[at] == nowhere) continue;
        const NodeId node = order.node(at);
        if (reach.counts_as_live(graph, node)) sums_[places[at]] += graph.words(node);
    }
}

void FrameWords::charge(const HeapGraph& graph, const HeapOrder& order, const Reach& reach,
                        std::vector<PlaceWords>& out) {
    number_places(graph);
    sums_.assign(names_.size(), 0);
    if (names_.size() < std::numeric_limits<std::uint8_t>::max())
        sweep(graph, order, reach, few_);
    else
        sweep(graph, order, reach, many_);
    for (std::size_t i = 0; i < names_.size(); ++i)
        if (sums_[i] != 0) out.push_back({names_[i], sums_[i]});
}

}  // namespace beamheap::analyses
