// SPDX-License-Identifier: Apache-2.0
// A torn dump in which the sections of one process stand in two places, with another's between them.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/facts/heap_stats.hpp"
#include "support/dump_text.hpp"

using namespace beamheap;

namespace {

/// `cells` cells of one list, from 7F0000001000 on.
std::string list(std::size_t cells) {
    std::string heap;
    for (std::size_t i = 0; i + 1 < cells; ++i)
        heap += fmt::format("{:X}:lI1|H{:X}\n", 0x7F0000001000 + 16 * i, 0x7F0000001010 + 16 * i);
    return heap + fmt::format("{:X}:lI1|N\n", 0x7F0000001000 + 16 * (cells - 1));
}

std::string torn_dump(std::size_t cells) {
    return test::header() + test::process("<0.50.0>") + test::process("<0.51.0>") +
           "=proc_stack:<0.50.0>\ny0:H7F0000001000\n=proc_heap:<0.50.0>\n" + list(cells) +
           "=proc_stack:<0.51.0>\ny0:N\n=proc_heap:<0.51.0>\n=proc_messages:<0.50.0>\nH7F0000001000:N\nI5:N\n=end\n";
}

}  // namespace

TEST_CASE("of a process that a torn dump shows in pieces the largest one counts", "[torn_heaps]") {
    const std::string dump = torn_dump(10);
    for (const unsigned threads : {1u, 2u}) {
        analyses::HeapStats stats(threads, {});
        LoadPlan plan = test::everything();
        stats.demand(plan);
        const auto artifact = test::load(dump, plan);
        stats.store(*artifact);
        CHECK(artifact->snapshot().processes[0].live_words == Count(20));
    }
}

TEST_CASE("the terms of a process that a torn dump shows in pieces are those of all pieces", "[torn_heaps]") {
    constexpr std::size_t cells = 20'000;  // so many that the pass over the heaps keeps their graph
    const std::string dump = torn_dump(cells);
    for (const bool heaps : {false, true}) {
        analyses::HeapStats stats(1, {});
        LoadPlan plan = test::everything();
        plan.terms = true;
        plan.terms_of = [](const Snapshot&, ProcId) { return true; };
        if (heaps) stats.demand(plan);
        const auto artifact = test::load(dump, plan);
        const auto terms = artifact->terms(ProcId{0});
        REQUIRE(terms);
        CHECK((*terms)->graph().size() == cells);
        CHECK((*terms)->messages() == 2);
    }
}

TEST_CASE("what is damaged in heaps is counted by its kind", "[torn_heaps]") {
    const auto counted = [](const std::string& heap, std::string_view queue, unsigned threads) {
        analyses::HeapStats stats(threads, {});
        LoadPlan plan = test::everything();
        stats.demand(plan);
        const auto artifact = test::load(
            test::header() + test::process("<0.50.0>", "Message queue length: " + std::string(queue) + "\n") +
                "=proc_messages:<0.50.0>\nI5:N\n=proc_heap:<0.50.0>\n" + heap + "=end\n",
            plan);
        stats.store(*artifact);
        const Anomalies& met = artifact->snapshot().anomalies;
        return std::vector{met[Anomaly::bad_line].count, met[Anomaly::duplicate_address].count,
                           met[Anomaly::messages_lost].count};
    };
    for (const unsigned threads : {1u, 2u}) {
        INFO(threads << " threads");
        CHECK(counted(list(10), "1", threads) == std::vector<std::uint64_t>{0, 0, 0});
        CHECK(counted(list(10) + "7F0000002000:lI1\nodd\n", "1", threads) == std::vector<std::uint64_t>{2, 0, 0});
        CHECK(counted(list(10) + list(3), "1", threads) == std::vector<std::uint64_t>{0, 1, 0});
        CHECK(counted(list(10), "2", threads) == std::vector<std::uint64_t>{0, 0, 1});
    }
}
