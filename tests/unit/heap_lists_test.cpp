// SPDX-License-Identifier: Apache-2.0
// The lists that a heap's graph is made of, against plain vectors: references, roots and places in a byte or two each.
#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "beamheap/heap_graph.hpp"

using namespace beamheap;

namespace {

std::uint32_t any_below(std::uint32_t most) { return *rc::gen::inRange<std::uint32_t>(0, most); }

/// Steps of all sizes, around what a byte holds above all.
std::uint32_t any_step() {
    switch (any_below(6)) {
        case 0: return 0;
        case 1: return 254 + any_below(3);
        case 2: return any_below(100'000);
        default: return any_below(3);
    }
}

std::vector<Edge> any_edges() {
    std::vector<Edge> edges;
    NodeId from = 0;
    for (std::uint32_t left = any_below(60); left != 0; --left) {
        from += any_step();
        edges.push_back({from, any_below(1000)});
    }
    return edges;
}

void check(const EdgeList& list, const std::vector<Edge>& edges) {
    RC_ASSERT(list.size() == edges.size());
    RC_ASSERT(list.empty() == edges.empty());
    RC_ASSERT(std::ranges::equal(list, edges));
    std::vector<Edge> seen;
    list.for_each([&](Edge edge) { seen.push_back(edge); });
    RC_ASSERT(seen == edges);
    seen.clear();
    list.backwards([&](Edge edge) { seen.push_back(edge); });
    std::ranges::reverse(seen);
    RC_ASSERT(seen == edges);
    const NodeId nodes = edges.empty() ? 20 : edges.back().from + 20;
    EdgeIndex index;
    index.build(list, nodes);
    for (NodeId node = 0; node < nodes; node += 1 + nodes / 200) {
        std::vector<NodeId> targets, wanted;
        index.for_each_target(node, [&](NodeId to) { targets.push_back(to); });
        for (const Edge& edge : edges)
            if (edge.from == node) wanted.push_back(edge.to);
        RC_ASSERT(targets == wanted);
    }
    for (const Edge& each : edges) {
        const EdgeList::Iterator first = index.first_of(each.from);
        RC_ASSERT(edges[first.at()].from == each.from);
    }
}

EdgeList list_of(const std::vector<Edge>& edges) {
    EdgeList list;
    for (const Edge& edge : edges) list.push(edge.from, edge.to);
    return list;
}

}  // namespace

TEST_CASE("references are those that were added, forwards, backwards and by object") {
    rc::prop("pushed one by one", [] {
        const std::vector<Edge> edges = any_edges();
        check(list_of(edges), edges);
    });
    rc::prop("written through an appender, with lines that are not taken in between", [] {
        const std::vector<Edge> edges = any_edges();
        EdgeList list;
        NodeId node = 0;
        for (std::size_t next = 0; next < edges.size();) {
            EdgeList::Appender to = list.open_appender(200);
            for (std::uint32_t left = 1 + any_below(8); left != 0 && next < edges.size(); --left) {
                node = edges[next].from;
                for (; next < edges.size() && edges[next].from == node; ++next) to.push(node, edges[next].to);
                ++node;
            }
            for (std::uint32_t damaged = any_below(3); damaged != 0; --damaged)
                to.push(node, 7);  // of a line that is read again
            list.close_appender(to);
            list.cut_from(node);
        }
        check(list, edges);
    });
}

TEST_CASE("references are rewritten and cut off") {
    rc::prop("some are dropped, others get another target", [] {
        const std::vector<Edge> edges = any_edges();
        EdgeList list = list_of(edges);
        for (std::uint32_t rounds = 1 + any_below(2); rounds != 0; --rounds) {
            const std::uint32_t dropped = 1 + any_below(4);
            std::vector<Edge> kept;
            for (const Edge& edge : list)
                if (edge.to % dropped != 0) kept.push_back({edge.from, edge.to + 1});
            list.rewrite([&](Edge edge) { return edge.to % dropped != 0 ? edge.to + 1 : no_node; });
            check(list, kept);
            if (kept.empty()) continue;
            list.push(kept.back().from + 300, 5);  // goes on behind what is kept
            kept.push_back({kept.back().from + 300, 5});
            check(list, kept);
        }
    });
    rc::prop("those of the last objects", [] {
        std::vector<Edge> edges = any_edges();
        EdgeList list = list_of(edges);
        const NodeId from = edges.empty() ? 3 : edges[any_below(static_cast<std::uint32_t>(edges.size()))].from;
        list.cut_from(from);
        std::erase_if(edges, [&](const Edge& edge) { return edge.from >= from; });
        check(list, edges);
        list.push(from + 255, 1);
        edges.push_back({from + 255, 1});
        check(list, edges);
        list.clear_and_trim(0);
        check(list, {});
    });
}

TEST_CASE("places in a text are found again") {
    rc::prop("near, far and back, before and after some were taken away", [] {
        OffsetList list;
        std::vector<std::uint64_t> places;
        std::uint64_t place = std::uint64_t{any_below(2)} << 40;
        for (std::uint32_t rounds = 1 + any_below(3); rounds != 0; --rounds) {
            for (std::uint32_t left = any_below(60); left != 0; --left) {
                place = any_below(30) == 0 ? any_below(1000) : place + any_step();
                places.push_back(place);
                list.push(place);
            }
            RC_ASSERT(list.size() == places.size());
            for (std::size_t i = 0; i < places.size(); ++i) RC_ASSERT(list[i] == places[i]);
            places.resize(any_below(static_cast<std::uint32_t>(places.size()) + 1));
            list.cut(places.size());
            RC_ASSERT(list.size() == places.size());
            for (std::size_t i = 0; i < places.size(); ++i) RC_ASSERT(list[i] == places[i]);
        }
    });
}

TEST_CASE("roots are those that were added, in runs or not") {
    rc::prop("by number, in order, cut off, with some dropped", [] {
        RootList list;
        std::vector<Root> roots;
        std::uint32_t index = 0;
        for (std::uint32_t left = any_below(60); left != 0; --left) {
            index = any_below(5) == 0 ? any_below(3) : index + 1;
            const auto kind = any_below(8) == 0 ? RootKind::stack : RootKind::message;
            const std::uint32_t frame = any_below(9) == 0 ? no_frame : any_below(9) == 0 ? 1 : 0;
            roots.push_back({any_below(50), kind, index, frame});
            list.push(roots.back());
        }
        const auto same = [&] {
            RC_ASSERT(list.size() == roots.size());
            RC_ASSERT(std::ranges::equal(list, roots));
            for (std::size_t i = 0; i < roots.size(); ++i) {
                RC_ASSERT(list[i] == roots[i]);
                RC_ASSERT(list.target(i) == roots[i].target);
            }
        };
        same();
        const std::uint32_t dropped = 1 + any_below(4);
        list.keep_if([&](NodeId& target) { return target % dropped != 0 ? ++target : 0; });
        std::erase_if(roots, [&](const Root& root) { return root.target % dropped == 0; });
        for (Root& root : roots) ++root.target;
        same();
        list.move_frames(3);
        for (Root& root : roots)
            if (root.kind == RootKind::stack && root.frame != no_frame) root.frame += 3;
        same();
        roots.resize(any_below(static_cast<std::uint32_t>(roots.size()) + 1));
        list.cut(roots.size());
        same();
    });
}

TEST_CASE("an object of any number of words has as many") {
    HeapGraph graph;
    graph.begin(HeapGraph::Mode::values, 8);
    const std::vector<std::uint32_t> words{2, 254, 255, 256, 3, 1'000'000, 0xFFFFFFFF, 0};
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
        graph.add_object(TermKind::tuple, words[i], 0x10000 + 8 * i);
        total += words[i];
    }
    graph.add_object(TermKind::tuple, 700, 0x20000);
    graph.rollback(words.size(), 0);
    graph.add_object(TermKind::cons, 2, 0x20008);
    graph.finish();
    for (std::size_t i = 0; i < words.size(); ++i) CHECK(graph.words(static_cast<NodeId>(i)) == words[i]);
    CHECK(graph.words(static_cast<NodeId>(words.size())) == 2);
    CHECK(graph.total_words() == total + 2);
    CHECK(graph.wide_words().size() == 4);
}
