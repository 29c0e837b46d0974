// SPDX-License-Identifier: Apache-2.0
// Sizes of terms in words: flat, as a copy would need (erts_debug:flat_size/1), and shared, as they are
// (erts_debug:size/1).
//
// Flat counts a shared part once per way to it, so 40 doubled cons cells have 2^41 words: one backward sweep over the
// references, flat(v) = own(v) + the flat sizes of what v refers to, saturating. Shared counts every part once: a
// marking search per term, or nothing at all where flat and retained agree (then the term is a tree that nothing else
// reaches into). Literals are not on the heap and no message copies them since OTP 19, so statistics leave them out;
// for a term that is asked about, give their sizes with `Literals`.
#pragma once

#include <cstdint>
#include <limits>

#include "analyses/heaps/heap_order.hpp"
#include "beamheap/heap_graph.hpp"
#include "beamheap/ids.hpp"

namespace beamheap::analyses {

/// The largest flat size that is told; it means "at least so much".
inline constexpr std::uint64_t saturated_words = std::numeric_limits<std::uint64_t>::max() - 1;

class FlatSizes;

/// The literals' own graph and flat sizes, to be added where objects refer to them.
struct LiteralSizes {
    const HeapGraph* graph = nullptr;
    const FlatSizes* flat = nullptr;
};

/// Flat size of each object of a graph. 32 bits per object while that is enough, else 64.
class FlatSizes {
public:
    void build(const HeapGraph& graph, const HeapOrder& order, const LiteralSizes* literals = nullptr);
    std::uint64_t operator[](NodeId node) const {
        const std::uint32_t at = order_->position(node);
        return is_wide_ ? wide_[at] : narrow_[at];
    }
    std::size_t used_bytes() const { return narrow_.used_bytes() + wide_.used_bytes(); }

private:
    template <class Word>
    bool sweep(const HeapGraph& graph, const LiteralSizes* literals, FlatArray<Word>& flat);
    const HeapOrder* order_ = nullptr;
    bool is_wide_ = false;
    FlatArray<std::uint32_t> narrow_;
    FlatArray<std::uint64_t> wide_;
};

/// What one object alone adds to the flat size, by its kind and words (see HeapGraph::flat_extra).
std::uint64_t own_flat_words(const HeapGraph& graph, NodeId node);

/// Shared sizes of terms, one search each.
class SharedSizes {
public:
    /// For searches in `graph`, and where given in the literals' graph.
    void build(const HeapGraph& graph, const HeapGraph* literals = nullptr);
    /// Words of all that `node` reaches, each object once. Missing once all searches since build() have looked at more
    /// than `budget` objects.
    Count words(NodeId node);
    /// The same for a literal.
    Count literal_words(NodeId literal);
    /// The flat size of `node`: every part as often as it is referred to. Missing where these are more than `most`
    /// objects.
    Count flat_words(NodeId node, std::size_t most);
    std::uint64_t budget = std::numeric_limits<std::uint64_t>::max();

private:
    struct Item {
        std::uint32_t space;
        NodeId node;
    };
    /// A search mostly looks at little of a heap, so what is kept for each object is little, too: where the references
    /// of every eighth begin, and `seen`, which no search touches that has come to a few objects only.
    struct Rows {
        static constexpr unsigned stride = 8;
        const HeapGraph* graph = nullptr;
        EdgeIndex references;
        FlatArray<std::uint32_t>
            foreign;  // into the graph's foreign edges, of each stride-th source; empty without literals
        FlatArray<std::uint32_t> seen;  // by node: the search that saw it last
        std::uint32_t overridden = 0;   // kinds of which some have a flat size of their own, as bits
        void build(const HeapGraph& g, bool with_foreign);
        std::uint64_t own(NodeId node) const;
    };
    static constexpr std::size_t few = 32;
    Count search(Item first);
    template <class F>
    void each_part(Item of, F f) const;
    bool was_seen(Item item) const;
    void mark_seen(Item item);
    void see(std::uint32_t space, NodeId node, std::uint64_t& sum);

    Rows rows_[2];  // the process, the literals
    bool with_literals_ = false;
    std::uint32_t epoch_ = 0;  // of the last search; never begins anew, for what is in `seen`
    FlatArray<Item> few_;      // what the search has seen, while that is few
    bool many_ = false;        // it is more: `seen` of the rows says it
    FlatArray<Item> stack_;
};

}  // namespace beamheap::analyses
