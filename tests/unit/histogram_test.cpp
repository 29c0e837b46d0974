// SPDX-License-Identifier: Apache-2.0
// Objects by kind, of the heaps that several workers have counted.
#include "analyses/heaps/histogram.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "analyses/heaps/census.hpp"
#include "analyses/heaps/heap_order.hpp"
#include "analyses/heaps/live_garbage.hpp"
#include "beamheap/heap_graph.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

/// Of a heap with a root that holds a tuple of a float, and a cons cell that nobody holds.
Histogram counted(std::uint32_t tuple_words, bool garbage_only = false) {
    HeapGraph graph;
    graph.begin(HeapGraph::Mode::sizes, 8);
    graph.add_object(TermKind::tuple, tuple_words, 0x1000);
    graph.add_reference(0x9000);
    graph.add_object(TermKind::float_number, 2, 0x9000);
    graph.add_object(TermKind::cons, 2, 0xA000);
    graph.add_root(RootKind::stack, 0, 0, 0x1000, 0);
    graph.add_root(RootKind::garbage, 0, no_frame, 0xA000, 0);
    graph.finish();
    HeapOrder order;
    order.build(graph);
    Reach reach;
    reach.build(graph, order);
    Census census;
    census.count(graph, reach);
    Histogram histogram;
    if (garbage_only) histogram.add_garbage(census);
    else histogram.add(census);
    return histogram;
}

struct Row {
    TermKind kind;
    std::uint64_t count, words;
};
template <std::size_t n>
void check(const Histogram& histogram, const std::array<Row, n>& wanted) {
    const auto rows = histogram.rows();
    REQUIRE(rows.size() == n);
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(rows[i].kind == wanted[i].kind);
        CHECK(rows[i].count == wanted[i].count);
        CHECK(rows[i].words == wanted[i].words);
    }
}

}  // namespace

TEST_CASE("kinds of objects, most words first, and those of two heaps together") {
    Histogram both = counted(300);  // more words than a byte holds
    check(both,
          std::array<Row, 3>{{{TermKind::tuple, 1, 300}, {TermKind::cons, 1, 2}, {TermKind::float_number, 1, 2}}});
    both.add(counted(5));
    check(both,
          std::array<Row, 3>{{{TermKind::tuple, 2, 305}, {TermKind::cons, 2, 4}, {TermKind::float_number, 2, 4}}});
    check(counted(300, true), std::array<Row, 1>{{{TermKind::cons, 1, 2}}});
}
