// SPDX-License-Identifier: Apache-2.0
// What is copied as a whole: large objects of tables, tables that are read whole, messages that are sent to many.
#include <catch2/catch.hpp>
#include <string>

#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/facts/catalogue/table_rows.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

std::string said(const std::vector<test::FoundWithText>& all, std::string_view rule) {
    const auto found = test::of(all, rule);
    return found.empty() ? std::string() : found.front().words;
}

EtsTable& table_of(test::MadeNode& node, std::uint32_t owner, std::uint64_t objects, std::uint64_t words) {
    EtsTable& table = node.s.ets.emplace_back();
    table.owner = {0, owner, 0};
    table.name = node.text("store");
    table.objects = objects;
    table.words = words;
    return table;
}

}  // namespace

TEST_CASE("of a table with few objects the one that is most of it is named", "[large_objects]") {
    test::MadeNode node;
    Process& owner = node.idle(5, "keeper");
    owner.heap_words = 4'000'000;
    owner.memory_bytes = 32'000'000;
    owner.heap_unused_words = 0;
    owner.old_heap_words = 0;
    owner.old_heap_unused_words = 0;
    owner.fragment_words = 0;
    node.memory("total", 100'000'000);
    std::uint64_t objects = 60;
    std::uint64_t live = 100;
    SECTION("few objects") {}
    SECTION("many objects") { objects = 1'001; }
    SECTION("its owner keeps what it has") { live = 3'000'000; }
    table_of(node, 5, objects, 5'000'000);
    RowsOfTable rows;
    rows.looked = 60;
    rows.largest_words = 4'900'000;
    rows.largest = Ours("element 2, a list of 500,000 pids");
    rows.largest_processes = {100, 95};
    TermFacts seen;
    seen.process = ProcId{0};
    seen.live_words = live;
    const auto all = node.told([&](Facts& facts) {
        facts.put(TableRows{{rows}});
        facts.put(SuspectTerms{{seen}});
    });
    const std::string words = said(all, "ets-growth");
    CHECK(
        words.find(", 37.4 MiB of it in one (its element 2, a list of 500,000 pids, nearly all of processes that have "
                   "ended): 40 % of the node's memory; its owner is keeper <0.5.0>") != std::string::npos);
    const bool copies = words.find("of garbage on its heap: most likely copies of such an object") != std::string::npos;
    CHECK(copies == (objects == 60 && live == 100));
    CHECK((words.find("Its objects are few and large") != std::string::npos) == (objects == 60));
    // What is left of copies is told with the table, and little garbage of one that rests is no more than that.
    const auto heaps = test::of(all, "big-heap");
    REQUIRE(heaps.size() == 1);
    CHECK((heaps[0].severity == FindingSeverity::info) == (live == 100));
    CHECK((heaps[0].words.find("nearly all of it garbage") != std::string::npos) == (live == 100));
}

TEST_CASE("who works beside idle ones that are full of garbage may show what all of them read", "[large_objects]") {
    const auto behind = [](std::uint64_t objects, bool works) {
        test::MadeNode node;
        node.idle(5, "handlers");
        for (std::uint32_t i = 0; i < 5; ++i) {
            Process& p = node.at(10 + i, {node.function("timer", "sleep", 1)});
            p.initial_call = node.function("worker", "loop", 1);
            p.heap_words = 2'000'000;
            p.has_heap = true;
            p.live_words = 100;
            p.garbage_words = 1'000'000;
            p.heap_unused_words = 0;
            if (i == 4 && works) {
                p.state = ProcessState::runnable;
                p.current_function = node.function("telemetry", "execute", 3);
            }
        }
        node.memory("total", 100'000'000);
        table_of(node, 5, objects, 500'000);
        return said(node.told(), "idle-garbage").find("table store has ") != std::string::npos;
    };
    CHECK(behind(1'000, true));
    CHECK_FALSE(behind(999, true));
    CHECK_FALSE(behind(1'000, false));
}

TEST_CASE("who was refused a message as large as what many hold sends it to them", "[large_objects]") {
    const auto sender = [](const char* type, std::uint64_t refused) {
        test::MadeNode node;
        for (std::uint32_t i = 0; i < 20; ++i) {
            Process& p = node.at(10 + i, {node.function("catalog", "indexer", 2)});
            p.initial_call = node.function("catalog", "indexer", 2);
            p.memory_bytes = 26'000'000;
            p.heap_words = 3'200'000;
        }
        Process& p = node.at(5, {node.function("catalog", "send", 2)}, "catalog");
        p.initial_call = node.function("catalog", "publish", 1);
        p.memory_bytes = 27'000'000;
        p.state = ProcessState::running;
        node.memory("total", 560'000'000);
        const auto all = node.told([&](Facts& facts) {
            Slogan slogan;
            slogan.kind = SloganKind::out_of_memory;
            slogan.allocator = "eheap_alloc";
            slogan.memory_type = type;
            slogan.refused_bytes = refused;
            facts.put(std::move(slogan));
            Death death;
            death.process = ProcId{20};
            facts.put(std::move(death));
        });
        return said(all, "big-heap").find("; catalog <0.5.0> was refused 24.8 MiB for one more message as large") !=
               std::string::npos;
    };
    CHECK(sender("heap_frag", 26'000'000));
    CHECK_FALSE(sender("heap", 26'000'000));
    CHECK_FALSE(sender("heap_frag", 2'600'000));
}
