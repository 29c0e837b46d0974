// SPDX-License-Identifier: Apache-2.0
// What a heap's objects are and who holds them, against the obvious code; numbers of objects by address, build after
// build.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "analyses/heaps/census.hpp"
#include "analyses/heaps/copy_bound.hpp"
#include "analyses/heaps/frame_words.hpp"
#include "analyses/heaps/heap_order.hpp"
#include "analyses/heaps/histogram.hpp"
#include "analyses/heaps/live_garbage.hpp"
#include "analyses/heaps/sizes.hpp"
#include "beamheap/address_map.hpp"
#include "beamheap/heap_graph.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

constexpr std::uint64_t first_address = 0x7F3A5C010000;

/// A heap of objects of all kinds at neighbouring places, some of them young, with references at random.
void fill(HeapGraph& graph, std::mt19937& random, std::size_t size, bool backward, std::uint32_t most_words) {
    const auto below = [&](std::size_t n) { return static_cast<std::uint64_t>(random() % n); };
    graph.begin(HeapGraph::Mode::sizes, 8);
    graph.set_flat_extra(TermKind::refc_binary, 3);
    graph.set_flat_extra(TermKind::fun, -1);
    graph.set_young_area(first_address + 8 * (size / 3), first_address + 8 * (size / 2));
    for (std::size_t i = 0; i < size; ++i) {
        graph.add_object(static_cast<TermKind>(below(term_kinds)),
                         1 + static_cast<std::uint32_t>(random() % most_words), first_address + 8 * i);
        const std::size_t from = backward ? 0 : i + 1;
        if (from < size && below(2) == 0) graph.add_reference(first_address + 8 * (from + below(size - from)));
    }
    const RootKind kinds[] = {RootKind::stack, RootKind::message, RootKind::garbage, RootKind::seq_trace_token,
                              RootKind::dictionary};
    for (std::uint32_t i = 0; i < 4 && size != 0; ++i)
        graph.add_root(kinds[below(5)], i, 0, first_address + 8 * below(size), 0);
    graph.finish();
}

}  // namespace

TEST_CASE("a census counts each object once, by what it is and what reaches it", "[heaps][census]") {
    std::mt19937 random(7);
    HeapGraph graph;
    HeapOrder order;
    Reach reach;
    Census census;  // the same for all: nothing of one heap is left when the next is counted
    for (unsigned round = 0; round < 60; ++round) {
        // Some are counted in more than one go, with as many words as an object can have.
        const bool large = round % 20 == 19;
        fill(graph, random, large ? 70'001 : round, round % 3 == 0, large ? 0xFFFFFFFEu : 100);
        order.build(graph);
        reach.build(graph, order);
        census.count(graph, reach);
        std::map<TermKind, std::pair<std::uint64_t, std::uint64_t>> all, garbage;
        std::uint64_t live = 0, messages = 0;
        for (NodeId node = 0; node < graph.size(); ++node) {
            all[graph.kind(node)].first += 1;
            all[graph.kind(node)].second += graph.words(node);
            if (reach.is_garbage(node)) {
                garbage[graph.kind(node)].first += 1;
                garbage[graph.kind(node)].second += graph.words(node);
            }
            if (reach.counts_as_live(graph, node)) live += graph.words(node);
            else if ((reach[node] & Reach::by_messages) != 0) messages += graph.words(node);
        }
        const LiveGarbage told = live_and_garbage(census, Process{});
        CHECK(told.live_words == live);
        CHECK(told.message_words == messages);
        Histogram histogram, dead;
        histogram.add(census);
        dead.add_garbage(census);
        std::size_t kinds = 0;
        for (const KindShare& row : histogram.rows()) {
            CHECK(all[row.kind] == std::pair(row.count, row.words));
            ++kinds;
        }
        CHECK(kinds == all.size());
        kinds = 0;
        for (const KindShare& row : dead.rows()) {
            CHECK(garbage[row.kind] == std::pair(row.count, row.words));
            ++kinds;
        }
        CHECK(kinds == garbage.size());
    }
}

TEST_CASE("an object without references has the flat size of its kind and words", "[heaps]") {
    std::mt19937 random(11);
    HeapGraph graph;
    HeapOrder order;
    FlatSizes flat;
    for (const bool backward : {false, true}) {
        fill(graph, random, 500, backward, 100);
        order.build(graph);
        flat.build(graph, order);
        std::vector<bool> refers(graph.size());
        for (const Edge edge : graph.edges()) refers[edge.from] = true;
        std::array<unsigned, term_kinds> seen{};
        for (NodeId node = 0; node < graph.size(); ++node) {
            if (refers[node]) continue;
            const TermKind kind = graph.kind(node);
            const std::uint32_t extra = kind == TermKind::refc_binary ? 3 : kind == TermKind::fun ? 0xFFFFFFFFu : 0;
            CHECK(flat[node] == graph.words(node) + extra);
            ++seen[static_cast<std::size_t>(kind)];
        }
        CHECK(seen[static_cast<std::size_t>(TermKind::fun)] != 0);
        CHECK(seen[static_cast<std::size_t>(TermKind::refc_binary)] != 0);
    }
}

TEST_CASE("no copy of a term is larger than the sums of its heap allow", "[heaps][census]") {
    std::mt19937 random(13);
    HeapGraph graph;
    HeapOrder order;
    Reach reach;
    Census census;
    FlatSizes flat;
    SharedSizes shared;
    const auto bound = [&] {
        order.build(graph);
        reach.build(graph, order);
        census.count(graph, reach);
        flat.build(graph, order);
        shared.build(graph);
        return copy_bound(graph, census);
    };
    unsigned told = 0, compared = 0;
    for (unsigned round = 0; round < 400; ++round) {
        fill(graph, random, round % 80, round % 3 == 0, 100);
        if (graph.size() != 0 && round % 5 == 0) {
            graph.set_flat_words(static_cast<NodeId>(random() % graph.size()), 5000);
            graph.sort_flat_words();
        }
        const CopyBound most = bound();
        told += most.words != saturated_words;
        // No VM's objects of these kinds refer to anything that both sizes follow.
        const bool real = std::ranges::none_of(graph.edges(), [&](const Edge& edge) {
            const TermKind kind = graph.kind(edge.from);
            return kind == TermKind::sub_binary || kind == TermKind::binary_reference ||
                   kind == TermKind::fun_reference;
        });
        for (const Root root : graph.roots()) {
            CHECK(flat[root.target] <= most.words);
            if (!real || most.doublings >= 32) continue;
            CHECK(flat[root.target] <= *shared.words(root.target) << most.doublings);
            ++compared;
        }
    }
    CHECK(told > 200);
    CHECK(compared > 100);

    // Where nothing is shared it is what the objects are; of a list that doubles itself it is what that comes to.
    for (const bool doubles : {false, true}) {
        constexpr std::uint32_t cells = 30;
        graph.begin(HeapGraph::Mode::sizes, 8);
        for (std::uint32_t i = 0; i < cells; ++i) {
            graph.add_object(TermKind::cons, 2, first_address + 16 * i);
            for (unsigned n = 0; n < (doubles ? 2 : 1) && i + 1 < cells; ++n)
                graph.add_reference(first_address + 16 * (i + 1));
        }
        graph.add_root(RootKind::stack, 0, 0, first_address, 0);
        graph.finish();
        const CopyBound most = bound();
        CHECK(most.words >= flat[0]);
        CHECK(flat[0] == (doubles ? 2 * ((1u << cells) - 1) : 2 * cells));
        CHECK(most.doublings == (doubles ? cells - 1 : 0));
        if (!doubles) CHECK(most.words == 2 * cells);
    }
}

TEST_CASE("of what earlier heaps left in the map of addresses nothing is found", "[heaps][address_map]") {
    beamheap::AddressSpace space;
    AddressMap map;
    // More builds than there are bases for the array's entries: they begin anew.
    for (std::uint32_t build = 0; build < 70'000; ++build) {
        const std::uint32_t first = space.compress(first_address + 8 * (build % 97)),
                            second = space.compress(first_address + 8 * (100 + build % 89));
        const std::vector<std::uint32_t> addresses{first, beamheap::AddressSpace::none, second, first};
        REQUIRE(map.build(addresses, space) == 1);
        REQUIRE(map.find(first) == 0);
        REQUIRE(map.find(second) == 2);
        REQUIRE(map.find(space.compress(first_address + 8 * ((build + 1) % 97))) == AddressMap::none);
        REQUIRE(map.find(space.compress(first_address + 8 * (100 + (build + 1) % 89))) == AddressMap::none);
    }
}

TEST_CASE("each live word is charged to the youngest frame that reaches it, else to dictionary, messages, other roots",
          "[heaps][census]") {
    std::mt19937 random(11);
    FrameWords charger;  // the same for all, of few places and of many
    for (const std::uint32_t frames : {0u, 1u, 2u, 3u, 4u, 200u, 260u, 900u}) {
        HeapGraph graph;
        graph.begin(HeapGraph::Mode::sizes, 8);
        constexpr std::size_t size = 2003;
        graph.set_young_area(first_address, first_address + 8 * (size / 2));
        for (std::size_t i = 0; i < size; ++i) {
            graph.add_object(TermKind::tuple, 1 + static_cast<std::uint32_t>(random() % 100), first_address + 8 * i);
            for (std::size_t n = random() % 3; n != 0 && i + 1 < size; --n)
                graph.add_reference(first_address + 8 * (i + 1 + random() % (size - i - 1)));
        }
        std::vector<std::pair<std::uint32_t, NodeId>> roots;  // place and object
        const auto root = [&](RootKind kind, std::uint32_t frame, std::uint32_t place) {
            const auto node = static_cast<NodeId>(random() % size);
            graph.add_root(kind, 0, frame, first_address + 8 * node, 0);
            roots.emplace_back(place, node);
        };
        for (std::uint32_t frame = 0; frame < frames; ++frame) root(RootKind::stack, frame, frame);
        for (int i = 0; i < 4; ++i) root(RootKind::dictionary, no_frame, PlaceWords::dictionary);
        for (int i = 0; i < 4; ++i) root(RootKind::message, no_frame, PlaceWords::messages);
        root(RootKind::stack, no_frame, PlaceWords::other);
        root(RootKind::x_register, no_frame, PlaceWords::other);
        for (int i = 0; i < 4; ++i) root(RootKind::garbage, no_frame, PlaceWords::nowhere);
        graph.finish();
        HeapOrder order;
        order.build(graph);
        Reach reach;
        RootPlaces places;
        places.number(graph);
        reach.build(graph, order, &places);
        CHECK(reach.tells_places() == (frames + 2 <= Reach::most_places));
        // The obvious: from each root, best places first, to all that no better one has reached.
        std::ranges::stable_sort(roots, {}, [](const auto& each) { return each.first; });
        std::vector<bool> seen(size);
        std::map<std::uint32_t, std::uint64_t> expected;
        for (const auto& [place, start] : roots) {
            std::vector<NodeId> way{start};
            while (!way.empty()) {
                const NodeId node = way.back();
                way.pop_back();
                if (seen[node]) continue;
                seen[node] = true;
                if (reach.counts_as_live(graph, node)) expected[place] += graph.words(node);
                for (const Edge edge : order.edges())
                    if (order.node(edge.from) == node) way.push_back(order.node(edge.to));
            }
        }
        std::vector<PlaceWords> charged;
        std::uint64_t live = 0;
        for (const auto& [place, words] : expected) live += words;
        charger.charge(graph, order, reach, places, live, charged);
        std::map<std::uint32_t, std::uint64_t> told;
        for (const PlaceWords& each : charged) told[each.frame] += each.words;
        CHECK(told == expected);
        CHECK(std::ranges::is_sorted(charged, {}, &PlaceWords::frame));
        CHECK((frames == 0 || charged.front().frame == 0));
    }
}
