// SPDX-License-Identifier: Apache-2.0
// What a process mostly holds: the answer that is had from flat sizes alone against the one that looks at who holds
// what, and shared sizes against a plain search.
#include "analyses/heaps/accumulation.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>

#include "analyses/heaps/sizes.hpp"
#include "present/spelling.hpp"
#include "support/dump_text.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

constexpr std::uint64_t base = 0x7F0000001000;

/// A dump of one process: roots on its stack and in its queue, and a heap whose objects refer to later ones.
std::string dump_of(const std::string& messages, const std::string& stack, const std::string& heap) {
    return test::header() + test::process("<0.50.0>") + "=proc_messages:<0.50.0>\n" + messages +
           "=proc_stack:<0.50.0>\n" + stack +
           "0x00007fad1c217d74:SReturn addr 0x1C217D74 (gen_server:loop/7 + 596)\n=proc_heap:<0.50.0>\n" + heap +
           "=end\n";
}

std::string random_dump(std::mt19937& random) {
    const auto below = [&](std::size_t n) { return std::size_t{random()} % n; };
    const std::size_t objects = 1 + below(60);
    const auto address = [](std::size_t i) { return fmt::format("H{:X}", base + 64 * i); };
    const auto element = [&](std::size_t i) {
        return i + 1 < objects && below(3) != 0
                   ? address(i + 1 + below(std::min<std::size_t>(objects - i - 1, 1 + below(20))))
                   : fmt::format("I{}", i);
    };
    std::string messages, stack, heap;
    for (std::size_t i = below(12); i-- > 0;) messages += address(below(objects)) + ":N\n";
    for (std::size_t i = below(4); i-- > 0;) stack += fmt::format("y{}:{}\n", i, address(below(objects)));
    for (std::size_t i = 0; i < objects; ++i) {
        heap += fmt::format("{:X}:", base + 64 * i);
        switch (below(8)) {
            case 0: heap += "t0:\n"; break;
            case 1: heap += "Yh3:YWJj\n"; break;
            case 2: heap += fmt::format("Yc7F00000A20A0:0:{:X}\n", below(300)); break;
            case 3: heap += fmt::format("Ys7F00000A20A0:A:{:X}\n", below(300)); break;
            case 4: heap += fmt::format("t3:{},{},{}\n", element(i), element(i), element(i)); break;
            default: heap += fmt::format("l{}|{}\n", element(i), element(i)); break;
        }
    }
    return dump_of(messages, stack, heap);
}

struct Opened {
    std::unique_ptr<Artifact> artifact;
    std::unique_ptr<TermSource> terms;
};

Opened open(const std::string& dump) {
    LoadPlan plan = test::everything();
    plan.terms = true;
    Opened opened{test::load(dump, plan), nullptr};
    REQUIRE(opened.artifact);
    auto terms = opened.artifact->terms(ProcId{0});
    REQUIRE(terms);
    opened.terms = std::move(*terms);
    return opened;
}

/// All that an object reaches, itself included: references lead to larger numbers, which are met later.
std::set<NodeId> reached_from(const HeapGraph& graph, NodeId top, bool slices) {
    std::set<NodeId> reached{top};
    for (const NodeId node : reached) {
        if (!slices && graph.kind(node) == TermKind::sub_binary) continue;
        for (const Edge edge : graph.edges())
            if (edge.from == node) reached.insert(edge.to);
    }
    return reached;
}

}  // namespace

TEST_CASE("what a process mostly holds is found, if there is such a term, also where flat sizes are asked first",
          "[accumulation]") {
    std::mt19937 random(5);
    unsigned found = 0, nothing = 0;
    for (int i = 0; i < 400; ++i) {
        const std::string dump = random_dump(random);
        const Opened opened = open(dump);
        TermMeasures measures(*opened.terms);
        const HeapGraph& graph = opened.terms->graph();
        const Accumulation point = accumulation(opened.artifact->snapshot(), ProcId{0}, *opened.terms, measures);
        INFO(dump);
        CHECK(measures.live_words() == measures.retained().live_words());
        const std::uint64_t least = std::max<std::uint64_t>(
            1, static_cast<std::uint64_t>(1.0 / 3 * static_cast<double>(measures.live_words())));
        bool alone = false, any = false;  // a root that keeps so much alone; one that reaches so much
        for (std::size_t root = 0; root < graph.roots().size(); ++root) {
            if (graph.roots()[root].target == no_node) continue;
            alone = alone || measures.root_words(root) >= least;
            std::uint64_t words = 0;
            for (const NodeId node : reached_from(graph, graph.roots()[root].target, true)) words += graph.words(node);
            any = any || words >= least;
        }
        if (alone) CHECK_FALSE(point.what.empty());
        if (!any) CHECK(point.what.empty());
        (point.what.empty() ? nothing : found) += 1;
    }
    CHECK(found > 20);
    CHECK(nothing > 20);
}

TEST_CASE("shared sizes count each object once, whoever was asked about before", "[accumulation]") {
    std::mt19937 random(6);
    for (int i = 0; i < 200; ++i) {
        const std::string dump = random_dump(random);
        const Opened opened = open(dump);
        const HeapGraph& graph = opened.terms->graph();
        SharedSizes sizes;
        sizes.build(graph);
        INFO(dump);
        for (NodeId top = 0; top < graph.size(); ++top) {
            std::uint64_t sum = 0;
            for (const NodeId node : reached_from(graph, top, false)) sum += own_flat_words(graph, node);
            CHECK(sizes.words(top) == Count(sum));
        }
    }
}

TEST_CASE("a term that is nested is told as one, with how deep it is", "[accumulation]") {
    // records of {node, integer, the next one}, of which the last has a list of so many integers
    const auto said = [](std::size_t levels, std::size_t cells) {
        std::string heap;
        for (std::size_t i = 0; i < levels; ++i)
            heap += fmt::format("{:X}:t3:A4:node,I{},{}\n", base + 32 * i, i,
                                i + 1 < levels || cells != 0 ? fmt::format("H{:X}", base + 32 * (i + 1)) : "N");
        for (std::size_t i = 0; i < cells; ++i)
            heap += fmt::format("{:X}:lI1|{}\n", base + 32 * (levels + i),
                                i + 1 < cells ? fmt::format("H{:X}", base + 32 * (levels + i + 1)) : "N");
        const Opened opened = open(dump_of("", fmt::format("y0:H{:X}\n", base), heap));
        TermMeasures measures(*opened.terms);
        const Accumulation found = accumulation(opened.artifact->snapshot(), ProcId{0}, *opened.terms, measures);
        return present::plain_text(opened.artifact->snapshot(), found.where) + ", " +
               present::plain_text(opened.artifact->snapshot(), found.what) + ": " + std::to_string(found.words);
    };
    const std::string shape = "a tuple {node, integer, {node, integer, {node, integer, tuple}}}";
    CHECK(said(9'999, 0) == "its stack, " + shape + ", nested 9,999 deep: 39996");
    CHECK(said(100'000, 0) == "its stack, " + shape + ", nested more than 10,000 deep: 400000");
    CHECK(said(10, 0) == "its stack, " + shape + ", nested 10 deep: 40");
    // of nine each step is told: the seventh leads to the last but one, of which no element keeps nearly all
    CHECK(said(9, 0) ==
          "its stack > element 3 > element 3 > element 3 > element 3 > element 3 > element 3 > element 3, a tuple "
          "{node, integer, {node, integer, list}}: 8");
    // where what is kept lies behind them, the way there is told
    CHECK(said(8, 1'000) == "its stack > element 3, 8 times, a list of 1,000 integers: 2000");
    CHECK(
        said(7, 1'000).starts_with("its stack > element 3 > element 3 > element 3 > element 3 > element 3 > element 3 "
                                   "> element 3, a list of 1,000 integers: "));
    CHECK(said(9'000, 1'000) == "its stack, " + shape + ", nested 9,000 deep: 38000");
    CHECK(said(100'000, 1'000) == "its stack, " + shape + ", nested more than 10,000 deep: 402000");
}

TEST_CASE("of terms in a circle, which damage makes, the way is not gone for ever", "[accumulation]") {
    for (const std::size_t terms : {1u, 2u, 3u, 7u}) {
        std::string heap;
        for (std::size_t i = 0; i < terms; ++i)
            heap += fmt::format("{:X}:t3:A4:node,I{},H{:X}\n", base + 32 * i, i, base + 32 * ((i + 1) % terms));
        const Opened opened = open(dump_of("", fmt::format("y0:H{:X}\n", base), heap));
        TermMeasures measures(*opened.terms);
        const Accumulation found = accumulation(opened.artifact->snapshot(), ProcId{0}, *opened.terms, measures);
        CHECK(present::plain_text(opened.artifact->snapshot(), found.what).find("nested") == std::string::npos);
        CHECK(found.words <= 4 * terms);
    }
}
