// SPDX-License-Identifier: Apache-2.0
// What servers keep of their troubles, in the terms of small dumps: how loaded a log handler is, which alarms are set,
// who may send nothing; and crowds of relations, deep stacks, pools that hand out tables.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <tuple>

#include "analyses/logs/service_keepers.hpp"
#include "analyses/logs/service_states.hpp"
#include "analyses/processes/recursion.hpp"
#include "analyses/processes/relations.hpp"
#include "analyses/rules/rules.hpp"
#include "present/spelling.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

LoadPlan with_terms() {
    LoadPlan plan = test::everything();
    plan.terms = true;
    plan.terms_of = ServiceKeepers();
    return plan;
}

struct Dump {
    std::unique_ptr<Artifact> artifact;
    Dump(const std::string& processes, const std::string& terms)
        : artifact(test::load(test::header() + processes + terms + "=end\n", with_terms())) {
        REQUIRE(artifact != nullptr);
    }
};

std::string stack_of(std::string_view pid, std::string_view function, std::string_view slots, std::string_view heap,
                     std::string_view dictionary = "") {
    return "=proc_dictionary:" + std::string(pid) + "\n" + std::string(dictionary) + "=proc_stack:" + std::string(pid) +
           "\n0x00007fad1c217d74:SReturn addr 0x1C217D74 (" + std::string(function) + " + 596)\n" + std::string(slots) +
           "=proc_heap:" + std::string(pid) + "\n" + std::string(heap);
}

struct Servers : test::MadeSnapshot {
    std::vector<Finding> findings(const std::vector<CreditBlock>& blocked = {}, std::uint64_t unread = 0) {
        ServiceStates states;
        states.blocked = blocked;
        states.credit_unread = unread;
        return test::findings_of(s, [&](Facts& facts) { facts.put(states); });
    }
    Process& at(std::uint32_t number, std::string_view name, const std::vector<FunctionId>& frames) {
        return MadeSnapshot::at(number, frames, name);
    }
    ProcId id(std::uint32_t number) { return s.find({0, number, 0}); }
};

}  // namespace

TEST_CASE("a log handler's limits and mode are in the state of its protection", "[services]") {
    const Dump dump(
        test::process("<0.5.0>", "Name: logger_std_h_default\nProgram counter: 0x0 (gen_server:loop/7 + 10)\n"),
        stack_of("<0.5.0>", "gen_server:loop/7", "y0:H100\n",
                 "100:Mf4:H200:I10,I200,I1000,A4:drop\n"
                 "200:t4:AE:sync_mode_qlen,AE:drop_mode_qlen,AA:flush_qlen,A4:mode\n"));
    const ServiceStates states = service_states(*dump.artifact);
    REQUIRE(states.handlers.size() == 1);
    CHECK(states.handlers[0].mode == "drop");
    CHECK(states.handlers[0].drop_qlen == Count(200));
    CHECK(states.handlers[0].flush_qlen == Count(1000));
    CHECK(states.alarms.empty());
}

TEST_CASE("alarms are the state of a handler of alarm_handler's manager", "[services]") {
    const Dump dump(
        test::process("<0.6.0>", "Name: alarm_handler\nProgram counter: 0x0 (gen_event:fetch_msg/6 + 10)\n"),
        stack_of("<0.6.0>", "gen_event:fetch_msg/6", "y0:H100\n",
                 "100:lH110|N\n110:t5:A7:handler,AD:alarm_handler,A5:false,H200,A5:false\n"
                 "200:lH210|H220\n220:lH230|N\n210:t2:A1C:system_memory_high_watermark,N\n230:t2:H240,N\n240:t2:A10:"
                 "disk_almost_full,A1:d\n"));
    const ServiceStates states = service_states(*dump.artifact);
    REQUIRE(states.alarms.size() == 2);
    CHECK(TermReader::is(states.alarms[0].id, "system_memory_high_watermark"));
    CHECK_FALSE(states.alarms[0].blocks_publishers);
}

TEST_CASE("a log that can't be written is told by who writes it", "[services]") {
    const Dump dump(
        test::process("<0.5.0>", "Program counter: 0x0 (logger_std_h:file_ctrl_loop/1 + 10)\n") +
            test::process("<0.6.0>", "Program counter: 0x0 (disk_log:loop/1 + 10)\n") +
            test::process("<0.7.0>", "Program counter: 0x0 (disk_log:loop/1 + 10)\n"),
        stack_of(
            "<0.5.0>", "logger_std_h:file_ctrl_loop/1", "y0:H100\n",
            "100:Mf3:H110:H120,H130,A2:ok\n110:t3:A9:file_name,A8:sync_res,A9:write_res\n120:lI47|H128\n128:lI97|N\n"
            "130:t2:A5:error,A6:enospc\n") +
            stack_of("<0.6.0>", "disk_log:loop/1", "y0:H200\n",
                     "200:t9:A5:state,N,N,N,N,I1,N,H210,A2:ok\n210:t2:A5:error,H220\n220:t3:AA:file_error,H230,A5:"
                     "erofs\n230:lI98|N\n") +
            stack_of("<0.7.0>", "disk_log:loop/1", "y0:H300\n",
                     "300:t9:A5:state,N,N,N,N,I1,N,H310,A2:ok\n310:t2:A5:error,H320\n320:t2:A4:full,A5:audit\n"));
    const ServiceStates states = service_states(*dump.artifact);
    REQUIRE(states.unwritten.size() == 2);  // the third is as long as it may be
    CHECK(states.unwritten[0].reason == "enospc");
    CHECK(TermReader(*states.unwritten[0].file).text(states.unwritten[0].file->term()) == "/a");
    CHECK(states.unwritten[1].reason == "erofs");
    CHECK(dump.artifact->snapshot()[states.unwritten[1].process].pid == Pid{0, 6, 0});
}

TEST_CASE("a table of dets that can't be written is told by the process of it", "[services]") {
    const std::string at = "Program counter: 0x0 (dets:open_file_loop2/2 + 10)\n";
    const std::string rest = ",N,N,N,N,N,N,N,N,N,N,N,N,N,N";
    const Dump dump(test::process("<0.5.0>", at) + test::process("<0.6.0>", at) + test::process("<0.7.0>", at),
                    stack_of("<0.5.0>", "dets:open_file_loop2/2", "y0:H100\n",
                             "100:t14:A4:head,N,N,N,N,H110" + rest +
                                 "\n110:t2:A5:error,H120\n120:t3:AA:file_error,H130,H140\n"
                                 "130:lI98|N\n140:t2:I1,A6:enospc\n") +
                        stack_of("<0.6.0>", "dets:open_file_loop2/2", "y0:H200\n",
                                 "200:t14:A4:head,N,N,N,N,A5:dirty" + rest + "\n") +
                        stack_of("<0.7.0>", "dets:open_file_loop2/2", "y0:H300\n",
                                 "300:t14:A4:head,N,N,N,N,H310" + rest +
                                     "\n310:t2:A5:error,H320\n320:t2:AE:not_a_dets_fil,A1:f\n"));
    const ServiceStates states = service_states(*dump.artifact);
    REQUIRE(states.unwritten.size() == 1);
    CHECK(states.unwritten[0].table);
    CHECK(states.unwritten[0].reason == "enospc");
    CHECK(TermReader(*states.unwritten[0].file).text(states.unwritten[0].file->term()) == "b");
}

TEST_CASE("who may send nothing keeps whose credit it wants in its dictionary", "[services]") {
    const std::string at = "Program counter: 0x0 (gen_server2:process_next_msg/1 + 10)\n";
    const Dump dump(
        test::process("<0.7.0>", at) + test::process("<0.8.0>", at) +
            test::process("<0.9.0>", "Program counter: 0x0 (shop:loop/1 + 10)\n"),
        stack_of("<0.7.0>", "gen_server2:process_next_msg/1", "", "100:t2:AE:credit_blocked,H110\n110:lP<0.8.0>|N\n",
                 "H100\n") +
            stack_of("<0.8.0>", "gen_server2:process_next_msg/1", "", "200:t2:AE:credit_blocked,N\n", "H200\n") +
            stack_of("<0.9.0>", "shop:loop/1", "", "300:t2:AE:credit_blocked,H310\n310:lP<0.8.0>|N\n", "H300\n"));
    const ServiceStates states = service_states(*dump.artifact);
    REQUIRE(states.blocked.size() == 1);  // the second is granted enough, the third is nothing of RabbitMQ's
    CHECK(dump.artifact->snapshot()[states.blocked[0].process].pid == Pid{0, 7, 0});
    CHECK(states.blocked[0].by == std::vector<Pid>{{0, 8, 0}});
}

TEST_CASE("a queue of RabbitMQ keeps what its channels have not acknowledged", "[services]") {
    const auto found = [](const std::string& count) {
        const Dump dump(
            test::process("<0.7.0>",
                          "Stack+heap: 1600000\nProgram counter: 0x0 (gen_server2:process_next_msg/1 + 10)\n"),
            stack_of("<0.7.0>", "gen_server2:process_next_msg/1", "",
                     "100:t2:H110,H120\n110:t2:A2:ch,P<0.8.0>\n120:t6:A2:cr,P<0.8.0>,I1,H130,I1,I0\n130:t3:I" + count +
                         ",H140,N\n140:lH150|N\n150:t2:I14999,H160\n160:Yh4:b25lIQ==\n",
                     "H100\n"));
        return service_states(*dump.artifact).unacknowledged;
    };
    const auto rows = found("15000");
    REQUIRE(rows.size() == 1);  // of a heap that is larger than other servers' may be
    CHECK(rows[0].count == 15000);
    CHECK(rows[0].channel == Pid{0, 8, 0});
    REQUIRE(rows[0].consumer != nullptr);
    CHECK(TermReader(*rows[0].consumer).text(rows[0].consumer->term()) == "one!");
    CHECK(found("1000").size() == 1);
    CHECK(found("999").empty());
}

TEST_CASE("of RabbitMQ's processes so many are read as a second or two takes, and the others are counted",
          "[services]") {
    const std::string at = "Stack+heap: 900000\nProgram counter: 0x0 (gen_server2:process_next_msg/1 + 10)\n";
    std::string processes, terms;
    for (int i = 1; i <= 40; ++i) {
        const std::string pid = "<0." + std::to_string(i) + ".0>";
        processes += test::process(pid, at);
        terms += stack_of(pid, "gen_server2:process_next_msg/1", "",
                          "100:t2:AE:credit_blocked,H110\n110:lP<0.99.0>|N\n", "H100\n");
    }
    const Dump dump(processes, terms);
    const ServiceStates states = service_states(*dump.artifact);
    CHECK(states.blocked.size() == 33);  // 33 * 900,000 words are less than 30 millions
    CHECK(states.credit_unread == 7);
}

TEST_CASE("the process of a connection knows for how many ticks nothing has come", "[services]") {
    struct {
        const char *kernel, *ticks;
        std::optional<std::uint64_t> silent;
    } const cases[] = {
        // {tick, Ticker, Time, Intensity}: 60 s in 60 ticks; {tick, Ticker, Time} of OTP 23: one of four is 15 s
        {"200:t4:A4:tick,P<0.9.0>,I60000,I60\n", "I51,I40,I7,I4", 3'000},
        {"200:t4:A4:tick,P<0.9.0>,I60000,I60\n", "I51,I40,I1,I59", 2'000},  // numbers go around
        {"200:t4:A4:tick,P<0.9.0>,I60000,I60\n", "I51,I40,I0,I60", 0},
        {"200:t3:A4:tick,P<0.9.0>,I15000\n", "I51,I40,I3,I1", 30'000},
        {"200:t5:AB:tick_change,P<0.9.0>,I60000,I4,A6:longer\n", "I51,I40,I3,I1", 30'000},
        {"200:t3:A4:tick,P<0.9.0>,I15000\n", "I51,I40,I9,I1", std::nullopt},  // no number of such a tick
    };
    for (const auto& each : cases) {
        const Dump dump(test::process("<0.5.0>", "Name: net_kernel\nProgram counter: 0x0 (gen_server:loop/7 + 10)\n") +
                            test::process("<0.6.0>", "Program counter: 0x0 (dist_util:con_loop/2 + 10)\n") +
                            test::process("<0.7.0>", "Program counter: 0x0 (dist_util:con_loop/2 + 10)\n"),
                        stack_of("<0.5.0>", "gen_server:loop/7", "y0:H100\n",
                                 std::string("100:t5:A5:state,A6:me@far,A9:longnames,H200,I7000\n") + each.kernel) +
                            stack_of("<0.6.0>", "dist_util:con_loop/2", "y0:H300\n",
                                     std::string("300:t5:A4:tick,") + each.ticks + "\n") +
                            stack_of("<0.7.0>", "dist_util:con_loop/2", "y0:H400\n", "400:t5:A4:tick,I0,I0,I0,I0\n"));
        const ServiceStates states = service_states(*dump.artifact);
        REQUIRE(states.ticks.size() == 1);  // the other has not looked yet
        CHECK(dump.artifact->snapshot()[states.ticks[0].process].pid == Pid{0, 6, 0});
        INFO(each.kernel << each.ticks);
        CHECK(states.tick_time.silent_ms(states.ticks[0]) == each.silent);
    }
    CHECK(TickTime{}.silent_ms({}) == std::nullopt);
}

TEST_CASE("connections without credit lead to who grants none", "[services]") {
    for (const bool stuck : {false, true}) {
        Servers node;
        node.at(1, "", {stuck ? node.function("disk", "sync", 1) : node.function("gen_server2", "process_next_msg", 1)})
            .msgq_len = 400;
        std::vector<CreditBlock> blocked;
        for (std::uint32_t i = 0; i < 4; ++i) {
            node.at(10 + i, "", {node.function("gen_server2", "process_next_msg", 1)});
            node.at(20 + i, "", {node.function("rabbit_reader", "mainloop", 4)});
        }
        node.at(30, "", {node.function("rabbit_reader", "mainloop", 4)});
        node.seal();
        for (std::uint32_t i = 0; i < 4; ++i) {
            blocked.push_back({node.id(10 + i), {{0, 1, 0}}});
            blocked.push_back({node.id(20 + i), {{0, 10 + i, 0}}});
        }
        blocked.push_back({node.id(30), {{0, 99, 0}}});  // who has ended
        const std::vector<Finding> found = node.findings(blocked);
        const Finding* credit = test::first_of(found, "credit-flow");
        REQUIRE(credit != nullptr);
        CHECK(credit->severity == (stuck ? FindingSeverity::high : FindingSeverity::medium));
        CHECK(credit->count == Count(8));
        CHECK(credit->process == node.id(1));
        CHECK(
            present::plain_text(node.s, credit->title)
                .starts_with(
                    "8 processes of RabbitMQ (4 connections) wait for credit from <0.1.0>; it has 400 messages and "));
        CHECK(test::first_of(node.findings(), "credit-flow") == nullptr);

        const std::vector<Finding> some = node.findings(blocked, 700);
        credit = test::first_of(some, "credit-flow");
        REQUIRE(credit != nullptr);
        CHECK(present::plain_text(node.s, credit->title).starts_with("At least 8 processes of RabbitMQ"));
        CHECK(credit->confidence == Confidence::lower_bound);
        const std::vector<Finding> none = node.findings({}, 700);
        credit = test::first_of(none, "credit-flow");
        REQUIRE(credit != nullptr);
        CHECK(credit->severity == FindingSeverity::info);
        CHECK(credit->count == Count(700));
    }
}

TEST_CASE("what a queue never got back is told by queue and channel, and behind an alarm of memory", "[services]") {
    Servers node;
    node.at(1, "rabbit_alarm", {node.function("gen_event", "fetch_msg", 6)});
    node.at(7, "", {node.function("gen_server2", "process_next_msg", 1)});
    node.at(8, "", {node.function("gen_server2", "process_next_msg", 1)});
    node.seal();
    // An alarm's term lives where it was read.
    const auto alarm = [&](const std::string& atom) {
        const Dump dump(
            test::process("<0.6.0>", "Name: alarm_handler\nProgram counter: 0x0 (gen_event:fetch_msg/6 + 10)\n"),
            stack_of("<0.6.0>", "gen_event:fetch_msg/6", "y0:H100\n",
                     "100:lH110|N\n110:t5:A7:handler,AD:alarm_handler,A5:false,H200,A5:false\n200:lH210|N\n210:t2:A" +
                         fmt::format("{:X}", atom.size()) + ":" + atom + ",N\n"));
        std::vector<SetAlarm> alarms = service_states(*dump.artifact).alarms;
        REQUIRE(alarms.size() == 1);
        alarms.front().holder = node.id(1);
        alarms.front().blocks_publishers = true;
        return alarms;
    };
    const auto told = [&](std::uint64_t count, std::vector<SetAlarm> alarms) {
        ServiceStates states;
        states.unacknowledged = {{node.id(7), {0, 8, 0}, 1'000, nullptr}, {node.id(7), {0, 9, 0}, count, nullptr}};
        states.alarms = std::move(alarms);
        return test::findings_of(node.s, [&](Facts& facts) { facts.put(states); });
    };
    const std::string said = "15,000 messages of <0.7.0> are not acknowledged by channel <0.9.0>";
    const auto findings = told(15'000, alarm("memory"));
    const Finding* first = test::first_of(findings, "unacknowledged");
    REQUIRE(first != nullptr);
    CHECK(present::plain_text(node.s, first->title) == said);
    CHECK(first->severity == FindingSeverity::medium);
    CHECK(first->process == node.id(7));
    const auto behind = [&](const std::vector<Finding>& all) {
        const Finding* of = test::first_of(all, "alarm");
        REQUIRE(of != nullptr);
        return present::plain_text(node.s, of->behind);
    };
    CHECK(behind(findings) == said);
    CHECK(behind(told(15'000, alarm("disk"))).empty());
    CHECK(behind(told(9'999, alarm("memory"))).empty());
    CHECK(test::first_of(told(9'999, {}), "unacknowledged")->severity == FindingSeverity::info);
}

TEST_CASE("credit that two want of each other has no end", "[services]") {
    Servers node;
    for (std::uint32_t i = 1; i <= 2; ++i) node.at(i, "", {node.function("gen_server2", "process_next_msg", 1)});
    node.seal();
    const std::vector<CreditBlock> blocked{{node.id(1), {{0, 2, 0}}}, {node.id(2), {{0, 1, 0}}}};
    CHECK(test::first_of(node.findings(blocked), "credit-flow") == nullptr);
}

TEST_CASE("of those who grant no credit the three are told for whom most wait, ten of them as high", "[services]") {
    Servers node;
    const std::uint32_t waiting[] = {9, 2, 10, 1, 3};  // for the processes 1 to 5
    for (std::uint32_t end = 1; end <= 5; ++end)
        node.at(end, "", {node.function("gen_server2", "process_next_msg", 1)}).msgq_len = end;
    node.at(6, "", {node.function("gen_server", "loop", 7)}).msgq_len = 0;  // keeps up: its credit is on its way
    std::vector<std::pair<std::uint32_t, std::uint32_t>> wants{{600, 6}};
    node.at(600, "", {node.function("gen_server2", "process_next_msg", 1)});
    for (std::uint32_t end = 1; end <= 5; ++end)
        for (std::uint32_t i = 0; i < waiting[end - 1]; ++i) {
            node.at(100 * end + i, "", {node.function("gen_server2", "process_next_msg", 1)});
            wants.emplace_back(100 * end + i, end);
        }
    node.seal();
    std::vector<CreditBlock> blocked;
    for (const auto& [who, of] : wants)
        blocked.push_back({node.id(who), {{0, 999, 0}, {0, of, 0}}});  // the first has ended
    std::vector<std::string> told;
    for (const Finding& finding : node.findings(blocked))
        if (finding.rule == "credit-flow")
            told.push_back(std::to_string(static_cast<int>(finding.severity)) + " " +
                           std::to_string(finding.count.value_or(0)) + " " +
                           std::to_string(node.s[finding.process].pid.number) + " " +
                           std::to_string(finding.members.size()));
    CHECK(told == std::vector<std::string>{"2 10 3 11", "1 9 1 10", "1 3 5 4"});
}

TEST_CASE("who has a pool's tables has its connections", "[services]") {
    Servers node;
    node.at(1, "shop_repo", {node.function("gen_server", "loop", 7)});
    for (std::uint32_t i = 0; i < 12; ++i) {
        node.at(10 + i, "",
                {node.function("Elixir.DBConnection.Holder", "checkout_call", 6), node.function("shop", "query", 1)});
        Link monitor;
        monitor.kind = LinkKind::monitors;
        monitor.pid = {0, 1, 0};
        monitor.ref = {1, 2, i};
        node.s.processes.back().link_range = {static_cast<std::uint32_t>(node.s.links.size()), 1};
        node.s.links.push_back(monitor);
        StackSlot held;
        held.process = static_cast<ProcId>(node.s.processes.size() - 1);
        held.kind = StackSlot::Kind::reference;
        held.words = 3;
        held.ref = monitor.ref;
        node.s.slots.push_back(held);
    }
    node.at(50, "", {node.function("shop", "report", 1)});
    for (const std::uint32_t owner : {50u, 50u, 1u}) {  // two of its connections; one is the pool's, and free
        EtsTable& table = node.s.ets.emplace_back();
        table.name = node.text("Elixir.DBConnection.Holder");
        table.owner = {0, owner, 0};
    }
    node.seal();
    const std::vector<Finding> found = node.findings();
    const Finding* convoy = test::first_of(found, "wait-convoy");
    REQUIRE(convoy != nullptr);
    CHECK(convoy->severity >= FindingSeverity::high);
    CHECK(present::plain_text(node.s, convoy->title).find(" gives something back, which ") != std::string::npos);
    CHECK(std::ranges::any_of(convoy->evidence, [&](const Evidence& e) {
        return present::plain_text(node.s, e.name) == "<0.50.0>, who has one of its tables";
    }));
}

TEST_CASE("most frames of few functions are a recursion", "[services]") {
    Servers node;
    const FunctionId sum = node.function("basic", "sum", 1), main = node.function("shell", "eval_loop", 3);
    std::vector<FunctionId> frames(200, sum);
    frames.push_back(main);
    node.at(1, "", frames).stack_words = 1'000;
    std::vector<FunctionId> different;
    for (std::uint32_t i = 0; i < 200; ++i) different.push_back(node.function("m" + std::to_string(i), "f", 1));
    node.at(2, "", different).stack_words = 1'000;
    Process& heap = node.at(3, "", frames);
    heap.stack_words = 1'000;
    heap.heap_words = 9'000;
    heap.heap_unused_words = 0;
    heap.old_heap_words = 0;
    heap.old_heap_unused_words = 0;
    node.seal();
    const auto found = recursion(node.s, node.id(1), 1'000);
    REQUIRE(found);
    CHECK((found->function == sum && found->calls == 200 && found->stack_words == 1'000 && found->begun_by == main));
    CHECK_FALSE(recursion(node.s, node.id(1), 1'001));  // not that deep
    CHECK_FALSE(recursion(node.s, node.id(2), 1'000));  // two hundred functions
    CHECK_FALSE(recursion(node.s, node.id(3), 1'000));  // its heap holds more than its stack
}

TEST_CASE("crowds of monitors tell whom most of them are on, crowds of timers who is told", "[services]") {
    Servers node;
    for (std::uint32_t i = 1; i <= 3; ++i) node.at(i, i == 1 ? "cache" : "", {node.function("gen_server", "loop", 7)});
    Process& cache = node.s.processes[0];
    cache.monitors = 10;
    cache.link_range = {0, 10};
    for (std::uint32_t i = 0; i < 10; ++i) {
        Link link;
        link.kind = LinkKind::monitors;
        link.pid = {0, i < 7 ? 2u : 3u, 0};
        node.s.links.push_back(link);
    }
    for (std::uint32_t i = 0; i < 7; ++i) {
        Timer& timer = node.s.timers.emplace_back();
        timer.left_ms = 1'000 * (i + 1);
        if (i < 4) timer.receiver = {0, 2, 0};
        else timer.receiver_name = node.text(i == 4 ? "cache" : i == 5 ? "no_such_name" : "nor_this");
    }
    node.seal();
    const std::vector<Relations> crowds = relation_crowds(node.s, 10);
    REQUIRE(crowds.size() == 1);
    CHECK((crowds[0].process == node.id(1) && crowds[0].to_one == 7 && crowds[0].target.pid == Pid{0, 2, 0}));
    CHECK(relation_crowds(node.s, 11).empty());
    const std::vector<TimersOfOne> timers = timer_crowds(node.s, 1);
    REQUIRE(timers.size() == 4);
    CHECK((timers[0].process == node.id(2) && timers[0].timers == 4 && timers[0].soonest_ms == Count(1'000) &&
           timers[0].latest_ms == Count(4'000)));
    CHECK((timers[1].process == node.id(1) && timers[1].timers == 1));
    CHECK(
        (timers[2].process == ProcId::none && node.s.text(timers[2].name) == "no_such_name" && timers[2].example == 5));
    CHECK((timers[3].process == ProcId::none && node.s.text(timers[3].name) == "nor_this"));
    CHECK(timer_crowds(node.s, 4).size() == 1);
}

TEST_CASE("a log handler that drops, flushes or makes its callers wait is told, with who logs", "[services]") {
    struct Case {
        std::uint64_t queued;
        std::string_view mode;
        std::uint32_t callers, others;
        std::string_view title;  // what follows the handler's name; empty: nothing is told
        FindingSeverity severity = FindingSeverity::medium;
    };
    using enum FindingSeverity;
    for (const Case& each : {
             Case{200, "async", 0, 1, ""},
             Case{201, "async", 0, 1, ": 201 events queued (it drops above 200)", high},
             Case{5, "drop", 0, 1, ": 5 events queued (it drops above 200)", high},
             Case{1'000, "async", 0, 1, ": 1,000 events queued (it drops above 200)", high},
             Case{1'001, "async", 0, 1, ": 1,001 events queued (it flushes all above 1,000)", high},
             Case{15, "sync", 9, 1, ""},
             Case{15, "sync", 10, 1, ": 15 events queued, 10 wait, most log in shop:sells/1", medium},
             Case{15, "async", 10, 1, ""},
             Case{201, "sync", 10, 9, ": 201 events queued (it drops above 200), 10 wait, most log in shop:sells/1",
                  critical},
             Case{201, "sync", 10, 10, ": 201 events queued (it drops above 200), 10 wait, most log in shop:sells/1",
                  high},
         }) {
        INFO(each.queued << " " << each.mode << " " << each.callers);
        Servers node;
        node.at(1, "logger_std_h_default", {node.function("gen_server", "loop", 7)}).msgq_len = each.queued;
        for (std::uint32_t i = 0; i < each.others; ++i) node.at(500 + i, "", {node.function("shop", "rests", 1)});
        for (std::uint32_t i = 0; i < each.callers; ++i) {
            Process& p = node.at(10 + i, "",
                                 {node.function("gen", "do_call", 4), node.function("logger_h_common", "call", 3),
                                  node.function("shop", "sells", 1)});
            p.link_range = {static_cast<std::uint32_t>(node.s.links.size()), 1};
            Link link;
            link.kind = LinkKind::monitors;
            link.pid = {0, 1, 0};
            link.ref = {1, 2, 10 + i};
            node.s.links.push_back(link);
            StackSlot reference;
            reference.kind = StackSlot::Kind::reference;
            reference.process = static_cast<ProcId>(node.s.processes.size() - 1);
            reference.words = 3;
            reference.ref = link.ref;
            node.s.slots.push_back(reference);
        }
        node.seal();
        ServiceStates states;
        HandlerLoad& handler = states.handlers.emplace_back();
        handler.process = node.id(1);
        handler.mode = each.mode;
        handler.sync_qlen = 10;
        handler.drop_qlen = 200;
        handler.flush_qlen = 1'000;
        const auto found = test::findings_of(node.s, [&](Facts& facts) { facts.put(states); });
        const Finding* told = test::first_of(found, "log-overload");
        REQUIRE((told != nullptr) == !each.title.empty());
        if (told == nullptr) continue;
        CHECK(present::plain_text(node.s, told->title) ==
              "The log handler logger_std_h_default <0.1.0> can't keep up" + std::string(each.title));
        CHECK(told->severity == each.severity);
        CHECK(told->count == Count(each.queued));
        REQUIRE(told->evidence.size() > 5);
        CHECK(told->evidence[5].number == double(each.callers));
        if (each.callers != 0) CHECK(told->evidence[6].number == double(each.callers));
    }
}

TEST_CASE("buffers of sockets are told where they are much, proved or by subtraction", "[services]") {
    constexpr std::uint64_t mebibyte = 1u << 20;
    struct Case {
        std::uint64_t binary, total, held_words, sockets;
        bool told;
        FindingSeverity severity = FindingSeverity::medium;
    };
    using enum FindingSeverity;
    const auto findings = [](const Case& each, const Unheld& unheld, Servers& node) {
        node.s.source.word_size = 8;
        node.s.source.complete = true;
        Process& holder = node.at(1, "", {node.function("shop", "rests", 1)});
        holder.bin_vheap_words = each.held_words / 4;
        holder.old_bin_vheap_words = each.held_words - each.held_words / 4;
        for (std::uint32_t i = 0; i < each.sockets; ++i) {
            Port& port = node.s.ports.emplace_back();
            port.port = {0, i + 1};
            port.driver = node.text(i % 3 == 0 ? "tcp_inet" : i % 3 == 1 ? "udp_inet" : "sctp_inet");
        }
        node.s.memory.push_back({node.text("total"), each.total, {}});
        node.s.memory.push_back({node.text("binary"), each.binary, {}});
        node.seal();
        return test::findings_of(node.s, [&](Facts& facts) { facts.put(unheld); });
    };
    for (const Case& each :
         {Case{64 * mebibyte, 200 * mebibyte, 0, 10, true}, Case{64 * mebibyte - 1, 200 * mebibyte, 0, 10, false},
          Case{72 * mebibyte, 200 * mebibyte, mebibyte, 10, true},
          Case{72 * mebibyte - 1, 200 * mebibyte, mebibyte, 10, false},
          Case{64 * mebibyte, 214 * mebibyte, 0, 10, false},  // less than three tenths
          Case{64 * mebibyte, 200 * mebibyte, 0, 8, true},
          Case{64 * mebibyte, 200 * mebibyte, 0, 7, false},  // more than 8 MiB each
          Case{64 * mebibyte, 200 * mebibyte, 0, 4'096, true}, Case{64 * mebibyte, 200 * mebibyte, 0, 4'097, false},
          Case{64 * mebibyte, 200 * mebibyte, 0, 0, false}, Case{1024 * mebibyte, 2048 * mebibyte, 0, 200, true, high},
          Case{1023 * mebibyte, 2046 * mebibyte, 0, 200, true}, Case{1024 * mebibyte, 2049 * mebibyte, 0, 200, true}}) {
        INFO(each.binary << " of " << each.total << ", " << each.held_words << " words held, " << each.sockets
                         << " sockets");
        Servers node;
        const auto found = findings(each, {}, node);
        const Finding* told = test::first_of(found, "socket-buffers");
        REQUIRE((told != nullptr) == each.told);
        if (told == nullptr) continue;
        CHECK(told->severity == each.severity);
        CHECK(told->bytes == Count(each.binary - 8 * each.held_words));
        CHECK(told->count == Count(each.sockets));
        CHECK(told->confidence == Confidence::estimate);
    }
    for (const auto& [blocks, each_bytes, told] :
         {std::tuple(20u, 4 * mebibyte, true), std::tuple(21u, 4 * mebibyte, false),
          std::tuple(20u, std::uint64_t{16 << 10}, false)}) {
        UnheldBinaries unheld;
        unheld.groups.push_back({each_bytes, blocks, blocks * each_bytes});
        Servers node;
        const auto found = findings({90 * mebibyte, 200 * mebibyte, 0, 10, true}, unheld, node);
        const Finding* proved = test::first_of(found, "socket-buffers");
        REQUIRE((proved != nullptr) == told);
        if (!told) continue;
        CHECK(proved->confidence == Confidence::exact);
        CHECK(
            present::plain_text(node.s, proved->title) ==
            "Buffers of sockets take 80.0 MiB (40 % of the node's memory): 20 blocks of 4.0 MiB each, for 10 sockets");
    }
}

TEST_CASE("that a table keeps binaries by slices is said where these show less than half", "[services]") {
    constexpr std::uint64_t mebibyte = 1u << 20;
    for (const bool term : {false, true})
        for (const std::uint64_t shown : {50 * mebibyte, 50 * mebibyte - 1}) {
            Servers node;
            node.s.source.word_size = 8;
            node.at(1, "names", {node.function("shop", "rests", 1)}).bin_vheap_words = 1;
            EtsTable& table = node.s.ets.emplace_back();
            table.name = node.text("names");
            table.owner = {0, 1, 0};
            node.s.memory.push_back({node.text("total"), 120 * mebibyte, {}});
            node.s.memory.push_back({node.text("binary"), 100 * mebibyte, {}});
            node.seal();
            UnheldBinaries unheld;
            unheld.held_bytes = 100 * mebibyte;
            unheld.most_stored =
                UnheldBinaries::Stored{term ? StoredBinary::persistent_term : 0, 1000, 100 * mebibyte, shown};
            const auto found = test::findings_of(node.s, [&](Facts& facts) { facts.put(Unheld(unheld)); });
            const Finding* told = test::first_of(found, "binary-pinning");
            REQUIRE(told != nullptr);
            const bool whole = shown == 50 * mebibyte;
            const std::string who = term ? "persistent terms" : "ETS table names of names <0.1.0>";
            const std::string says = whole ? (term ? " refer to " : " refers to ") : (term ? " keep " : " keeps ");
            CHECK(present::plain_text(node.s, told->title) ==
                  "Binaries outside the heaps take 100 MiB (83 % of the node's memory); " + who + says +
                      (whole ? "100 MiB of them" : "100 MiB by 50.0 MiB of slices"));
        }
}
