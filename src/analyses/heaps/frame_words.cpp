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
void FrameWords::sweep(const HeapGraph& graph, const HeapOrder& order, const Reach& reach, std::uint64_t live_words,
                       FlatArray<Number>& numbers) {
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
    const std::uint32_t* const words = graph.all_words().data();
    std::uint64_t* const sums = sums_.data();
    const std::size_t size = graph.size();
    // What no root reaches is summed up, too, behind all places: a sum is cheaper than a question.
    const auto slot = [&](std::size_t at) -> std::size_t {
        if constexpr (sizeof(Number) == 1) return places[at];
        return std::min<std::size_t>(places[at], sums_.size() - 1);
    };
    // Neighbours mostly have the same place: their words are added up before they go there.
    std::size_t run = 0;
    std::uint64_t in_run = 0;
    const auto add = [&](std::size_t at, std::uint32_t own) {
        if (const std::size_t to = slot(at); to != run) {
            sums[run] += in_run;
            in_run = 0;
            run = to;
        }
        in_run += own;
    };
    if (order.identity()) {
        for (std::size_t at = 0; at < size; ++at) add(at, words[at]);
    } else {
        for (std::size_t at = 0; at < size; ++at) add(at, words[order.node(static_cast<std::uint32_t>(at))]);
    }
    sums[run] += in_run;
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
    sums_.assign(std::max<std::size_t>(names_.size(), std::numeric_limits<std::uint8_t>::max()) + 1, 0);
    if (names_.size() < std::numeric_limits<std::uint8_t>::max())
        sweep(graph, order, reach, live_words, few_);
    else
        sweep(graph, order, reach, live_words, many_);
    for (std::size_t i = 0; i < names_.size(); ++i)
        if (sums_[i] != 0) out.push_back({names_[i], sums_[i]});
}

}  // namespace beamheap::analyses
