// SPDX-License-Identifier: Apache-2.0
// Live and garbage words of a process: what its roots reach on its heaps, and the rest of what they hold.
//
// used = young block without free space and stack + old block without free space + heap fragments (from the process
// table); live = words of reachable objects that lie there; garbage = used - live. In the young block live is exact:
// the stack's bottom tells the block's addresses. Elsewhere a crash dump does not say whether an object lies in the old
// block or in a fragment of its own: what only messages reach there is taken for message fragments, which `used` does
// not count either (they are only in process_info memory). Live is a lower bound, and garbage an upper one, by what a
// dump does not show: environments of funs, binaries behind slices (up to OTP 26), x registers.
#pragma once

#include <cstdint>
#include <span>

#include "analyses/heaps/census.hpp"
#include "analyses/heaps/heap_order.hpp"
#include "analyses/heaps/root_places.hpp"
#include "beamheap/heap_graph.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct LiveGarbage {
    Count used_words;
    std::uint64_t live_words = 0;
    Count garbage_words;              ///< missing where used_words is, or is smaller than live_words
    std::uint64_t message_words = 0;  ///< reachable from messages only, outside the young block: message fragments
};

/// Marks of the places that each object is reached from; reused from process to process.
class Reach {
public:
    static constexpr std::uint8_t by_process = 1;  ///< from anything but messages
    static constexpr std::uint8_t by_messages = 2;
    static constexpr std::uint8_t by_garbage = 4;  ///< from a term that no root reaches (RootKind::garbage)
    static constexpr std::uint8_t marks = 7;       ///< all of these
    /// Above the marks of an object is a bit for each place of the process that reaches it, where `places` are so few.
    static constexpr unsigned place_shift = 3, most_places = 5;
    void build(const HeapGraph& graph, const HeapOrder& order, const RootPlaces* places = nullptr);
    std::uint8_t operator[](NodeId node) const { return marks_[order_->position(node)] & marks; }
    /// The marks of all objects, and the bits of places above them, by their positions in order().
    std::span<const std::uint8_t> all() const { return marks_.view(); }
    /// Whether the bits of places were asked for, and fitted.
    bool tells_places() const { return tells_places_; }
    const HeapOrder& order() const { return *order_; }
    /// Whether the object lies in what used_words counts, as far as can be told, and is reached.
    bool counts_as_live(const HeapGraph& graph, NodeId node) const {
        const std::uint8_t mark = (*this)[node];
        return (mark & by_process) != 0 || ((mark & by_messages) != 0 && graph.is_young(node));
    }
    /// Whether garbage alone reaches it: it will be gone after the next full collection.
    bool is_garbage(NodeId node) const { return (*this)[node] == by_garbage; }

private:
    const HeapOrder* order_ = nullptr;
    bool tells_places_ = false;
    FlatArray<std::uint8_t> marks_;
};

/// Of a process whose heap `census` has counted.
LiveGarbage live_and_garbage(const Census& census, const Process& process);

}  // namespace beamheap::analyses
