// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/root_places.hpp"

namespace beamheap::analyses {

std::uint32_t place_of(const Root& root) {
    switch (root.kind) {
        case RootKind::stack: return root.frame == no_frame ? PlaceWords::other : root.frame;
        case RootKind::dictionary: return PlaceWords::dictionary;
        case RootKind::message:
        case RootKind::seq_trace_token: return PlaceWords::messages;
        case RootKind::garbage: return PlaceWords::nowhere;
        default: return PlaceWords::other;
    }
}

void RootPlaces::number(const HeapGraph& graph) {
    frames_.clear();
    bool has_dictionary = false, has_other = false;
    has_messages_ = false;
    for (const Root root : graph.roots()) {
        if (root.target == no_node) continue;
        const std::uint32_t place = place_of(root);
        if (place == PlaceWords::dictionary) has_dictionary = true;
        else if (place == PlaceWords::messages) has_messages_ = true;
        else if (place == PlaceWords::other) has_other = true;
        else if (place != PlaceWords::nowhere) {
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
    if (has_messages_) names_.push_back(PlaceWords::messages);
    other_ = static_cast<std::uint32_t>(names_.size());
    if (has_other) names_.push_back(PlaceWords::other);
}

std::uint32_t RootPlaces::number_of(std::uint32_t place) const {
    switch (place) {
        case PlaceWords::dictionary: return dictionary_;
        case PlaceWords::messages: return messages_;
        case PlaceWords::other: return other_;
        default: return frames_[place];
    }
}

}  // namespace beamheap::analyses
