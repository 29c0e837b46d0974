#include "analyses/heaps/frame_words.hpp"

#include <algorithm>
#include <cstring>
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
void FrameWords::sweep(const HeapGraph& graph, const HeapOrder& order, const Reach& reach, std::uint64_t live_words,
                       FlatArray<Number>& numbers) {
    const auto nowhere = static_cast<Number>(names_.size());
    numbers.clear_and_trim(HeapGraph::kept_bytes);
    numbers.assign(graph.size(), nowhere);
    for (const Root& root : graph.roots()) {
        if (root.target == no_node) continue;
        Number& number = numbers[order.position(root.target)];
        number = std::min(number, static_cast<Number>(number_of(place_of(root))));
    }
    Number* const places = numbers.data();
    for (const Edge& edge : order.edges()) places[edge.to] = std::min(places[edge.to], places[edge.from]);
    const std::uint32_t* const words = graph.all_words().data();
    const std::size_t size = graph.size();
    sums_.assign(names_.size() + 1, 0);
    std::uint64_t* const sums = sums_.data();
    // Neighbours mostly have the same place: then eight are added up before their sum is touched, which one by one would be waited for.
    const auto add_up = [&](auto words_at) {
        std::size_t at = 0;
        if constexpr (sizeof(Number) == 1) {
            constexpr std::uint64_t each_byte = 0x0101010101010101;
            for (; at + 8 <= size; at += 8) {
                std::uint64_t eight = 0;
                std::memcpy(&eight, places + at, sizeof eight);
                if (eight == (eight & 0xFF) * each_byte) {
                    std::uint64_t together = 0;
                    for (std::size_t i = 0; i < 8; ++i) together += words_at(at + i);
                    sums[eight & 0xFF] += together;
                } else {
                    for (std::size_t i = 0; i < 8; ++i) sums[places[at + i]] += words_at(at + i);
                }
            }
        }
        for (; at < size; ++at) sums[places[at]] += words_at(at);
    };
    if (order.identity())
        add_up([&](std::size_t at) { return words[at]; });
    else
        add_up([&](std::size_t at) { return words[order.node(static_cast<std::uint32_t>(at))]; });
    // What messages or garbage alone reach may lie where it is not counted as live; all else that is reached is.
    const auto rooted = [&](auto wanted) { return std::ranges::any_of(graph.roots(), [&](const Root& root) { return root.target != no_node && wanted(root); }); };
    if (rooted([](const Root& root) { return root.kind == RootKind::garbage; })) {
        for (std::size_t at = 0; at < size; ++at) {
            const NodeId node = order.node(static_cast<std::uint32_t>(at));
            if (places[at] != nowhere && !reach.counts_as_live(graph, node)) sums[places[at]] -= words[node];
        }
    } else if (messages_ != other_) {
        std::uint64_t others = 0;
        for (std::size_t i = 0; i < names_.size(); ++i) others += i == messages_ ? 0 : sums[i];
        sums[messages_] = live_words - others;
    }
}

void FrameWords::charge(const HeapGraph& graph, const HeapOrder& order, const Reach& reach, std::uint64_t live_words,
                        std::vector<PlaceWords>& out) {
    number_places(graph);
    if (names_.size() < std::numeric_limits<std::uint8_t>::max())
        sweep(graph, order, reach, live_words, few_);
    else
        sweep(graph, order, reach, live_words, many_);
    for (std::size_t i = 0; i < names_.size(); ++i)
        if (sums_[i] != 0) out.push_back({names_[i], sums_[i]});
}

}  // namespace beamheap::analyses
