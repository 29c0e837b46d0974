// SPDX-License-Identifier: Apache-2.0
// Which processes are looked into, chosen from the process table: samples of idle groups, holders of binaries, long
// queues.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/processes/process_columns.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

// Two groups of idle processes: 40 with 30,000 words each, then 10 with 150,000 words, which are more together.
struct Idle : test::MadeSnapshot {
    Idle(std::uint64_t binary_bytes, std::uint64_t total_bytes) {
        s.source.word_size = 8;
        const FunctionId small = function("small", "loop", 0), large = function("large", "loop", 0);
        for (std::uint32_t i = 0; i < 50; ++i) {
            Process& p = process(i + 1);
            p.current_function = p.initial_call = i < 40 ? small : large;
            p.heap_words = i < 40 ? 30'000 : 150'000;
            p.heap_unused_words = 0;
            p.old_heap_words = 0;
            p.old_heap_unused_words = 0;
            p.fragment_words = 0;
        }
        s.memory.push_back({text("total"), total_bytes, {}});
        s.memory.push_back({text("binary"), binary_bytes, {}});
    }
    std::vector<std::uint32_t> places(const std::vector<ProcId>& ids) const {
        std::vector<std::uint32_t> found;
        for (const ProcId id : ids) found.push_back(index_of(id));
        return found;
    }
};

using Places = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("of an idle group a few are decoded, spread over all, and no more than the budget", "[suspects]") {
    Idle node(0, 30 * test::mebibyte);
    node.seal();
    const Suspects all = suspects(node.s, {.sample_words = 3'000'000});
    // sixteen of the forty, all of the ten; by place, whichever group is the larger one
    CHECK(node.places(all.heaps) ==
          Places{0, 2, 5, 7, 10, 12, 15, 17, 20, 22, 25, 27, 30, 32, 35, 37, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49});
    for (const ProcId id : all.heaps) CHECK(all.decode(id));
    CHECK_FALSE(all.decode(ProcId{1}));
    CHECK_FALSE(all.decode(ProcId{39}));
    CHECK(all.binaries.empty());
    CHECK(all.terms.empty());
    // the larger group first, as far as the words go
    CHECK(node.places(suspects(node.s, {.sample_words = 600'000}).heaps) == Places{40, 41, 42, 43});
    CHECK(node.places(suspects(node.s, {.sample_words = 599'999}).heaps) == Places{0, 2, 5, 7, 40, 41, 42});
    CHECK(suspects(node.s, {.sample_words = 29'999}).heaps.empty());
}

TEST_CASE("who holds many bytes of binaries is decoded once, whatever else it is", "[suspects]") {
    Idle node(100 * test::mebibyte, 1024 * test::mebibyte);
    const auto holds = [&](std::size_t place, std::uint64_t bytes) {
        node.s.processes[place].bin_vheap_words = bytes / 8;
        node.s.processes[place].old_bin_vheap_words = 0;
    };
    holds(48, 8 * test::mebibyte);
    holds(3, 20 * test::mebibyte);
    holds(45, 30 * test::mebibyte);
    holds(4, 8 * test::mebibyte - 8);  // too little
    node.seal();
    const Suspects found = suspects(node.s, {.sample_words = 600'000});
    CHECK(node.places(found.binaries) == Places{3, 45, 48});
    CHECK(node.places(found.heaps) == Places{3, 45, 48});  // the idle ones are too small a part of this node
    CHECK(found.decode(ProcId{45}));
    CHECK_FALSE(found.decode(ProcId{4}));
    // those that hold most come first, where not all fit
    CHECK(node.places(suspects(node.s, {.sample_words = 180'000}).binaries) == Places{3, 45});
    node.s.memory[1].bytes = 8 * test::mebibyte - 1;
    CHECK(suspects(node.s, {}).binaries.empty());
}

TEST_CASE("a holder of binaries that is idle as well is one to decode", "[suspects]") {
    Idle node(20 * test::mebibyte, 30 * test::mebibyte);
    node.s.processes[41].bin_vheap_words = 16 * test::mebibyte / 8;
    node.s.processes[41].old_bin_vheap_words = 0;
    node.seal();
    const Suspects found = suspects(node.s, {.sample_words = 450'000});
    CHECK(node.places(found.heaps) == Places{40, 41, 42});
    CHECK(node.places(found.binaries) == Places{41});
}

TEST_CASE("terms are looked into where a queue is long, or a heap the largest", "[suspects]") {
    const auto looked_into = [](const std::vector<std::pair<std::size_t, std::uint64_t>>& queues,
                                std::uint64_t binaries, const SuspectBudget& budget = {}) {
        Idle node(binaries, 200 * test::mebibyte);
        for (const auto& [place, messages] : queues) node.s.processes[place].msgq_len = messages;
        node.seal();
        const Suspects found = suspects(node.s, budget);
        for (const ProcId id : found.terms) CHECK(found.look_into(id));
        return node.places(found.terms);
    };
    CHECK(looked_into({{7, 1'000}, {3, 999}}, 0) == Places{7});
    CHECK(looked_into({{7, 200'000}, {3, 200'001}}, 0) == Places{7});                            // too long to be read
    CHECK(looked_into({{9, 5'000}, {1, 2'000}, {4, 3'000}, {2, 4'000}}, 0) == Places{2, 4, 9});  // the three longest
    CHECK(looked_into({{7, 1'000}}, 0, {.term_words = 29'999}).empty());
    CHECK(looked_into({{7, 1'000}}, 0, {.term_words = 30'000}) == Places{7});
    // where binaries are much of the node, shorter ones too: messages may keep them
    CHECK(looked_into({{7, 100}, {3, 99}}, 60 * test::mebibyte) == Places{7});
    CHECK(looked_into({{7, 100}}, 59 * test::mebibyte).empty());
    Idle node(0, 200 * test::mebibyte);
    node.s.processes[20].heap_words = test::mebibyte;
    node.s.processes[21].heap_words = test::mebibyte - 1;
    node.seal();
    CHECK(node.places(suspects(node.s, {}).terms) == Places{20});
    node.s.processes[20].heap_words = test::mebibyte - 1;
    CHECK(suspects(node.s, {}).terms.empty());
}

TEST_CASE("who holds a quarter of all is looked into, however large it is", "[suspects]") {
    Idle node(0, 2000 * test::mebibyte);
    Process& giant = node.s.processes[20];
    giant.heap_words = 20'000'000;
    giant.heap_unused_words = 0;
    giant.memory_bytes = 160'000'000;
    for (std::size_t i = 0; i < node.s.processes.size(); ++i)
        if (i != 20) node.s.processes[i].memory_bytes = 0;
    node.s.processes[21].memory_bytes = 480'000'000 - 1'000'000;
    node.seal();
    const auto looked_into = [&](const SuspectBudget& budget) { return node.places(suspects(node.s, budget).terms); };
    giant.msgq_len = 1'000;  // whose queue is asked about, though it is not the largest
    CHECK(looked_into({}) == Places{20});
    CHECK(looked_into({.giant_words = 19'999'999}).empty());
    giant.msgq_len = 300'000;
    CHECK(looked_into({}) == Places{20});
    CHECK(looked_into({.giant_messages = 299'999}).empty());
    node.s.processes[21].memory_bytes = 480'000'000 + 1'000'000;
    CHECK(looked_into({}).empty());
    CHECK(looked_into({.term_words = 20'000'000, .messages = 300'000}) == Places{20});
}

TEST_CASE("messages are read evenly from the whole queue, the first among them", "[suspects]") {
    // {first, I} of 40, then {second, I}; the stack and the dictionary are further roots
    const auto facts_of = [](std::size_t first, std::size_t messages) {
        std::string queue, heap;
        for (std::size_t i = 0; i < messages; ++i) {
            queue += fmt::format("H{:X}:N\n", 0x7F0000001000 + 64 * i);
            heap += fmt::format("{:X}:t2:A5:{},I{}\n", 0x7F0000001000 + 64 * i, i < first ? "first" : "later", i);
        }
        LoadPlan plan = test::everything();
        plan.terms = true;
        const auto artifact = test::load(test::header() + test::process("<0.50.0>") + "=proc_messages:<0.50.0>\n" +
                                             queue + "=proc_dictionary:<0.50.0>\nN\n" +
                                             "=proc_stack:<0.50.0>\ny0:N\n=proc_heap:<0.50.0>\n" + heap + "=end\n",
                                         plan);
        REQUIRE(artifact);
        auto terms = artifact->terms(ProcId{0});
        REQUIRE(terms);
        return look_into(artifact->snapshot(), ProcId{0}, **terms);
    };
    CHECK(facts_of(40, 99).messages_read == 0);
    const TermFacts facts = facts_of(40, 100);
    CHECK(facts.messages_read == 100);
    REQUIRE(facts.shapes.size() == 2);
    CHECK(facts.shapes[0].percent == Approx(60));
    CHECK(facts.shapes[1].percent == Approx(40));
    const TermFacts sampled = facts_of(1'000, 4'000);
    CHECK(sampled.messages_read == 2'000);
    REQUIRE(sampled.shapes.size() == 2);
    CHECK(sampled.shapes[0].percent == Approx(75));
}

TEST_CASE("a term explains a heap of which it is a quarter, not one that is mostly garbage", "[suspects]") {
    const auto facts_of = [](std::uint64_t unused) {
        std::string heap;  // 100 cells of two words
        for (std::uint64_t i = 0; i < 100; ++i)
            heap +=
                fmt::format("{:X}:lI{}|{}\n", 0x1000 + 16 * i, i, i < 99 ? fmt::format("H{:X}", 0x1010 + 16 * i) : "N");
        LoadPlan plan = test::everything();
        plan.terms = true;
        const auto artifact =
            test::load(test::header() +
                           "=proc:<0.50.0>\nState: Waiting\nMessage queue length: 0\nStack+heap: 1000\nOldHeap: "
                           "0\nHeap fragment data: 0\n" +
                           fmt::format("Heap unused: {}\n", unused) +
                           "OldHeap unused: 0\n=proc_stack:<0.50.0>\ny0:H1000\n=proc_heap:<0.50.0>\n" + heap + "=end\n",
                       plan);
        REQUIRE(artifact);
        auto terms = artifact->terms(ProcId{0});
        REQUIRE(terms);
        return look_into(artifact->snapshot(), ProcId{0}, **terms);
    };
    const TermFacts quarter = facts_of(200);  // 800 words in use
    CHECK_FALSE(quarter.accumulation.empty());
    CHECK(quarter.accumulated_bytes == 1'600);
    const TermFacts less = facts_of(199);
    CHECK(less.accumulation.empty());
    CHECK(less.accumulated_bytes == 0);
}

TEST_CASE("binaries of messages that were not read are as many as of those that were, where each has its own",
          "[suspects]") {
    // 4,000 messages, of which 2,000 are read: a binary of 1,000 bytes behind each of them, or one behind all
    const auto bytes_of = [](std::size_t messages, std::size_t binaries) {
        std::string queue, heap;
        for (std::size_t i = 0; i < messages; ++i) {
            queue += fmt::format("H{:X}:N\n", 0x100000 + 64 * i);
            heap += fmt::format("{:X}:Yc{:X}:0:3E8\n", 0x100000 + 64 * i, 0x900000 + 64 * (i * binaries / messages));
        }
        LoadPlan plan = test::everything();
        plan.terms = true;
        const auto artifact =
            test::load(test::header() + test::process("<0.50.0>") + "=proc_messages:<0.50.0>\n" + queue +
                           "=proc_stack:<0.50.0>\ny0:N\n=proc_heap:<0.50.0>\n" + heap + "=end\n",
                       plan);
        REQUIRE(artifact);
        auto terms = artifact->terms(ProcId{0});
        REQUIRE(terms);
        return look_into(artifact->snapshot(), ProcId{0}, **terms).message_binary_bytes.value_or(0);
    };
    CHECK(bytes_of(100, 1) == 1'000);
    CHECK(bytes_of(100, 100) == 100'000);
    CHECK(bytes_of(4'000, 1) == 1'000);
    CHECK(bytes_of(4'000, 1'000) == 1'000'000);  // no more than half as many as messages are read: what was seen
    CHECK(bytes_of(4'000, 1'001) == 2'000'000);  // 1,001 in 2,000 messages, at 500 bytes each
    CHECK(bytes_of(4'000, 4'000) == 4'000'000);
}

TEST_CASE("of holders of as much the first ones are decoded", "[suspects]") {
    test::MadeSnapshot node;
    node.s.source.word_size = 8;
    for (std::uint32_t i = 0; i < 100; ++i) {
        Process& p = node.process(i + 1);
        p.heap_words = 1'000;
        p.heap_unused_words = p.old_heap_words = p.old_heap_unused_words = p.fragment_words = p.old_bin_vheap_words = 0;
        p.bin_vheap_words = 2 * test::mebibyte;
    }
    node.s.memory.push_back({node.text("binary"), 1024 * test::mebibyte, {}});
    node.seal();
    const std::vector<ProcId> found = suspects(node.s, {}).binaries;
    REQUIRE(found.size() == 64);
    for (std::uint32_t i = 0; i < found.size(); ++i) CHECK(index_of(found[i]) == i);
}
