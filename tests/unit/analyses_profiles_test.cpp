// SPDX-License-Identifier: Apache-2.0
// Who is charged with what: words by frames, counters of tracing, stacks that call themselves.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "analyses/diagnosis/function_words.hpp"
#include "analyses/memory/hidden_binaries.hpp"
#include "analyses/processes/recursion.hpp"
#include "analyses/processes/traced_profile.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

std::string called(const Snapshot& s, FunctionId id) {
    if (id == FunctionId::none) return "-";
    return std::string(s.text(s.functions[id].module)) + ":" + std::string(s.text(s.functions[id].name));
}

}  // namespace

TEST_CASE("words are charged to functions, of one process or of all", "[profile]") {
    test::MadeSnapshot made;
    const FunctionId a = made.function("m", "a", 1), b = made.function("m", "b", 1), other = made.function("n", "a", 0);
    made.process(1).stack = made.stack({a, b, a});
    made.process(2).stack = made.stack({b, other});
    made.process(3).stack = made.stack({a});
    const Snapshot& s = made.seal();
    const std::vector<HeapStats::FramesOf> frames{
        {ProcId{0}, {{0, 100}, {1, 50}, {2, 7}, {PlaceWords::messages, 30}}},
        {ProcId{1}, {{0, 60}, {1, 110}, {PlaceWords::dictionary, 5}, {PlaceWords::dictionary, 3}}},
        {ProcId{2}, {{0, 1'000'000}}},
    };
    const std::vector<bool> wanted{true, true, false};
    const auto rows = function_words(s, frames, wanted, false);
    REQUIRE(rows.size() == 5);
    const auto row = [&](std::size_t i) {
        return std::tuple(called(s, rows[i].function), rows[i].words, rows[i].frames, rows[i].place);
    };
    CHECK(row(0) == std::tuple("m:b", 110u, 2u, 0u));  // equals by name
    CHECK(row(1) == std::tuple("n:a", 110u, 1u, 0u));
    CHECK(row(2) == std::tuple("m:a", 107u, 2u, 0u));
    CHECK(row(3) == std::tuple("-", 30u, 0u, PlaceWords::messages));
    CHECK(row(4) == std::tuple("-", 8u, 0u, PlaceWords::dictionary));
    for (const FunctionWords& each : rows) CHECK(each.process == ProcId::none);

    const auto each = function_words(s, frames, wanted, true);
    REQUIRE(each.size() == 6);
    CHECK(each[0].words == 110);
    CHECK(each[0].process == ProcId{1});
    CHECK(each[1].words == 107);
    CHECK(each[1].process == ProcId{0});
    CHECK(function_words(s, frames, {false, false, false}, false).empty());
}

TEST_CASE("words of thousands of processes are added up as they come", "[profile]") {
    test::MadeSnapshot made;
    std::vector<FunctionId> functions;
    for (unsigned f = 0; f < 7; ++f) functions.push_back(made.function("m", "f" + std::to_string(f), 0));
    constexpr std::uint32_t processes = 9000;
    std::vector<HeapStats::FramesOf> frames;
    for (std::uint32_t i = 0; i < processes; ++i) {
        made.process(i + 1).stack = made.stack({functions[i % 7], functions[i % 3]});
        frames.push_back({ProcId{i}, {{0, i}, {1, 1}, {PlaceWords::dictionary, 2}}});
    }
    const Snapshot& s = made.seal();
    const std::vector<bool> wanted(processes, true);
    std::vector<std::uint64_t> words(7), count(7);
    for (std::uint32_t i = 0; i < processes; ++i) words[i % 7] += i, words[i % 3] += 1, ++count[i % 7], ++count[i % 3];
    const auto rows = function_words(s, frames, wanted, false);
    REQUIRE(rows.size() == 8);
    for (const FunctionWords& row : rows) {
        if (row.function == FunctionId::none) {
            CHECK(row.words == 2 * processes);
            continue;
        }
        const auto f = static_cast<std::size_t>(std::ranges::find(functions, row.function) - functions.begin());
        CHECK(row.words == words[f]);
        CHECK(row.frames == count[f]);
    }
    CHECK(std::ranges::is_sorted(rows, std::greater(), &FunctionWords::words));
    std::uint64_t twice = 0;
    for (std::uint32_t i = 0; i < processes; ++i) twice += i % 7 == i % 3;
    CHECK(function_words(s, frames, wanted, true).size() == 3 * processes - twice);
}

TEST_CASE("of functions with as many words the names decide, and what is no function comes behind them", "[profiles]") {
    test::MadeSnapshot made;
    const std::vector<FunctionId> functions{made.function("m", "b", 1), made.function("m", "a", 2),
                                            made.function("m", "a", 1), made.function("l", "z", 0)};
    made.process(1).stack = made.stack(functions);
    const Snapshot& s = made.seal();
    const auto rows =
        function_words(s, {{ProcId{0}, {{PlaceWords::dictionary, 5}, {0, 5}, {1, 5}, {2, 5}, {3, 5}}}}, {true}, false);
    REQUIRE(rows.size() == 5);
    CHECK(rows[0].function == functions[3]);
    CHECK(rows[1].function == functions[2]);
    CHECK(rows[2].function == functions[1]);
    CHECK(rows[3].function == functions[0]);
    CHECK(rows[4].function == FunctionId::none);
}

TEST_CASE("what a process's virtual heap counts beyond what is listed is hidden behind its slices", "[binaries]") {
    test::MadeSnapshot made;
    for (unsigned i = 1; i <= 4; ++i) {
        Process& process = made.process(i);
        if (i != 4) process.bin_vheap_words = 1000;
        process.old_bin_vheap_words = 250;
    }
    const Snapshot& s = made.seal();
    const auto reference = [](std::uint32_t process, std::uint64_t address, std::uint64_t size, bool named) {
        return HeldBinary{{address, 0, size, ProcId{process}}, named};
    };
    // 10,000 bytes each. Of the first 5,000 and 1,000 are listed: one of two references to the larger one shows less.
    std::vector<HeldBinary> held{reference(0, 0x10, 400, true),     reference(0, 0x20, 1000, true),
                                 reference(0, 0x10, 5000, true),    reference(0, 0x99, 3000, false),
                                 reference(0, 0xa9, 999, false),    reference(1, 0x10, 5000, true),  // no slices
                                 reference(2, 0x77, 10'000, false),                                  // show all of it
                                 reference(3, 0x78, 1, false)};  // its virtual heap is not known
    std::size_t asked = 0;
    const auto size_of = [&asked](std::uint64_t address) { return ++asked, address == 0x20 ? Count(900) : Count{}; };
    const auto rows = hidden_binaries(s, held, size_of);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].process == ProcId{0});
    CHECK(rows[0].slices == 2);
    CHECK(rows[0].seen_bytes == 3999);
    CHECK(rows[0].vheap_bytes == 10'000);
    CHECK(rows[0].hidden_bytes == 10'000 - 5000 - 900);  // what is listed counts with its own size, if that is less
    CHECK(asked == 3);
    held[0].reference.size = 5001;  // now what is hidden is no more than what slices show
    held[1].reference.size = 0;
    held[3].reference.size = 4000;
    held[4].reference.size = 999;
    CHECK(hidden_binaries(s, held, size_of).empty());
}

TEST_CASE("counters of tracing are added up by function, or told by process", "[profile]") {
    test::MadeSnapshot made;
    const FunctionId a = made.function("m", "a", 1), b = made.function("m", "b", 1), c = made.function("m", "c", 1);
    const Snapshot& s = made.seal();
    TracedFunction measured{a, TextId::none, {}, true, true, {}, {}};
    measured.memory = {{{0, 1, 0}, 4, 100}, {{0, 2, 0}, 6, 50}};
    measured.time = {{{0, 2, 0}, 6, 900}, {{0, 3, 0}, 1, 70}};
    TracedFunction counted{b, TextId::none, 12, false, false, {}, {}};
    TracedFunction silent{c, TextId::none, 0, true, true, {}, {}};
    const std::vector<TracedFunction> traced{counted, measured, silent};
    const auto all = [](FunctionId) { return true; };

    const TracedProfile sums = traced_profile(traced, false, all);
    CHECK(sums.functions == 3);
    CHECK(sums.measure == &TracedRow::words);
    CHECK(sums.total == Count(150));
    CHECK_FALSE(sums.sessions);
    REQUIRE(sums.rows.size() == 3);
    CHECK(called(s, sums.rows[0].function) == "m:a");
    CHECK(sums.rows[0].calls == Count(10));  // of the memory's counters, which are those of the time's, too
    CHECK(sums.rows[0].words == Count(150));
    CHECK(sums.rows[0].time == Count(970));
    CHECK(called(s, sums.rows[1].function) == "m:b");
    CHECK(sums.rows[1].calls == Count(12));
    CHECK_FALSE(sums.rows[1].words.has());
    CHECK_FALSE(sums.rows[1].time.has());
    CHECK(sums.rows[2].words == Count(0));

    const TracedProfile rows = traced_profile(traced, true, all);
    REQUIRE(rows.rows.size() == 5);
    CHECK(rows.rows[0].pid == Pid{0, 1, 0});
    CHECK(rows.rows[0].words == Count(100));
    CHECK_FALSE(rows.rows[0].time.has());
    CHECK(rows.rows[1].pid == Pid{0, 2, 0});
    CHECK(rows.rows[1].words == Count(50));
    CHECK(rows.rows[1].time == Count(900));
    CHECK(rows.rows[1].calls == Count(6));
    CHECK(rows.total == Count(150));
    const auto late = std::ranges::find(rows.rows, Pid{0, 3, 0}, &TracedRow::pid);
    REQUIRE(late != rows.rows.end());
    CHECK(late->time == Count(70));
    CHECK(late->calls == Count(1));

    // Without words the profile is about time, without time about calls.
    TracedFunction timed{a, TextId::none, {}, true, false, {{{0, 1, 0}, 2, 30}}, {}};
    CHECK(traced_profile(std::vector{counted, timed}, false, all).measure == &TracedRow::time);
    CHECK(traced_profile(std::vector{counted, timed}, false, all).rows[0].function == a);
    const TracedProfile calls =
        traced_profile(std::vector{silent, counted}, false, [&](FunctionId f) { return f == b; });
    CHECK(calls.measure == &TracedRow::calls);
    CHECK(calls.functions == 1);
    CHECK(calls.total == Count(12));
    TracedFunction elsewhere = counted;
    elsewhere.session = made.text("other");
    CHECK(traced_profile(std::vector{counted, elsewhere}, false, all).sessions);
}

TEST_CASE("a heap on which nothing is, and that has to grow, is all stack", "[recursion]") {
    const auto of = [](std::uint64_t unused, std::uint64_t old, std::uint64_t refused,
                       std::optional<std::uint64_t> stack) {
        test::MadeSnapshot made;
        made.function("m", "walk", 1);
        Process& p = made.process(1);
        p.current_function = FunctionId{0};
        if (stack) p.stack_words = *stack;
        p.heap_words = 16'000;
        p.heap_unused_words = unused;
        p.old_heap_words = p.old_heap_unused_words = old;
        p.fragment_words = 0;
        return recursion_by_sizes(made.seal(), ProcId{0}, refused, 16'000);
    };
    const auto found = of(16'000, 0, 26'000, {});
    REQUIRE(found);
    CHECK(found->stack_words == 16'000);
    CHECK(found->function == FunctionId{0});
    CHECK(found->by_sizes);
    CHECK(of(15'000, 0, 26'000, {})->stack_words == 15'000);
    CHECK_FALSE(of(14'999, 0, 26'000, {}));       // more than a sixteenth are terms
    CHECK_FALSE(of(16'000, 16'001, 26'000, {}));  // an old heap as large
    CHECK_FALSE(of(16'000, 0, 70'000, {}));       // one large term was wanted
    CHECK_FALSE(of(16'000, 0, 26'000, 12));       // its stack is known
}

TEST_CASE("a stack is a recursion where three frames in four are of three functions", "[recursion]") {
    const FunctionId walk{0}, each{1}, begin{2}, odd{3}, x{4}, y{5};
    const auto of = [&](const std::vector<FunctionId>& functions, std::uint64_t stack, std::uint64_t heap,
                        std::uint64_t unused, std::uint64_t least) {
        test::MadeSnapshot made;
        for (const char* name : {"walk", "each", "begin", "odd", "x", "y"}) made.function("m", name, 1);
        Process& p = made.process(1);
        p.stack = made.stack(functions);
        p.stack_words = stack;
        p.heap_words = heap;
        p.heap_unused_words = unused;
        p.old_heap_words = 0;
        p.old_heap_unused_words = 0;
        p.fragment_words = 0;
        return recursion(made.seal(), ProcId{0}, least);
    };
    std::vector<FunctionId> deep(60, walk);
    deep.insert(deep.end(), 30, each);
    deep.insert(deep.end(), {begin, odd});
    const auto found = of(deep, 10'000, 20'000, 15'000, 10'000);
    REQUIRE(found);
    CHECK(found->stack_words == 10'000);
    CHECK(found->heap_words == Count(5'000));
    CHECK(found->function == walk);
    CHECK(found->calls == 60);
    CHECK(found->circle == std::vector{walk, each});
    CHECK(found->begun_by == begin);
    CHECK_FALSE(of(deep, 10'000, 20'000, 15'000, 10'001));  // a small stack
    CHECK_FALSE(of(deep, 10'000, 30'000, 19'999, 10'000));  // the heap holds a word more
    CHECK(of(deep, 10'000, 30'000, 20'000, 10'000));
    CHECK(of({walk, begin}, 10'000, 0, 0, 1)->calls == 0);  // the stack is not there: who is in hand, and who called it
    CHECK(of({walk, begin}, 10'000, 0, 0, 1)->begun_by == begin);
    CHECK(of({walk, walk}, 10'000, 0, 0, 1)->begun_by == FunctionId::none);
    CHECK(of({}, 10'000, 0, 0, 1)->function == FunctionId::none);
    CHECK(of(std::vector<FunctionId>(64, walk), 10'000, 0, 0, 1)->begun_by == FunctionId::none);  // to the bottom
    CHECK(of(std::vector<FunctionId>(64, walk), 10'000, 0, 0, 1)->calls == 64);
    std::vector<FunctionId> mixed;
    for (int i = 0; i < 20; ++i) mixed.insert(mixed.end(), {walk, each, begin, odd, x, y});
    CHECK_FALSE(of(mixed, 10'000, 0, 0, 1));  // three of them are half
    std::vector<FunctionId> some(48, walk);
    for (int i = 0; i < 8; ++i) some.insert(some.end(), {x, y});
    CHECK(of(some, 10'000, 0, 0, 1));  // 48 of 64
}
