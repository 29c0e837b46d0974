// SPDX-License-Identifier: Apache-2.0
// What a supervisor's state tells of its restarts, on states as releases have them, and what that is worth.
#include "analyses/processes/restarts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "analyses/rules/rules.hpp"
#include "present/spelling.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

std::optional<SupervisorRestarts> restarts_in(const std::string& printed) {
    const auto term = parse_term(printed);
    return restarts_of_state(*term, term->term());
}

// #state{} of OTP 25, with these children and restarts.
std::string state_of_25(const std::string& children, const std::string& restarts) {
    return "{state,{local,s},one_for_one," + children + ",undefined,60,10," + restarts + ",0,never,m,[]}";
}

std::string child(const std::string& pid, const std::string& id, const std::string& type = "permanent") {
    return id + "=>{child," + pid + "," + id + ",{m,start_" + id + ",[1,2]}," + type + ",false,5000,worker,[m]}";
}

struct Supervised : test::MadeSnapshot {
    std::vector<Finding> findings(const SupervisorRestarts& restarts) {
        std::vector<Finding> found = test::findings_of(s, [&](Facts& facts) { facts.put(RecentRestarts{{restarts}}); });
        std::erase_if(found, [](const Finding& finding) { return finding.rule != "restart-storm"; });
        return found;
    }
};

}  // namespace

TEST_CASE("restarts of one period count, the newest first", "[restarts]") {
    const auto found = restarts_in(
        state_of_25("{[a],#{" + child("<0.9.0>", "a") + "}}", "[-576460692,-576460693,-576460702,-576460703]"));
    REQUIRE(found);
    CHECK(found->restarts == 3);  // the last one is of an earlier period: 28 and later drop it late
    CHECK(found->within_seconds == 11);
    CHECK(found->intensity == 60);
    CHECK(found->period_seconds == 10);
    CHECK(found->last_at_seconds == std::optional<std::uint64_t>(60));
    CHECK(found->children == 1);
    CHECK(found->module + ":" + found->function == "m:start_a");
    CHECK(found->arity == 2);
    CHECK_FALSE(found->one_kind);
    const auto counted = [](const std::string& times) { return restarts_in(state_of_25("{[],#{}}", times))->restarts; };
    CHECK(counted("[-9223372036854775807,-9223372036854775807]") ==
          2);  // no time of a VM's, and no arithmetic that wraps
    CHECK(counted("[9223372036854775807,-9223372036854775807]") == 1);
    CHECK(counted("[-9223372036854775807,9223372036854775807]") == 1);
    CHECK_FALSE(restarts_in(state_of_25("{[],#{}}", "[]")));
    CHECK_FALSE(restarts_in("{state,1,2,3,4,5,6,7,8,9,10,11}"));
    CHECK_FALSE(restarts_in("not_a_state"));
}

TEST_CASE("the child that is told was started last, or can't be started", "[restarts]") {
    const std::string others = child("<0.80.0>", "a") + "," + child("<0.12.1>", "c", "temporary");
    const auto young = restarts_in(state_of_25("{[a,b,c],#{" + others + "," + child("<0.81.0>", "b") + "}}", "[1,1]"));
    REQUIRE(young);
    CHECK(young->function == "start_b");
    CHECK(young->children == 2);  // a temporary one is never started again
    CHECK(young->restarting == 0);
    CHECK_FALSE(young->last_at_seconds);
    const auto failing =
        restarts_in(state_of_25("{[a,b,c],#{" + others + "," + child("{restarting,<0.7.0>}", "b") + "}}", "[1,1]"));
    REQUIRE(failing);
    CHECK(failing->function == "start_b");
    CHECK(failing->restarting == 1);
}

TEST_CASE("of rest_for_one the first of those that were restarted together is told", "[restarts]") {
    const auto first = [](const std::string& a, const std::string& b, const std::string& c) {
        const std::string children = "{[c,b,a],#{" + child(c, "c") + "," + child(a, "a") + "," + child(b, "b") + "}}";
        return restarts_in("{state,{local,s},rest_for_one," + children + ",undefined,60,10,[1,1],0,never,m,[]}")
            ->function;
    };
    CHECK(first("<0.80.0>", "<0.1132.0>", "<0.1133.0>") == "start_b");
    CHECK(first("<0.80.0>", "<0.81.0>", "<0.1133.0>") == "start_c");
    CHECK(first("<0.1131.0>", "<0.1132.0>", "<0.1133.0>") == "start_a");
    CHECK(first("<0.1116.0>", "<0.1132.0>", "<0.1148.0>") == "start_a");  // 16 pids are given in between
    CHECK(first("<0.1115.0>", "<0.1132.0>", "<0.1149.0>") == "start_c");
    CHECK(first("<0.1131.0>", "<0.1132.0>", "<0.5.1>") == "start_c");  // pids have begun anew
    CHECK(first("<0.80.0>", "{restarting,<0.90.0>}", "<0.1133.0>") == "start_b");
}

TEST_CASE("children of one kind are those that run, of Erlang's and of Elixir's supervisors", "[restarts]") {
    const auto simple = restarts_in(
        "{state,{local,s},simple_one_for_one,{[w],#{w=>{child,undefined,w,{m,f,[]},permanent,false,5,worker,[m]}}},"
        "{maps,#{<0.5.0>=>[],<0.6.0>=>[]}},60,10,[5,5,5],3,0,never,1000,false,make_ref,m,[]}");
    REQUIRE(simple);
    CHECK(simple->one_kind);
    CHECK(simple->children == 2);
    CHECK(simple->child.number == 6);
    CHECK(simple->function == "f");
    CHECK(simple->child_id == nullptr);
    const auto elixir = restarts_in(
        "#{'__struct__'=>'Elixir.DynamicSupervisor',children=>#{<0.5.0>=>{{'Elixir.W',start_link,[1]},permanent,5,"
        "worker,[]}},"
        "max_restarts=>3,max_seconds=>5,restarts=>[7,6]}");
    REQUIRE(elixir);
    CHECK(elixir->restarts == 2);
    CHECK(elixir->module == "Elixir.W");
    CHECK(elixir->arity == 1);
    CHECK(elixir->intensity == 3);
}

TEST_CASE("what restarts are worth", "[restarts]") {
    Supervised node;
    node.process(1, "shop_sup");
    node.seal();
    SupervisorRestarts of;
    of.supervisor = ProcId{0};
    of.intensity = 1'000'000;
    of.period_seconds = 60;
    of.within_seconds = 10;
    const auto severity = [&] {
        const auto found = node.findings(of);
        return found.empty() ? std::string("none") : std::string(name_of(found[0].severity));
    };
    of.restarts = 1;
    CHECK(severity() == "none");
    of.restarts = 9;
    CHECK(severity() == "info");
    of.restarts = 10;
    CHECK(severity() == "medium");
    of.restarts = 99;
    CHECK(severity() == "medium");
    of.restarts = 100;  // ten a second
    CHECK(severity() == "high");
    of.within_seconds = 11;
    CHECK(severity() == "medium");
    of.intensity = 199;  // more than half of it
    CHECK(severity() == "high");
    of.intensity = 200;
    CHECK(severity() == "medium");
    of.intensity = 150;
    of.started_since = 100'000;
    CHECK(severity() == "high");
    of.started_since = 100'001;  // long ago
    CHECK(severity() == "info");
    of.restarting = 1;  // but not while a child can't be started
    CHECK(severity() == "high");
    CHECK(present::plain_text(node.s, node.findings(of)[0].title)
              .starts_with("Supervisor shop_sup <0.1.0> has restarted its child"));
}

TEST_CASE("restarts that go on below what is allowed are told", "[restarts]") {
    Supervised node;
    node.process(1, "wifi_sup");
    node.seal();
    const auto severity = [&](std::uint64_t restarts, std::uint64_t within, std::optional<std::uint64_t> since) {
        SupervisorRestarts of;
        of.supervisor = ProcId{0};
        of.intensity = 10, of.period_seconds = 10;
        of.restarts = restarts, of.within_seconds = within, of.started_since = since;
        of.children = 2, of.rest_too = true;
        return std::string(name_of(node.findings(of).front().severity));
    };
    CHECK(severity(5, 8, 100) == "medium");
    CHECK(severity(4, 8, 100) == "info");  // less than half of what is allowed
    CHECK(severity(5, 7, 100) == "info");  // all at once
    CHECK(severity(5, 8, 101) == "info");  // some time ago
    CHECK(severity(5, 8, {}) == "info");
    SupervisorRestarts usual;
    usual.supervisor = ProcId{0};
    usual.intensity = 3, usual.period_seconds = 5, usual.within_seconds = 5, usual.started_since = 0;
    usual.restarts = 3;
    CHECK(node.findings(usual).front().severity == FindingSeverity::medium);
    usual.restarts = 2;  // as after a fault or two
    CHECK(node.findings(usual).front().severity == FindingSeverity::info);
    usual.restarting = 1, usual.restarts = 3, usual.started_since = 200'000;
    CHECK(node.findings(usual).front().severity == FindingSeverity::medium);
}

TEST_CASE("which child is restarted is told as far as it is known", "[restarts]") {
    Supervised node;
    node.process(1, "shop_sup");
    node.process(2);
    node.seal();
    SupervisorRestarts of;
    of.supervisor = ProcId{0};
    of.restarts = 12;
    of.within_seconds = 5;
    of.intensity = 60;
    of.period_seconds = 10;
    of.module = "shop", of.function = "start_link", of.arity = 1;
    const auto words = [&] {
        const auto found = node.findings(of);
        REQUIRE(found.size() == 1);
        std::string all = present::plain_text(node.s, found[0].title);
        for (const Evidence& each : found[0].evidence)
            all +=
                "; " + present::plain_text(node.s, each.name) + " " +
                (each.number ? std::to_string(static_cast<int>(*each.number)) : present::plain_text(node.s, each.text));
        return all;
    };
    const std::string head = "Supervisor shop_sup <0.1.0> has restarted its ",
                      times = " 12 times within 5.0 s (limit 60 in 10.0 s)";
    of.children = 3;
    CHECK(words() ==
          head + "children" + times + "; shop:start_link/1 starts them; its start function shop:start_link/1");
    const auto steps = node.findings(of).at(0).next_steps;
    REQUIRE(steps.size() == 4);
    CHECK(present::plain_text(node.s, steps[0]).starts_with("Look for why the child ends"));
    CHECK(present::plain_text(node.s, steps[1]).ends_with("beamheap proc DUMP 0.1.0"));
    of.restarting = 2;
    CHECK(words() == head + "children" + times +
                         "; shop:start_link/1 fails; its start function shop:start_link/1; children that could not be "
                         "started again 2");
    of.child_id = parse_term("web");
    CHECK(words() == head + "children" + times +
                         "; web can't be started; child that could not be started again web; its start function "
                         "shop:start_link/1; children that could not be started again 2");
    of.restarting = 0;
    of.child = {0, 2, 0};
    of.started_since = 7;
    of.last_at_seconds = 3;
    CHECK(words() ==
          head + "children" + times +
              ", the last one web; child that was started last web; its start function shop:start_link/1; its pid "
              "<0.2.0>; the last restart, after the node's start 3000; processes that were started since 7");
    of.children = 1;
    of.more = true;
    CHECK(words().starts_with(head + "child web at least" + times +
                              "; shop:start_link/1 starts them; child that was started last web"));
    of.child_id = nullptr;
    of.one_kind = true;
    CHECK(words().starts_with(head + "child at least" + times));
    CHECK(words().find("pid of the youngest child <0.2.0>") != std::string::npos);
    of.children = 2;
    CHECK(words().starts_with(head + "children at least" + times));
}

TEST_CASE("more restarts than are counted are told as more", "[restarts]") {
    const auto counted = [](std::size_t restarts) {
        std::string times = "5";
        for (std::size_t i = 1; i < restarts; ++i) times += ",5";
        return restarts_in(state_of_25("{[],#{}}", "[" + times + "]"));
    };
    const auto few = counted(1'000), many = counted(100'001);
    REQUIRE(few);
    CHECK(few->restarts == 1'000);
    CHECK_FALSE(few->more);
    REQUIRE(many);
    CHECK(many->restarts == 100'000);
    CHECK(many->more);
}

namespace {

// A dump of supervisors, each with one child, and of the process that was started last.
struct Supervisors {
    std::string processes, terms;
    std::uint64_t next = 0x1000;

    void add(const std::string& pid, const std::string& child, unsigned restarts,
             const std::string& fields = "Stack+heap: 500\nMessage queue length: 0\n") {
        processes +=
            "=proc:" + pid +
            "\nState: Waiting\nSpawned as: proc_lib:init_p/5\nOldHeap: 0\nHeap unused: 0\nOldHeap unused: 0\n" + fields;
        std::string heap;
        const auto object = [&](const std::string& text) {
            heap += fmt::format("{:X}:{}\n", next += 0x100, text);
            return fmt::format("H{:X}", next);
        };
        const std::string entry = object("t2:AD:$initial_call," + object("t3:AA:supervisor,AE:supervisor_sup,I1"));
        std::string times = "N";
        for (unsigned i = 0; i < restarts; ++i) times = object("lI5|" + times);
        const std::string call = object("t3:A1:m,A1:f,N");
        const std::string children =
            object("l" + object("t8:A5:child," + child + ",A1:a," + call + ",A9:permanent,I5000,A6:worker,N") + "|N");
        const std::string state = object("tB:A5:state,A1:s,AB:one_for_one," + children + ",A9:undefined,I100,I10," +
                                         times + ",A5:never,A1:m,N");
        terms += "=proc_dictionary:" + pid + "\n" + entry + "\n=proc_stack:" + pid + "\ny0:" + state +
                 "\n=proc_heap:" + pid + "\n" + heap;
    }
    void last(const std::string& pid) { processes += test::process(pid); }
    std::vector<SupervisorRestarts> read() const {
        LoadPlan plan = test::everything();
        plan.terms = true;
        const auto artifact = test::load(test::header() + processes + terms + "=end\n", plan);
        REQUIRE(artifact);
        return supervisor_restarts(*artifact);
    }
    std::vector<unsigned> restarts() const {
        std::vector<unsigned> found;
        for (const SupervisorRestarts& each : read()) found.push_back(static_cast<unsigned>(each.restarts));
        return found;
    }
};

using Restarts = std::vector<unsigned>;

}  // namespace

TEST_CASE("pids that were given since a child's are counted within its serial", "[restarts]") {
    const auto since = [](const std::string& child, const std::string& last) {
        Supervisors node;
        node.add("<0.50.0>", child, 2);
        node.last(last);
        const auto found = node.read();
        REQUIRE(found.size() == 1);
        return found[0].started_since;
    };
    CHECK(since("P<0.60.0>", "<0.71.0>") == std::optional<std::uint64_t>(11));
    CHECK(since("P<0.60.0>", "<0.60.0>") == std::optional<std::uint64_t>(0));
    CHECK(since("P<0.60.0>", "<0.40.0>") ==
          std::optional<std::uint64_t>(0));       // the child has ended since, younger than all
    CHECK_FALSE(since("P<0.60.0>", "<0.71.1>"));  // the numbers have begun again
    CHECK_FALSE(since("P<0.60.1>", "<0.71.0>"));
    CHECK(since("P<0.60.1>", "<0.9.1>") == std::optional<std::uint64_t>(0));
    CHECK(since("P<0.60.1>", "<0.71.1>") == std::optional<std::uint64_t>(11));
    CHECK_FALSE(since("A9:undefined", "<0.71.0>"));
}

TEST_CASE("supervisors of at most a million words and 200,000 messages are read, three million words in all",
          "[restarts]") {
    const auto fields = [](std::uint64_t words, std::uint64_t messages, std::uint64_t reductions = 1) {
        return fmt::format("Stack+heap: {}\nMessage queue length: {}\nReductions: {}\n", words, messages, reductions);
    };
    const auto read = [](const std::string& of) {
        Supervisors node;
        node.add("<0.50.0>", "P<0.60.0>", 3, of);
        return node.restarts();
    };
    CHECK(read(fields(1'000'000, 0)) == Restarts{3});
    CHECK(read(fields(1'000'001, 0)).empty());
    CHECK(read(fields(500, 200'000)) == Restarts{3});
    CHECK(read(fields(500, 200'001)).empty());
    // Those that have worked most, whichever comes first; told by restarts.
    const auto all = [&](std::uint64_t words) {
        Supervisors node;
        node.add("<0.50.0>", "P<0.60.0>", 1, fields(1'000'000, 0, 10));
        node.add("<0.51.0>", "P<0.61.0>", 2, fields(words, 0, 30));
        node.add("<0.52.0>", "P<0.62.0>", 4, fields(1'000'000, 0, 20));
        node.add("<0.53.0>", "P<0.63.0>", 5, fields(500, 0, 5));
        return node.restarts();
    };
    CHECK(all(1'000'000) == Restarts{4, 2, 1});
    CHECK(all(999'500) == Restarts{5, 4, 2, 1});
    CHECK(all(999'501) == Restarts{4, 2, 1});
}

TEST_CASE("of supervisors without number the thousand that have worked most are read", "[restarts]") {
    Supervisors node;
    for (unsigned i = 0; i < 1'001; ++i)
        node.add(fmt::format("<0.{}.0>", 50 + i), "P<0.40.0>", i == 0 ? 7 : 1,
                 fmt::format("Stack+heap: 500\nReductions: {}\n", 10 + i));
    const Restarts found = node.restarts();
    CHECK(found.size() == 1'000);
    CHECK(std::ranges::count(found, 7u) == 0);  // the one that has worked least
}
