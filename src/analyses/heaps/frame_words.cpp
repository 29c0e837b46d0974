// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/frame_words.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace beamheap::analyses {

/// Sums of the words of objects with one number, of which there are `most`.
template <class Number>
void FrameWords::add_up(const HeapGraph& graph, const HeapOrder& order, const Number* numbers, std::size_t most) {
    const std::uint8_t* const words = graph.all_words().data();
    const std::size_t size = graph.size();
    sums_.assign(most, 0);
    std::uint64_t* const sums = sums_.data();
    // Neighbours mostly have the same number: then eight are added up before their sum is touched, which one by one
    // would be waited for.
    const auto add = [&](auto words_at) {
        std::size_t at = 0;
        if constexpr (sizeof(Number) == 1) {
            constexpr std::uint64_t each_byte = 0x0101010101010101;
            for (; at + 8 <= size; at += 8) {
                std::uint64_t eight = 0;
                std::memcpy(&eight, numbers + at, sizeof eight);
                if (eight == (eight & 0xFF) * each_byte) {
                    std::uint64_t together = 0;
                    for (std::size_t i = 0; i < 8; ++i) together += words_at(at + i);
                    sums[eight & 0xFF] += together;
                } else {
                    for (std::size_t i = 0; i < 8; ++i) sums[numbers[at + i]] += words_at(at + i);
                }
            }
        }
        for (; at < size; ++at) sums[numbers[at]] += words_at(at);
    };
    if (order.identity()) add([&](std::size_t at) { return words[at]; });
    else add([&](std::size_t at) { return words[order.node(static_cast<std::uint32_t>(at))]; });
    for (const HeapGraph::WideWords& wide : graph.wide_words())
        sums[numbers[order.position(wide.node)]] += wide.words - std::uint64_t{HeapGraph::wide_entry};
}

void FrameWords::add_up_marks(const HeapGraph& graph, const Reach& reach, const RootPlaces& places) {
    constexpr std::size_t bytes = 256;
    add_up(graph, reach.order(), reach.all().data(), bytes);
    // A byte with a place is larger than the place's number: what is added to has been taken over before.
    for (std::size_t byte = 0; byte < bytes; ++byte) {
        const std::uint64_t words = std::exchange(sums_[byte], 0);
        const auto bits = static_cast<unsigned>(byte >> Reach::place_shift);
        if (bits == 0) continue;
        const std::uint32_t place = places.number_of_bit(static_cast<std::uint32_t>(std::countr_zero(bits)));
        const bool messages_first = (byte & Reach::by_messages) != 0 && place > places.messages();
        if (!messages_first) sums_[place] += words;
    }
    sums_.resize(places.size());
}

template <class Number>
void FrameWords::sweep(const HeapGraph& graph, const HeapOrder& order, const RootPlaces& places,
                       FlatArray<Number>& numbers) {
    const auto nowhere = static_cast<Number>(places.size());
    numbers.clear_and_trim(HeapGraph::kept_bytes);
    numbers.assign(graph.size(), nowhere);
    for (const Root root : graph.roots()) {
        const std::uint32_t place = place_of(root);
        if (root.target == no_node || place == PlaceWords::nowhere) continue;
        Number& number = numbers[order.position(root.target)];
        number = std::min(number, static_cast<Number>(places.number_of(place)));
    }
    Number* const all = numbers.data();
    order.edges().for_each([all](Edge edge) { all[edge.to] = std::min(all[edge.to], all[edge.from]); });
    add_up(graph, order, all, places.size() + 1);
    sums_.resize(places.size());
}

void FrameWords::charge(const HeapGraph& graph, const HeapOrder& order, const Reach& reach, const RootPlaces& places,
                        std::uint64_t live_words, std::vector<PlaceWords>& out) {
    if (places.size() == 1) sums_.assign(1, live_words);
    else if (reach.tells_places()) add_up_marks(graph, reach, places);
    else if (places.size() < std::numeric_limits<std::uint8_t>::max()) sweep(graph, order, places, few_);
    else sweep(graph, order, places, many_);
    if (places.has_messages()) {
        std::uint64_t& messages = sums_[places.messages()];
        messages = 0;
        messages = live_words - std::accumulate(sums_.begin(), sums_.end(), std::uint64_t{0});
    }
    for (std::size_t i = 0; i < places.size(); ++i)
        if (sums_[i] != 0) out.push_back({places.names()[i], sums_[i]});
}

}  // namespace beamheap::analyses
