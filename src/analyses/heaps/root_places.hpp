// SPDX-License-Identifier: Apache-2.0
// The places of a process that hold its terms: frames of its stack, its dictionary, its messages, its other roots.
#pragma once

#include <cstdint>
#include <vector>

#include "beamheap/heap_graph.hpp"

namespace beamheap::analyses {

/// Words charged to one place of a process.
struct PlaceWords {
    static constexpr std::uint32_t dictionary = 0xFFFFFFFBu;
    static constexpr std::uint32_t messages = 0xFFFFFFFCu;
    static constexpr std::uint32_t other = 0xFFFFFFFDu;    ///< slots of no known frame, registers, ...
    static constexpr std::uint32_t nowhere = 0xFFFFFFFEu;  ///< what no root reaches (RootKind::garbage)
    std::uint32_t frame =
        other;  ///< index into the process's stack, 0 is the youngest; or one of the above but nowhere
    std::uint64_t words = 0;
};

/// As PlaceWords::frame, or PlaceWords::nowhere.
std::uint32_t place_of(const Root& root);

/// The places from which a graph has roots, numbered in their order: places are few, though their names are of 32 bits.
class RootPlaces {
public:
    void number(const HeapGraph& graph);
    std::size_t size() const { return names_.size(); }
    /// Of PlaceWords::frame, by number.
    const std::vector<std::uint32_t>& names() const { return names_; }
    /// Of a place that has a root.
    std::uint32_t number_of(std::uint32_t place) const;
    bool has_messages() const { return has_messages_; }
    std::uint32_t messages() const { return messages_; }

    /// How many of them are not the messages.
    std::size_t of_process() const { return names_.size() - (has_messages_ ? 1 : 0); }
    /// The number of a place among those, and back to its number among all.
    std::uint32_t bit(std::uint32_t place) const {
        return number_of(place) - (place == PlaceWords::other && has_messages_ ? 1 : 0);
    }
    std::uint32_t number_of_bit(std::uint32_t bit) const { return bit + (has_messages_ && bit >= messages_ ? 1 : 0); }

private:
    std::vector<std::uint32_t> frames_;  // numbers of frames
    std::vector<std::uint32_t> names_;
    std::uint32_t dictionary_ = 0, messages_ = 0, other_ = 0;  // numbers of these
    bool has_messages_ = false;
};

}  // namespace beamheap::analyses
