// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "analyses/processes/frame_marks.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/shell_work.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using test::MadeSnapshot;

namespace {

std::vector<std::uint32_t> members(const Snapshot& s, const ProcessGroups& groups, std::size_t group) {
    std::vector<std::uint32_t> result;
    for (const ProcId id : groups.members_of(groups.groups[group])) result.push_back(s[id].pid.number);
    return result;
}
using Indexes = std::vector<std::uint32_t>;
constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max() - 1;

}  // namespace

TEST_CASE("processes with the same stack are one group", "[groups]") {
    MadeSnapshot m;
    const StackId a = m.stack({m.function("a", "f", 1), m.function("b", "g", 2)});
    const StackId b = m.stack({m.function("a", "f", 1)});
    const StackId elsewhere = m.stack({m.function("a", "f", 1)}, 8);
    for (std::uint32_t i = 0; i < 7; ++i) {
        Process& p = m.process(10 + i);
        p.stack = i % 2 == 0 ? a : i == 3 ? elsewhere : b;
        p.memory_bytes = 100 * i;
        p.msgq_len = i;
    }
    m.process(50);
    const Snapshot& s = m.seal();
    const ProcessGroups groups = group_by_stack(s, all_processes(s));
    REQUIRE(groups.groups.size() == 4);
    CHECK(groups.groups[0].stack == a);
    CHECK(groups.groups[0].count == 4);
    CHECK(groups.groups[0].percent == Approx(50.0));
    CHECK(members(s, groups, 0) == Indexes{10, 12, 14, 16});
    CHECK(s[groups.groups[0].example].pid.number == 16);
    CHECK(groups.groups[0].memory_bytes.value() == Count(1200));
    CHECK(groups.groups[0].msgq_len.value() == Count(12));
    CHECK(groups.groups[1].stack == b);
    CHECK(members(s, groups, 1) == Indexes{11, 15});
    // Of groups of one, the one with more memory goes first; no stack and no memory comes last.
    CHECK(groups.groups[2].stack == elsewhere);
    CHECK(groups.groups[3].stack == StackId::none);
    CHECK(!groups.groups[3].memory_bytes.value().has());
    CHECK(groups.groups[3].memory_bytes.lower_bound());
    CHECK(groups.members.size() == 8);
}

TEST_CASE("groups take the selection that they are given", "[groups]") {
    MadeSnapshot m;
    for (std::uint32_t i = 0; i < 4; ++i) m.process(i).stack = m.stack({m.function("a", "f", 1)});
    const Snapshot& s = m.seal();
    const std::vector<ProcId> two{static_cast<ProcId>(1), static_cast<ProcId>(3)};
    const ProcessGroups groups = group_by_stack(s, two);
    REQUIRE(groups.groups.size() == 1);
    CHECK(groups.groups[0].count == 2);
    CHECK(groups.groups[0].percent == Approx(100.0));
    CHECK(members(s, groups, 0) == Indexes{1, 3});
    CHECK(group_by_stack(s, {}).groups.empty());
    CHECK(group_by_key(Snapshot{}, {}).members.empty());
}

TEST_CASE("the initial call is $initial_call, else what was spawned", "[groups]") {
    MadeSnapshot m;
    const FunctionId init_p = m.function("proc_lib", "init_p", 5);
    const FunctionId worker = m.function("my_worker", "init", 1);
    for (std::uint32_t i = 0; i < 3; ++i) {
        Process& p = m.process(i);
        p.initial_call = init_p;
        if (i != 1) p.real_initial_call = worker;
    }
    const Snapshot& s = m.seal();
    const ProcessGroups groups = group_by_initial_call(s, all_processes(s));
    REQUIRE(groups.groups.size() == 2);
    CHECK(groups.groups[0].function == worker);
    CHECK(groups.groups[1].function == init_p);
}

TEST_CASE("the group key is the named ancestor, else the label, else the initial call", "[groups]") {
    MadeSnapshot m;
    Process p;
    CHECK(group_key(p).kind == GroupKey::Kind::none);
    CHECK(group_text(m.s, group_key(p)).empty());
    p.initial_call = m.function("erlang", "apply", 2);
    CHECK(group_text(m.s, group_key(p)) == "erlang:apply/2");
    p.real_initial_call = m.function("Elixir.W", "init", 1);
    CHECK(group_text(m.s, group_key(p)) == "'Elixir.W':init/1");
    p.label = m.text("{conn,7}");
    CHECK(group_text(m.s, group_key(p)) == "{conn,7}");
    p.application = m.text("Elixir.Sup");
    CHECK(group_text(m.s, group_key(p)) == "'Elixir.Sup'");
    CHECK(group_key(p).kind == GroupKey::Kind::ancestor);

    // A label and an ancestor with the same text are two groups.
    m.process(1).application = m.text("same");
    m.process(2).label = m.text("same");
    m.process(3).application = m.text("same");
    const Snapshot& s = m.seal();
    const ProcessGroups groups = group_by_key(s, all_processes(s));
    REQUIRE(groups.groups.size() == 2);
    CHECK(members(s, groups, 0) == Indexes{1, 3});
}

TEST_CASE("sums of forged figures saturate", "[groups]") {
    MadeSnapshot m;
    for (std::uint32_t i = 0; i < 3; ++i) {
        Process& p = m.process(i);
        p.memory_bytes = huge;
        p.heap_words = huge;
        p.heap_unused_words = 1;
        p.old_heap_words = huge;
        p.old_heap_unused_words = 0;
        p.fragment_words = huge;
    }
    const Snapshot& s = m.seal();
    CHECK(group_by_key(s, all_processes(s)).groups[0].memory_bytes.value() == Count(huge));
    CHECK(used_words(s.processes[0]) == Count(huge));
    CHECK(words_to_bytes(huge, 8) == Count(huge));
    CHECK(!words_to_bytes(Count(), 8).has());
}

TEST_CASE("columns of processes", "[groups]") {
    MadeSnapshot m;
    for (std::uint32_t i = 0; i < 5; ++i) m.process(i).msgq_len = i % 3;
    m.process(9).msgq_len = Count();
    const Snapshot& s = m.seal();
    CHECK(test::numbers(s, largest(s, all_processes(s), &Process::msgq_len, 3)) == Indexes{2, 1, 4});
    CHECK(test::numbers(s, largest(s, all_processes(s), &Process::msgq_len, 0)) == Indexes{2, 1, 4, 0, 3, 9});
    CHECK(test::numbers(s, largest(s, all_processes(s), &Process::msgq_len, 100)).size() == 6);
    for (const ProcessColumn& column : process_columns()) {
        CAPTURE(column.name);
        CHECK(find_process_column(column.name) == &column);  // so no key is another column's name
        if (!column.key.empty()) CHECK(find_process_column(column.key) == &column);
        CHECK((find_process_figure(column.name) == &column) == column.is_figure());
        CHECK(column.is_figure() == (column.measure != Measure::none));
        CHECK((column.key.empty() || column.is_figure()));
        CHECK_FALSE(column.title.empty());
        CHECK_FALSE(column.doc.empty());
        // The name says the unit.
        CHECK(column.name.ends_with("_words") == (column.measure == Measure::words));
        CHECK(column.name.ends_with("_bytes") == (column.measure == Measure::bytes));
    }
    CHECK(find_process_column("pid")->kind() == "pid");
    CHECK(find_process_column("msgq")->kind() == "figure");
    CHECK(find_process_column("group_key")->kind() == "group");
    CHECK(find_process_column("msgk") == nullptr);
    CHECK(find_process_column("") == nullptr);
    const auto figure = [](const Process& process, std::string_view name) {
        return find_process_figure(name)->figure(process);
    };
    Process p;
    p.heap_words = 100;
    p.heap_unused_words = 30;
    p.old_heap_words = 50;
    p.old_heap_unused_words = 10;
    p.fragment_words = 5;
    CHECK(figure(p, "used") == Count(115));
    p.bin_vheap_words = 7;
    p.old_bin_vheap_words = 9;
    CHECK(figure(p, "bin_vheap") == Count(7));
    CHECK(figure(p, "old_bin_vheap") == Count(9));
    CHECK(virtual_heap_words(p) == Count(16));
    p.links = 3;
    CHECK(figure(p, "links") == Count(3));
    p.old_heap_unused_words = 60;  // R13 and damage: more unused than there is
    CHECK(!figure(p, "used").has());
}

TEST_CASE("what works on what was typed into a shell, Erlang's or Elixir's", "[groups]") {
    MadeSnapshot m;
    const auto f = [&](std::string_view module, std::string_view name) { return m.function(module, name, 1); };
    m.process(1).stack = m.stack(
        {f("lists", "map"), f("my", "sum"), f("erl_eval", "do_apply"), f("shell", "exprs"), f("shell", "eval_loop")});
    m.process(2).stack = m.stack({f("code_server", "call"), f("erl_eval", "do_apply"), f("shell", "eval_loop")});
    m.process(3).stack =
        m.stack({f("Elixir.My", "run"), f("elixir", "eval_external_handler"), f("Elixir.IEx.Evaluator", "eval")});
    m.process(4).stack = m.stack({f("my", "sum"), f("erl_eval", "do_apply"), f("init", "start_it")});  // -eval
    m.process(5);
    const Snapshot& s = m.seal();
    const auto work = [&](std::size_t i) { return shell_work(s, s.processes[i]); };
    CHECK(work(0).in_shell);
    CHECK(work(0).called == f("my", "sum"));
    CHECK(work(1).called == f("code_server", "call"));
    CHECK(work(2).called == f("Elixir.My", "run"));
    CHECK_FALSE(work(3).in_shell);
    CHECK_FALSE(work(4).in_shell);
}

TEST_CASE("marks of functions are those of the stacks that they are on", "[groups]") {
    MadeSnapshot m;
    const FunctionId a = m.function("m", "a", 0), b = m.function("m", "b", 0), c = m.function("m", "c", 0);
    m.process(1).stack = m.stack({c, a});
    m.process(2).stack = m.stack({a, b, FunctionId::none});
    m.process(3).stack = m.stack({c});
    m.process(4);
    const Snapshot& s = m.seal();
    const std::vector<std::uint8_t> marks = marks_of_stacks(s, [&](FunctionId id) -> std::uint8_t {
        return id == a ? 1 : id == b ? 4 : 0;
    });
    std::vector<int> of;
    for (const Process& process : s.processes) of.push_back(mark_of(marks, process));
    CHECK(of == std::vector<int>{1, 5, 0, 0});
}

TEST_CASE("processes that are alike are one row, those with a name are not", "[groups]") {
    MadeSnapshot m;
    for (std::uint32_t i = 0; i < 6; ++i) {
        Process& p = m.process(i);
        p.initial_call = m.function("cart", "run", 1);
        p.current_function = m.function("gen", i == 5 ? "call" : "loop", 1);
        p.memory_bytes = 100;
        if (i == 0) p.name = m.text("first");
    }
    const Snapshot& s = m.seal();
    const ProcessGroups groups = group_alike(s, all_processes(s));
    REQUIRE(groups.groups.size() == 3);
    CHECK(groups.groups[0].count == 4);  // most memory first
    CHECK(groups.groups[0].memory_bytes.value() == Count(400));
    CHECK(members(s, groups, 0) == Indexes{1, 2, 3, 4});
    CHECK(groups.groups[1].count == 1);
    CHECK(groups.groups[2].count == 1);
}

TEST_CASE("where the input does not say what memory a process has, the largest have the largest heaps", "[groups]") {
    MadeSnapshot m;
    const std::uint64_t young[] = {233, 610, 1000, 377};
    const std::uint64_t old[] = {0, 17'711, 0, 4181};
    for (std::uint32_t i = 0; i < 4; ++i) {
        Process& p = m.process(i);
        p.initial_call = m.function("cart", "run", i < 2 ? 1 : 2);
        p.heap_words = young[i];
        p.old_heap_words = old[i];
    }
    const auto by_kind = [](const Snapshot& s) {
        std::vector<std::uint32_t> examples;
        for (const ProcessGroup& group : group_alike(s, all_processes(s)).groups)
            examples.push_back(index_of(group.example));
        return examples;
    };
    const Snapshot& s = m.seal();
    CHECK(!knows_memory(s));
    const ProcessGroups groups = group_alike(s, all_processes(s));
    CHECK(by_kind(s) == std::vector<std::uint32_t>{1, 3});
    CHECK(groups.groups[0].size_bytes.value() == Count((233 + 610 + 17'711) * std::uint64_t{s.source.word_size}));
    CHECK(!groups.groups[0].memory_bytes.value().has());

    MadeSnapshot known;  // who has its memory stands by it, whoever has none by the heaps
    for (std::uint32_t i = 0; i < 4; ++i) {
        Process& p = known.process(i);
        p.initial_call = known.function("cart", "run", i < 2 ? 1 : 2);
        p.heap_words = young[i];
        p.old_heap_words = old[i];
        if (i == 1) p.memory_bytes = 100;
        if (i == 2) p.memory_bytes = 1'000'000;
    }
    const Snapshot& t = known.seal();
    CHECK(knows_memory(t));
    CHECK(by_kind(t) == std::vector<std::uint32_t>{2, 0});
}
