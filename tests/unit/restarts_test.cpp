// What a supervisor's state tells of its restarts, on states as releases have them, and what that is worth.
#include <catch2/catch.hpp>

#include <string>

#include "analyses/processes/restarts.hpp"
#include "analyses/rules/rules.hpp"
#include "present/spelling.hpp"
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
        std::vector<Finding> found = test::findings_of(s, [&](RuleInput& input) { input.restarts = {&restarts, 1}; });
        std::erase_if(found, [](const Finding& finding) { return finding.rule != "restart-storm"; });
        return found;
    }
};

}  // namespace

TEST_CASE("restarts of one period count, the newest first", "[restarts]") {
    const auto found = restarts_in(state_of_25("{[a],#{" + child("<0.9.0>", "a") + "}}", "[-576460692,-576460693,-576460702,-576460703]"));
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
    CHECK(counted("[-9223372036854775807,-9223372036854775807]") == 2);  // no time of a VM's, and no arithmetic that wraps
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
    const auto failing = restarts_in(state_of_25("{[a,b,c],#{" + others + "," + child("{restarting,<0.7.0>}", "b") + "}}", "[1,1]"));
    REQUIRE(failing);
    CHECK(failing->function == "start_b");
    CHECK(failing->restarting == 1);
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
        "#{'__struct__'=>'Elixir.DynamicSupervisor',children=>#{<0.5.0>=>{{'Elixir.W',start_link,[1]},permanent,5,worker,[]}},"
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
    CHECK(present::plain_text(node.s, node.findings(of)[0].title).starts_with("Supervisor shop_sup <0.1.0> has restarted its child"));
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
            all += "; " + present::plain_text(node.s, each.name) + " " + (each.number ? std::to_string(static_cast<int>(*each.number)) : present::plain_text(node.s, each.text));
        return all;
    };
    const std::string head = "Supervisor shop_sup <0.1.0> has restarted its ", times = " 12 times within 5.0 s (limit 60 in 10.0 s)";
    of.children = 3;
    CHECK(words() == head + "children" + times + "; shop:start_link/1 starts them; its start function shop:start_link/1");
    const auto steps = node.findings(of).at(0).next_steps;
    REQUIRE(steps.size() == 4);
    CHECK(present::plain_text(node.s, steps[0]).starts_with("Look for why the child ends"));
    CHECK(present::plain_text(node.s, steps[1]).ends_with("beamheap proc DUMP 0.1.0"));
    of.restarting = 2;
    CHECK(words() == head + "children" + times + "; shop:start_link/1 fails; its start function shop:start_link/1; children that could not be started again 2");
    of.child_id = parse_term("web");
    CHECK(words() == head + "children" + times + "; web can't be started; child that could not be started again web; its start function shop:start_link/1; "
                            "children that could not be started again 2");
    of.restarting = 0;
    of.child = {0, 2, 0};
    of.started_since = 7;
    of.last_at_seconds = 3;
    CHECK(words() == head + "children" + times + ", the last one web; child that was started last web; its start function shop:start_link/1; its pid <0.2.0>; "
                            "the last restart, after the node's start 3000; processes that were started since 7");
    of.children = 1;
    of.more = true;
    CHECK(words().starts_with(head + "child web at least" + times + "; shop:start_link/1 starts them; child that was started last web"));
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
