// SPDX-License-Identifier: Apache-2.0
// Laws of heaps, on random ones: what the sweeps say is what slow and obvious code says, however the text is cut.
#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "analyses/heaps/dominators.hpp"
#include "analyses/heaps/heap_order.hpp"
#include "analyses/heaps/paths.hpp"
#include "analyses/heaps/retained.hpp"
#include "analyses/heaps/sizes.hpp"
#include "formats/crashdump/heap_reader.hpp"
#include "support/dump_text.hpp"
#include "support/heap_writer.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using namespace beamheap::crashdump;
using test::MadeHeap;
using test::MadeObject;

namespace {

int pick(int below) { return *rc::gen::inRange(0, below); }

/// A heap whose references go forwards, backwards in part of the heaps, or (damage) anywhere. Objects of acyclic heaps
/// are made in topological order and then shuffled.
MadeHeap make_heap(bool shuffled, bool cycles) {
    MadeHeap heap;
    const int size = pick(40);
    for (int i = 0; i < size; ++i) {
        MadeObject o;
        o.kind = static_cast<MadeObject::Kind>(pick(8));
        int elements = 0;
        switch (o.kind) {
            case MadeObject::Kind::cons: elements = 2; break;
            case MadeObject::Kind::tuple: elements = pick(6) == 0 ? 16 + pick(5) : pick(5); break;
            case MadeObject::Kind::flat_map: elements = 1 + pick(4); break;
            case MadeObject::Kind::hash_node: elements = 1 + pick(3); break;
            case MadeObject::Kind::heap_binary: o.size = static_cast<std::uint32_t>(pick(65)); break;
            default: break;
        }
        for (int e = 0; e < elements; ++e) {
            const int low = cycles ? 0 : i + 1;
            o.children.push_back(pick(4) == 0 || low >= size ? -1 : low + pick(size - low));
        }
        heap.objects.push_back(std::move(o));
    }
    std::vector<int> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), 0);
    if (shuffled)
        for (int i = size; i > 1; --i)
            std::swap(order[static_cast<std::size_t>(i - 1)], order[static_cast<std::size_t>(pick(i))]);
    MadeHeap moved;
    moved.objects.resize(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) {
        MadeObject o = heap.objects[static_cast<std::size_t>(i)];
        for (int& child : o.children)
            if (child >= 0) child = order[static_cast<std::size_t>(child)];
        moved.objects[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = std::move(o);
    }
    // Addresses: dense, in chunks far apart, or one object per chunk.
    const std::uint64_t step = std::vector<std::uint64_t>{176, 4096, 1 << 20}[static_cast<std::size_t>(pick(3))];
    for (int i = 0; i < size; ++i)
        moved.objects[static_cast<std::size_t>(i)].address =
            0x7F0000000000 + step * static_cast<std::uint64_t>(size - i);
    const auto roots = [&](std::vector<int>& list) {
        for (int n = pick(4); n > 0; --n) list.push_back(size == 0 || pick(5) == 0 ? -1 : pick(size));
    };
    roots(moved.stack);
    roots(moved.dictionary);
    roots(moved.messages);
    return moved;
}

void feed(HeapReader& reader, TermSection section, const std::string& text, std::size_t piece) {
    std::size_t at = 0;
    std::size_t size = piece;
    for (;;) {
        const bool last = text.size() - at <= size;
        const std::size_t taken = reader.feed(section, std::string_view(text).substr(at, size), at, last);
        at += taken;
        if (last) return;
        size = taken == 0 ? 2 * size : piece;
    }
}

void read(HeapReader& reader, const MadeHeap& heap, HeapGraph::Mode mode, std::size_t piece) {
    HeapFacts facts;
    facts.mode = mode;
    reader.begin(facts);
    feed(reader, TermSection::messages, heap.messages_text(), piece);
    feed(reader, TermSection::dictionary, heap.dictionary_text(), piece);
    feed(reader, TermSection::stack, heap.stack_text(), piece);
    feed(reader, TermSection::heap, heap.heap_text(), piece);
    reader.finish();
}

/// The obvious way: sets and recursion over small heaps.
struct Oracle {
    const MadeHeap& heap;
    std::vector<int> roots() const {
        std::vector<int> all;
        for (const auto* list : {&heap.messages, &heap.dictionary, &heap.stack})
            for (const int r : *list)
                if (r >= 0) all.push_back(r);
        return all;
    }
    void reach(int from, int without, std::set<int>& seen) const {
        if (from == without || !seen.insert(from).second) return;
        for (const int child : heap.objects[static_cast<std::size_t>(from)].children)
            if (child >= 0) reach(child, without, seen);
    }
    std::set<int> reachable(int without) const {
        std::set<int> seen;
        for (const int r : roots()) reach(r, without, seen);
        return seen;
    }
    /// What is reached when all roots that hold this object have let go of it.
    std::set<int> reachable_unheld(int let_go) const {
        std::set<int> seen;
        for (const int r : roots())
            if (r != let_go) reach(r, -1, seen);
        return seen;
    }
    std::uint64_t words(const std::set<int>& objects) const {
        std::uint64_t sum = 0;
        for (const int o : objects) sum += heap.objects[static_cast<std::size_t>(o)].words();
        return sum;
    }
    /// `{}` has no flat size of its own in the release that is written.
    std::uint64_t flat_words(int o) const {
        const MadeObject& object = heap.objects[static_cast<std::size_t>(o)];
        return object.kind == MadeObject::Kind::tuple && object.children.empty() ? 0 : object.words();
    }
    std::uint64_t flat(int from) const {
        std::uint64_t sum = flat_words(from);
        for (const int child : heap.objects[static_cast<std::size_t>(from)].children)
            if (child >= 0) sum += flat(child);
        return sum;
    }
    std::uint64_t shared(int from) const {
        std::set<int> seen;
        reach(from, -1, seen);
        std::uint64_t sum = 0;
        for (const int o : seen) sum += flat_words(o);
        return sum;
    }
};

HeapDialect otp25() {
    HeapDialect dialect;
    dialect.otp = 25;
    return dialect;
}

struct Measured {
    HeapOrder order;
    FlatSizes flat;
    Dominators dominators;
    RetainedSizes retained;
    explicit Measured(const HeapGraph& graph) {
        order.build(graph);
        flat.build(graph, order);
        dominators.build(graph, order);
        retained.build(graph, order, dominators);
    }
};

/// The same arrays, whatever the pieces.
void expect_same(const HeapGraph& a, const HeapGraph& b) {
    RC_ASSERT(a.size() == b.size());
    RC_ASSERT(std::ranges::equal(a.edges(), b.edges()));
    for (NodeId n = 0; n < a.size(); ++n) {
        RC_ASSERT(a.kind(n) == b.kind(n));
        RC_ASSERT(a.words(n) == b.words(n));
        RC_ASSERT(a.address(n) == b.address(n));
    }
    RC_ASSERT(std::ranges::equal(a.roots(), b.roots()));
}

}  // namespace

TEST_CASE("random heaps are read as they were made", "[slow]") {
    HeapReader reader(otp25());
    rc::prop("objects, references and roots are all there, in any pieces and both modes", [&] {
        const bool cycles = pick(4) == 0;
        const MadeHeap heap = make_heap(pick(2) == 0, cycles);
        HeapReader whole(otp25());
        read(whole, heap, HeapGraph::Mode::values, std::size_t{1} << 20);
        const HeapGraph graph = whole.take_graph();
        RC_ASSERT(whole.damage().bad_lines == 0u);
        RC_ASSERT(whole.damage().cut_lines == 0u);
        RC_ASSERT(graph.size() == heap.objects.size());
        RC_ASSERT(graph.roots().size() == heap.stack.size() + heap.dictionary.size() + heap.messages.size());
        std::vector<Edge> edges;
        for (std::size_t i = 0; i < heap.objects.size(); ++i) {
            const MadeObject& o = heap.objects[i];
            RC_ASSERT(graph.words(static_cast<NodeId>(i)) == o.words());
            RC_ASSERT(graph.address(static_cast<NodeId>(i)) == o.address);
            RC_ASSERT(graph.find(o.address) == i);
            for (const int child : o.children)
                if (child >= 0) edges.push_back({static_cast<NodeId>(i), static_cast<NodeId>(child)});
        }
        RC_ASSERT(std::ranges::equal(edges, graph.edges()));
        // One reader for all processes: nothing of the last one is left.
        read(reader, heap, HeapGraph::Mode::values, static_cast<std::size_t>(1 + pick(300)));
        expect_same(reader.take_graph(), graph);
        read(reader, heap, HeapGraph::Mode::sizes, static_cast<std::size_t>(1 + pick(300)));
        RC_ASSERT(reader.take_graph().edges().size() == graph.edges().size());
    });
}

// A list beside its reverse holds each element from both ends, so that the walk up from the two holders is as long as
// the lists: it is given up for the ancestors that are jumped to.
TEST_CASE("who dominates whom where the walk is too long", "[heap]") {
    constexpr int n = 300;
    const int list = 1, back = list + n, pair = back + n, left = pair + n, right = left + n, shared = right + n;
    using Kind = MadeObject::Kind;
    MadeHeap heap;
    heap.objects.push_back({Kind::tuple, {list, back}});
    for (int i = 0; i < n; ++i) heap.objects.push_back({Kind::cons, {pair + i, i + 1 < n ? list + i + 1 : -1}});
    for (int i = 0; i < n; ++i) heap.objects.push_back({Kind::cons, {pair + n - 1 - i, i + 1 < n ? back + i + 1 : -1}});
    for (int i = 0; i < n; ++i) heap.objects.push_back({Kind::tuple, {left + i, right + i}});
    for (int i = 0; i < n; ++i) heap.objects.push_back({Kind::tuple, {shared + i}});
    for (int i = 0; i < n; ++i) heap.objects.push_back({Kind::tuple, {shared + i}});
    for (int i = 0; i < n; ++i) heap.objects.push_back({Kind::heap_binary, {}, 8});
    for (std::size_t i = 0; i < heap.objects.size(); ++i)
        heap.objects[i].address = 0x7F0000000000 + 176 * (heap.objects.size() - i);
    heap.stack.push_back(0);
    HeapReader reader(otp25());
    read(reader, heap, HeapGraph::Mode::sizes, 1 << 20);
    const HeapGraph graph = reader.take_graph();
    const Measured m(graph);
    REQUIRE(graph.size() == heap.objects.size());
    CHECK(m.dominators.jumped());
    CHECK(m.dominators[0] == no_node);
    const auto by = [&](int object) { return static_cast<int>(m.dominators[static_cast<NodeId>(object)]); };
    for (int i = 0; i < n; ++i) {
        CHECK(by(list + i) == (i == 0 ? 0 : list + i - 1));
        CHECK(by(back + i) == (i == 0 ? 0 : back + i - 1));
        CHECK(by(pair + i) == 0);  // either list alone would hold it
        CHECK(by(left + i) == pair + i);
        CHECK(by(right + i) == pair + i);
        CHECK(by(shared + i) == pair + i);
    }
    CHECK(m.retained[static_cast<NodeId>(pair)] == 3 + 2 + 2 + 3);
    CHECK(m.retained[0] == m.retained.live_words());
}

TEST_CASE("the shortest way to a term begins at its root", "[heap]") {
    LoadPlan plan = test::everything();
    plan.terms = true;
    // Terms are read out of the text later, so that it has to last.
    const std::string text =
        test::header() + test::process("<0.7.0>") +
        "=proc_dictionary:<0.7.0>\nH5000\nH1000\n"
        "=proc_heap:<0.7.0>\n"
        "1000:t2:H1100,H1200\n1100:t1:H1300\n1200:t1:H1100\n1300:t1:H1400\n1400:Yh3:YWJj\n5000:t1:A1:a\n=end\n";
    const auto artifact = test::load(text, plan);
    REQUIRE(artifact);
    auto terms = artifact->terms(artifact->snapshot().find({0, 7, 0}));
    REQUIRE(terms);
    const HeapGraph& graph = (*terms)->graph();
    const auto path = shortest_path(**terms, {ObjectId::Space::heap, graph.find(0x1400)});
    REQUIRE(path);
    CHECK(path->root == 1);
    std::vector<std::uint64_t> addresses;
    for (const ObjectId id : path->objects) addresses.push_back((*terms)->head(id).address);
    CHECK(addresses == std::vector<std::uint64_t>{0x1000, 0x1100, 0x1300, 0x1400});
    const auto own = shortest_path(**terms, {ObjectId::Space::heap, graph.find(0x5000)});
    REQUIRE(own);
    CHECK((own->root == 0 && own->objects.size() == 1));
}

TEST_CASE("sizes and dominators of random heaps are those of the obvious code", "[slow]") {
    rc::prop("flat, shared, retained, and who dominates whom", [] {
        const MadeHeap heap = make_heap(pick(2) == 0, false);
        HeapReader reader(otp25());
        read(reader, heap, HeapGraph::Mode::sizes, 4096);
        const HeapGraph graph = reader.take_graph();
        const Measured m(graph);
        const Oracle oracle{heap};
        RC_ASSERT(m.order.cut() == 0u);
        SharedSizes shared;
        shared.build(graph);
        const std::set<int> live = oracle.reachable(-1);
        RC_ASSERT(m.retained.live_words() == oracle.words(live));
        for (NodeId n = 0; n < graph.size(); ++n) {
            const int o = static_cast<int>(n);
            RC_ASSERT(m.flat[n] == oracle.flat(o));
            RC_ASSERT(*shared.words(n) == oracle.shared(o));
            RC_ASSERT(*shared.words(n) <= m.flat[n]);
            const Count of_few = shared.flat_words(n, static_cast<std::size_t>(pick(20)));
            RC_ASSERT((!of_few.has() || *of_few == oracle.flat(o)));
            if (oracle.flat(o) <= 10'000) RC_ASSERT(shared.flat_words(n, 10'000) == Count(oracle.flat(o)));
            RC_ASSERT(m.dominators.reached(n) == (live.count(o) != 0));
            // What goes when the object goes.
            const std::set<int> without = oracle.reachable(o);
            const std::uint64_t freed = live.count(o) == 0 ? 0 : oracle.words(live) - oracle.words(without);
            RC_ASSERT(m.retained[n] == freed);
            if (live.count(o) == 0) continue;
            std::set<int> below;
            oracle.reach(o, -1, below);
            RC_ASSERT(m.retained[n] <= oracle.words(below));
            // Its dominator is the nearest object without which it can't be reached.
            const NodeId dominator = m.dominators[n];
            for (const int other : live) {
                if (other == o) continue;
                const bool needed = oracle.reachable(other).count(o) == 0;
                if (dominator == no_node) RC_ASSERT(!needed);
                if (needed && dominator != no_node) {
                    std::set<int> of_dominator;
                    oracle.reach(static_cast<int>(dominator), -1, of_dominator);
                    RC_ASSERT(other == static_cast<int>(dominator) ||
                              oracle.reachable(other).count(static_cast<int>(dominator)) == 0);
                }
            }
        }
        std::vector<std::uint64_t> children(graph.size());
        std::uint64_t top = 0;
        for (NodeId n = 0; n < graph.size(); ++n) {
            if (!m.dominators.reached(n)) continue;
            if (m.dominators[n] == no_node) top += m.retained[n];
            else children[m.dominators[n]] += m.retained[n];
        }
        for (NodeId n = 0; n < graph.size(); ++n)
            if (m.dominators.reached(n)) RC_ASSERT(children[n] + graph.words(n) == m.retained[n]);
        RC_ASSERT(top == m.retained.live_words());
    });
}

TEST_CASE("what roots keep, and what is kept within one term, is that of the obvious code", "[slow]") {
    rc::prop("groups of roots, and parts of a term", [] {
        const MadeHeap heap = make_heap(pick(2) == 0, false);
        HeapReader reader(otp25());
        read(reader, heap, HeapGraph::Mode::sizes, 4096);
        const HeapGraph graph = reader.take_graph();
        const Measured m(graph);
        const Oracle oracle{heap};
        const std::set<int> live = oracle.reachable(-1);
        FlatArray<std::uint64_t> by_roots;
        retained_by_roots(graph, m.dominators, m.retained, by_roots);
        // The roots of one object are one group: what goes when all of them go.
        std::uint64_t sum = 0;
        std::set<NodeId> groups;
        for (std::size_t i = 0; i < graph.roots().size(); ++i) {
            const NodeId target = graph.roots()[i].target;
            if (target == no_node) continue;
            const std::set<int> without = oracle.reachable_unheld(static_cast<int>(target));
            const bool goes = without.count(static_cast<int>(target)) == 0;
            RC_ASSERT(by_roots[i] == (goes ? oracle.words(live) - oracle.words(without) : 0));
            if (groups.insert(target).second) sum += by_roots[i];
        }
        RC_ASSERT(sum <= m.retained.live_words());
        if (graph.size() == 0) return;
        // Within one term: what of it only an object of it keeps.
        const auto summit = static_cast<NodeId>(pick(static_cast<unsigned>(graph.size())));
        Dominators below;
        below.build_below(graph, m.order, summit);
        RetainedSizes within;
        within.build(graph, m.order, below);
        std::set<int> all;
        oracle.reach(static_cast<int>(summit), -1, all);
        RC_ASSERT(within.live_words() == oracle.words(all));
        for (NodeId n = 0; n < graph.size(); ++n) {
            std::set<int> rest;
            oracle.reach(static_cast<int>(summit), static_cast<int>(n), rest);
            RC_ASSERT(within[n] == oracle.words(all) - oracle.words(rest));
        }
    });
}

TEST_CASE("heaps with cycles are measured without going round", "[slow]") {
    rc::prop("cycles are cut and counted, sums stay bounded", [] {
        const MadeHeap heap = make_heap(true, true);
        HeapReader reader(otp25());
        read(reader, heap, HeapGraph::Mode::sizes, 4096);
        const HeapGraph graph = reader.take_graph();
        const Measured m(graph);
        RC_ASSERT(m.order.edges().size() + m.order.cut() == graph.edges().size());
        for (const Edge edge : m.order.edges()) RC_ASSERT(edge.from < edge.to);
        const Oracle oracle{heap};
        RC_ASSERT(m.retained.live_words() == oracle.words(oracle.reachable(-1)));
        for (NodeId n = 0; n < graph.size(); ++n) RC_ASSERT(m.retained[n] <= m.retained.live_words());
    });
}

TEST_CASE("text that no VM writes neither stops the reader nor costs it memory", "[slow]") {
    rc::prop("damaged heap text", [] {
        MadeHeap heap = make_heap(true, true);
        std::string text = heap.heap_text();
        for (int n = pick(8); n > 0 && !text.empty(); --n) {
            const auto at = static_cast<std::size_t>(pick(static_cast<int>(text.size())));
            if (pick(3) == 0) text.erase(at, static_cast<std::size_t>(pick(30)));
            else text[at] = static_cast<char>("H:,|\nAtMfYcE0F\xFFl"[pick(16)]);
        }
        HeapReader whole(otp25());
        HeapReader pieces(otp25());
        HeapFacts facts;
        facts.mode = HeapGraph::Mode::values;
        whole.begin(facts);
        feed(whole, TermSection::heap, text, text.size() + 1);
        whole.finish();
        pieces.begin(facts);
        feed(pieces, TermSection::heap, text, static_cast<std::size_t>(1 + pick(200)));
        pieces.finish();
        RC_ASSERT(whole.damage().bad_lines == pieces.damage().bad_lines);
        RC_ASSERT(whole.damage().cut_lines == pieces.damage().cut_lines);
        const HeapGraph a = whole.take_graph();
        const HeapGraph b = pieces.take_graph();
        expect_same(a, b);
        RC_ASSERT(a.used_bytes() < (std::size_t{4} << 20));
        const Measured m(a);
        RC_ASSERT(m.retained.live_words() == 0u);  // no roots
    });
}
