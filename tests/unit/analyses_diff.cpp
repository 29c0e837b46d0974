// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "analyses/diagnosis/diff.hpp"
#include "analyses/diagnosis/limits.hpp"
#include "present/spelling.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

const Growth* row(const std::vector<Growth>& rows, GrowthOf what, std::string_view key, std::string_view measure) {
    for (const Growth& each : rows)
        if (each.what == what && each.key == key && each.measure == measure) return &each;
    return nullptr;
}

// A node whose pids begin at `first`: a registered writer with a queue, and unnamed workers.
void fill(test::MadeSnapshot& made, std::uint32_t first, std::uint64_t messages, std::uint32_t workers) {
    Process& writer = made.process(first, "writer");
    writer.msgq_len = messages;
    writer.memory_bytes = 1000 + messages * 64;
    const FunctionId work = made.function("worker", "init", 1);
    const FunctionId wait = made.function("worker", "wait", 0);
    for (std::uint32_t i = 0; i < workers; ++i) {
        Process& worker = made.process(first + 1 + i);
        worker.initial_call = work;
        worker.memory_bytes = 2000;
        worker.stack = made.stack({wait, work}, first);
    }
    made.s.memory.push_back({made.text("total"), 1'000'000 + messages * 64, {}});
}

}  // namespace

TEST_CASE("diff matches by name and by kind, never by pid", "[diff]") {
    test::MadeSnapshot a;
    fill(a, 10, 5, 3);
    test::MadeSnapshot b;
    fill(b, 500, 20'005, 3);
    const std::vector<Growth> rows = diff(a.seal(), b.seal());
    REQUIRE_FALSE(rows.empty());
    CHECK(rows.front().what == GrowthOf::process);
    CHECK(rows.front().key == "writer");
    CHECK(rows.front().measure == "messages");
    CHECK(rows.front().before == Count(5));
    CHECK(rows.front().after == Count(20'005));
    CHECK(rows.front().delta == 20'000);
    CHECK(rows.front().percent == Approx(400'000));
    // What did not change is not listed, though all pids differ.
    CHECK(row(rows, GrowthOf::process_group, "worker:init/1", "processes") == nullptr);
    CHECK(row(rows, GrowthOf::stack, "worker:wait/0 < worker:init/1", "processes") == nullptr);
    const Growth* total = row(rows, GrowthOf::memory, "total", "memory");
    REQUIRE(total != nullptr);
    CHECK(total->delta == 20'000 * 64);
}

TEST_CASE("diff counts the processes of a kind, and what shrank is last", "[diff]") {
    test::MadeSnapshot a;
    fill(a, 10, 4000, 2);
    test::MadeSnapshot b;
    fill(b, 10, 0, 402);
    const std::vector<Growth> rows = diff(a.seal(), b.seal());
    CHECK(rows.front().what == GrowthOf::process_group);
    CHECK(rows.front().key == "worker:init/1");
    CHECK(rows.front().delta == 400);
    CHECK(rows.back().key == "writer");
    CHECK(rows.back().delta == -4000);
    CHECK(rows.back().percent == Approx(-100));
    const Growth* stack = row(rows, GrowthOf::stack, "worker:wait/0 < worker:init/1", "processes");
    REQUIRE(stack != nullptr);
    CHECK(stack->delta == 400);
}

TEST_CASE("diff of an input with itself has no row", "[diff]") {
    test::MadeSnapshot a;
    fill(a, 10, 4000, 20);
    const Snapshot& s = a.seal();
    CHECK(diff(s, s).empty());
}

TEST_CASE("what an input does not hold did not grow", "[diff]") {
    test::MadeSnapshot a;
    a.process(1, "writer").msgq_len = Count();
    test::MadeSnapshot b;
    b.process(1, "writer").msgq_len = 7;
    b.s.memory.push_back({b.text("total"), 5, {}});
    const std::vector<Growth> rows = diff(a.seal(), b.seal());
    const Growth* messages = row(rows, GrowthOf::process, "writer", "messages");
    REQUIRE(messages != nullptr);
    CHECK_FALSE(messages->before.has());
    CHECK_FALSE(messages->delta);
    const Growth* total = row(rows, GrowthOf::memory, "total", "memory");
    REQUIRE(total != nullptr);
    CHECK_FALSE(total->delta);
    const auto limit = parse_limit("total>0");
    REQUIRE(limit);
    CHECK((*over_limit(*limit, rows)).empty());
}

TEST_CASE("limits on growth", "[diff]") {
    test::MadeSnapshot a;
    fill(a, 10, 100, 10);
    test::MadeSnapshot b;
    fill(b, 10, 250, 15);
    const std::vector<Growth> rows = diff(a.seal(), b.seal());
    const auto over = [&rows](std::string_view text) {
        const auto limit = parse_limit(text);
        REQUIRE(limit);
        return (*over_limit(*limit, rows)).size();
    };
    CHECK(over("msgq>149") == 1);
    CHECK(over("msgq>150") == 0);
    CHECK(over("msgq>=150") == 1);
    CHECK(over("msgq>149%") == 1);
    CHECK(over("msgq>151%") == 0);
    CHECK(over("processes>4") == 1);
    CHECK(over("processes>5") == 0);
    CHECK(over("total>9KiB") == 1);
    CHECK(over("total>10KiB") == 0);
    CHECK_FALSE(over_limit(*parse_limit("heap>1"), rows));
}

TEST_CASE("limits are read, or said to be wrong", "[limits]") {
    for (const std::string_view good : {"msgq>10000", "msgq >= 10k", "heap>512MiB", "atoms>80%", "processes>90%",
                                        "total>4GiB", "binary>50%", "memory>10%"})
        CHECK(parse_limit(good));
    for (const std::string_view bad :
         {"", "msgq", "msgq<5", "msgq>", "msgq>x", "msgs>5", "msgq>5MiB", "timers>5%", "total>50%", ">5"}) {
        CAPTURE(bad);
        const auto limit = parse_limit(bad);
        CHECK_FALSE(limit);
        if (!limit) CHECK(limit.error().code == ErrorCode::usage);
    }
    // sizes are of memory: no other figure has bytes
    for (const std::string_view bytes : {"memory", "heap", "stack", "total", "binary", "ets", "code"})
        CHECK(parse_limit(std::string(bytes) + ">5MiB"));
    for (const std::string_view counted :
         {"msgq", "links", "processes", "ports", "atoms", "ets_tables", "timers", "messages"}) {
        CAPTURE(counted);
        CHECK(parse_limit(std::string(counted) + ">5"));
        CHECK_FALSE(parse_limit(std::string(counted) + ">5MiB"));
    }
    FailOn fail_on;
    CHECK(add_fail_on(fail_on, "medium"));
    CHECK(add_fail_on(fail_on, "msgq>5"));
    CHECK(fail_on.severity == FindingSeverity::medium);
    CHECK(fail_on.limits.size() == 1);
}

TEST_CASE("a limit is held against each process and against the node", "[limits]") {
    test::MadeSnapshot a;
    fill(a, 10, 12'000, 3);
    a.process(99, "second").msgq_len = 11'000;
    a.s.node.atoms = 900;
    a.s.node.atom_limit = 1000;
    const Snapshot& s = a.seal();
    const Totals all = totals(s);
    const auto found = [&](std::string_view text) { return check_limit(*parse_limit(text), s, all); };

    const LimitVerdict queue = found("msgq>10000");
    REQUIRE(queue.finding);
    CHECK(queue.finding->rule == "limit-msgq");
    CHECK(queue.finding->severity == FindingSeverity::high);
    CHECK(s.text(queue.finding->name) == "writer");
    CHECK(queue.finding->count == Count(12'000));
    CHECK(present::plain_text(s, queue.finding->title) ==
          "writer <0.10.0> is over the limit of 10000 on msgq: 12,000; 2 processes are over it in all.");
    CHECK_FALSE(found("msgq>12000").finding);
    CHECK(found("msgq>=12000").finding);

    const LimitVerdict atoms = found("atoms>80%");
    REQUIRE(atoms.finding);
    CHECK(atoms.finding->percent == Approx(90));
    CHECK_FALSE(found("atoms>90%").finding);
    CHECK(found("atoms>899").finding);
    CHECK(found("processes>4").finding);
    CHECK_FALSE(found("processes>5").finding);

    // No process says how large its heap is: the limit is neither broken nor kept.
    CHECK_FALSE(found("heap>1MiB").known);
    CHECK_FALSE(found("binary>1MiB").known);
    CHECK(found("total>1MiB").known);
}

TEST_CASE("each limit is on its own figure", "[limits]") {
    test::MadeSnapshot made;
    Process& p = made.process(1, "one");
    p.msgq_len = 3;
    p.memory_bytes = 5'000;
    p.heap_words = 100;
    p.old_heap_words = 20;
    p.stack_words = 7;
    p.links = 9;
    made.s.memory = {{made.text("total"), 10'000},
                     {made.text("binary"), 2'000},
                     {made.text("ets"), 1'500},
                     {made.text("code"), 4'000}};
    made.s.node.process_limit = 200;
    made.s.node.port_limit = 50;
    made.s.node.atoms = 40;
    made.s.node.atom_limit = 80;
    made.s.ports.resize(2);
    made.s.ets.resize(5);
    made.s.timers.resize(6);
    const Snapshot& s = made.seal();
    const Totals all = totals(s);
    struct Case {
        std::string_view metric;
        std::uint64_t figure;
        std::optional<double> percent;  // of what it is a share of; none: nothing
    };
    for (const Case& each : {Case{"msgq", 3, 100.0},
                             {"memory", 5'000, 100.0},
                             {"heap", 120 * 8, 100.0},
                             {"stack", 56, 100.0},
                             {"links", 9, 100.0},
                             {"processes", 1, 0.5},
                             {"ports", 2, 4.0},
                             {"atoms", 40, 50.0},
                             {"ets_tables", 5, {}},
                             {"timers", 6, {}},
                             {"messages", 3, {}},
                             {"total", 10'000, {}},
                             {"binary", 2'000, 20.0},
                             {"ets", 1'500, 15.0},
                             {"code", 4'000, 40.0}}) {
        INFO(each.metric);
        const std::string name(each.metric);
        const auto held = [&](const std::string& text) { return check_limit(*parse_limit(text), s, all); };
        CHECK_FALSE(held(name + ">" + std::to_string(each.figure)).finding);
        const LimitVerdict broken = held(name + ">=" + std::to_string(each.figure));
        REQUIRE(broken.finding);
        CHECK(broken.finding->rule == "limit-" + (name == "ets_tables" ? "ets-tables" : name));
        CHECK((broken.finding->bytes.has() ? broken.finding->bytes : broken.finding->count) == Count(each.figure));
        CHECK(broken.finding->percent.has_value() == each.percent.has_value());
        if (each.percent) CHECK(*broken.finding->percent == Approx(*each.percent));
        CHECK(parse_limit(name + ">5%").operator bool() == each.percent.has_value());
        if (each.percent) {
            CHECK(held(name + ">=" + std::to_string(*each.percent) + "%").finding);
            CHECK_FALSE(held(name + ">" + std::to_string(*each.percent) + "%").finding);
        }
    }
}

TEST_CASE("growth is a share of what there was, and none of nothing", "[diff]") {
    const auto percent = [](std::uint64_t before, std::uint64_t after) {
        test::MadeSnapshot a, b;
        a.process(10, "writer").msgq_len = before;
        b.process(20, "writer").msgq_len = after;
        for (const Growth& row : diff(a.seal(), b.seal()))
            if (row.what == GrowthOf::process && row.measure == "messages") return row.percent;
        FAIL("no such row");
        return decltype(Growth::percent){};
    };
    CHECK(percent(1, 4'001).value() == Approx(400'000));
    CHECK(percent(2, 4'002).value() == Approx(200'000));
    CHECK_FALSE(percent(0, 4'000).has_value());
}

TEST_CASE("two moments of one running VM are told apart by pids, and have rates", "[diff]") {
    test::MadeSnapshot a, b;
    fill(a, 10, 5, 3);
    fill(b, 10, 25, 3);
    a.s.source.live = LiveReading{.pid = 4711, .read_at_ms = 1'000'000};
    b.s.source.live = LiveReading{.pid = 4711, .read_at_ms = 1'030'000};
    b.s.processes.back().memory_bytes = 5000;
    b.s.processes.back().reductions = 700;
    a.s.processes.back().reductions = 100;
    const Snapshot &before = a.seal(), &after = b.seal();
    CHECK(same_vm(before, after));
    CHECK_FALSE(same_vm(after, before));
    const std::vector<Growth> rows = diff(before, after);
    const Growth* const queue = row(rows, GrowthOf::process, "writer", "messages");
    REQUIRE(queue != nullptr);
    CHECK(queue->per_minute == 40);
    const Growth* const worker = row(rows, GrowthOf::process, "<0.13.0> worker:init/1", "memory");
    REQUIRE(worker != nullptr);
    CHECK(worker->delta == 3000);
    CHECK(worker->per_minute == 6000);
    const Growth* const work = row(rows, GrowthOf::process, "<0.13.0> worker:init/1", "reductions");
    REQUIRE(work != nullptr);
    CHECK(work->delta == 600);
    b.s.source.live->pid = 4712;
    CHECK_FALSE(same_vm(a.s, b.s));
    CHECK(row(diff(a.s, b.s), GrowthOf::process, "<0.13.0> worker:init/1", "memory") == nullptr);
}
