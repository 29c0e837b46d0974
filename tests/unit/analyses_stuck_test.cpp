// SPDX-License-Identifier: Apache-2.0
// stuck-servers, word for word: each story with what it says, what it counts and what it advises.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

struct StuckNode : test::MadeNode {
    Process& at(std::uint32_t number, const std::vector<FunctionId>& frames, std::string_view name = {}) {
        Process& p = MadeNode::at(number, frames, name);
        p.memory_bytes = 1000 + number;
        p.msgq_len = number % 3;
        return p;
    }
    void monitors(std::uint32_t number) {
        Process& p = s.processes.back();
        if (p.link_range.count == 0) p.link_range.first = static_cast<std::uint32_t>(s.links.size());
        ++p.link_range.count;
        Link link;
        link.pid = {0, number, 0};
        link.kind = LinkKind::monitors;
        s.links.push_back(link);
    }
    void calls(std::uint32_t number, std::uint32_t server) {
        at(number, {function("gen", "do_call", 4), function("gen_server", "call", 3)});
        monitors(server);
    }
    void others(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) at(1000 + i, {function("gen_server", "loop", 7)});
    }
    /// Severity and words of the findings of the rule.
    std::string stories() {
        std::string all;
        for (const test::FoundWithText& finding : test::of(told(), "stuck-servers"))
            all += std::to_string(static_cast<int>(finding.severity)) + " " + std::to_string(finding.members.size()) +
                   " " + finding.words;
        return all;
    }
};

}  // namespace

TEST_CASE("servers that are stuck in one place, and what to look at", "[stuck]") {
    const auto told = [](const char* module, const char* function) {
        StuckNode node;
        const bool idle = function == std::string("loop");
        for (std::uint32_t i = 0; i < 4; ++i) {
            std::vector<FunctionId> frames{node.function(module, function, idle ? 7 : 3)};
            if (!idle) frames.push_back(node.function("pg", "query", 2));
            node.at(10 + i, frames).initial_call = node.function("pg", "init", 1);
        }
        for (std::uint32_t i = 0; i < 12; ++i) node.calls(100 + i, 10 + i % 4);
        node.others(30);
        return node.stories();
    };
    const std::string figures =
        "  processes that are stuck in the same place: 4\n"
        "  processes that wait for those: 12\n"
        "  messages in their queues: 4\n"
        "  memory that all of them hold: 17312\n"
        "  one of them: <0.10.0> (pg:init/1)\n";
    const std::string steps =
        "-> Look at one of them: beamheap proc DUMP 0.10.0\n"
        "-> Look at what they all wait for: where it is the other side of a connection (a database, another service), "
        "it does not answer; give requests a timeout.\n"
        "-> See who waits for which of them: beamheap waits DUMP\n";
    CHECK(told("prim_inet", "recv0") ==
          "2 16 pg:init/1: 12 of 46 processes (26 %) wait for 4 of pg:init/1; these all sit in prim_inet:recv0/3, "
          "called by pg:query/2\n" +
              figures + "  its stack: prim_inet:recv0/3 < pg:query/2\n" + steps);
    CHECK(told("gen_server", "loop") ==
          "1 16 pg:init/1: 12 of 46 processes (26 %) wait for 4 of pg:init/1; these are all idle in gen_server:loop/7, "
          "their answers put off\n" +
              figures + "  its stack: gen_server:loop/7\n" + steps);
}

TEST_CASE("that each has a socket is said of servers that wait for it in a receive of their own", "[stuck]") {
    const auto told = [](const char* module, bool of_its_own, std::uint32_t sockets) {
        StuckNode node;
        for (std::uint32_t i = 0; i < 4; ++i) {
            node.at(10 + i, {node.function(module, "handle_call", 3)}).initial_call = node.function("pg", "init", 1);
            if (!of_its_own) node.links({20 + i});
        }
        for (std::uint32_t i = 0; i < 4; ++i) node.at(20 + i, {node.function("gen_server", "loop", 7)});
        for (std::uint32_t i = 0; i < sockets; ++i) {
            Port& port = node.s.ports.emplace_back();
            port.port = {0, i + 1};
            port.driver = node.text("tcp_inet");
            port.connected = {0, (of_its_own ? 10 : 20) + i, 0};
        }
        for (std::uint32_t i = 0; i < 12; ++i) node.calls(100 + i, 10 + i % 4);
        node.others(30);
        return node.stories().find(", each with a socket of its own") != std::string::npos;
    };
    CHECK(told("pg", true, 4));
    CHECK(told("pg", false, 4));
    CHECK_FALSE(told("pg", false, 3));
    CHECK_FALSE(told("pg", true, 0));
    CHECK_FALSE(told("prim_inet", true, 4));  // which says so itself
}

TEST_CASE("a story of stuck servers weighs what all of them hold, and is an estimate", "[stuck]") {
    StuckNode node;
    for (std::uint32_t i = 0; i < 4; ++i)
        node.at(10 + i, {node.function("prim_inet", "recv0", 3), node.function("pg", "query", 2)});
    for (std::uint32_t i = 0; i < 12; ++i) node.calls(100 + i, 10 + i % 4);
    node.others(30);
    const std::vector<test::FoundWithText> found = test::of(node.told(), "stuck-servers");
    REQUIRE(found.size() == 1);
    CHECK(found[0].bytes == Count(17312));  // as its evidence says, and not what the others hold
    CHECK(found[0].confidence == Confidence::estimate);
    CHECK(found[0].count == Count(12));
}

TEST_CASE("those whom a log handler holds up, and what to do with it", "[stuck]") {
    StuckNode node;
    for (std::uint32_t i = 0; i < 12; ++i)
        node.at(10 + i, {node.function("remote_log", "await", 1), node.function("remote_log", "log", 2),
                         node.function("logger_backend", "call_handlers", 3), node.function("shop", "pay", 1)});
    node.others(30);
    CHECK(node.stories() ==
          "2 12 remote_log:await/1: 12 of 42 processes (29 %) wait for a log handler; they sit in remote_log:await/1, "
          "called by remote_log:log/2\n"
          "  processes that are stuck in the same place: 12\n"
          "  processes that wait for those: 0\n"
          "  messages in their queues: 12\n"
          "  memory that all of them hold: 12186\n"
          "  one of them: <0.10.0>\n"
          "  its stack: remote_log:await/1 < remote_log:log/2 < logger_backend:call_handlers/3 < shop:pay/1\n"
          "-> Look at one of them: beamheap proc DUMP 0.10.0\n"
          "-> A handler of logger works in the process that logs: let it hand events to a process of its own that "
          "drops what is too much (logger_olp does), or remove it: logger:remove_handler/1.\n");
}

TEST_CASE("of what is asked outside the two largest stories are told, each with its own advice", "[stuck]") {
    StuckNode node;
    for (std::uint32_t i = 0; i < 12; ++i)
        node.at(10 + i, {node.function("httpc", "handle_answer", 3), node.function("shop", "fetch", 1)});
    for (std::uint32_t i = 0; i < 11; ++i)
        node.at(50 + i, {node.function("prim_inet", "connect0", 3), node.function("shop", "open", 1)});
    for (std::uint32_t i = 0; i < 10; ++i)
        node.at(80 + i, {node.function("inet_res", "query", 3), node.function("shop", "ask", 1)});
    node.others(30);
    CHECK(node.stories() ==
          "1 12 httpc:handle_answer/3: 12 of 63 processes (19 %) wait for answers to requests of HTTP; they sit in "
          "httpc:handle_answer/3, called by shop:fetch/1\n"
          "  processes that are stuck in the same place: 12\n"
          "  processes that wait for those: 0\n"
          "  messages in their queues: 12\n"
          "  memory that all of them hold: 12186\n"
          "  one of them: <0.10.0>\n"
          "  its stack: httpc:handle_answer/3 < shop:fetch/1\n"
          "-> Look at one of them: beamheap proc DUMP 0.10.0\n"
          "-> Give each request a timeout ([{timeout, 5000}, {connect_timeout, 2000}] of httpc:request/4; there is "
          "none unless it is given), and bound how many may be under way.\n"
          "-> See whom they ask: beamheap ports DUMP\n"
          "1 11 prim_inet:connect0/3: 11 of 63 processes (17 %) wait for connections to be set up; they sit in "
          "prim_inet:connect0/3, called by shop:open/1\n"
          "  processes that are stuck in the same place: 11\n"
          "  processes that wait for those: 0\n"
          "  messages in their queues: 11\n"
          "  memory that all of them hold: 11605\n"
          "  one of them: <0.50.0>\n"
          "  its stack: prim_inet:connect0/3 < shop:open/1\n"
          "-> Look at one of them: beamheap proc DUMP 0.50.0\n"
          "-> The other side does not answer at all: a machine that is down, packets that a firewall drops, a listener "
          "whose backlog is full. Give gen_tcp:connect/4 a timeout, and bound how many may try at once.\n"
          "-> See whom they ask: beamheap ports DUMP\n");
}

TEST_CASE("tasks that have not come to their end, and who awaits them", "[stuck]") {
    StuckNode node;
    for (std::uint32_t i = 0; i < 10; ++i) {
        node.at(10 + i, {node.function("Elixir.Task", "await_many", 5), node.function("shop", "prices", 1)});
        for (std::uint32_t task = 0; task < 2; ++task) node.monitors(100 + 2 * i + task);
    }
    for (std::uint32_t i = 0; i < 20; ++i)
        node.at(100 + i,
                {node.function("prim_inet", "recv0", 3), node.function("Elixir.Task.Supervised", "invoke_mfa", 2),
                 node.function("Elixir.Task.Supervised", "reply", 4)});
    CHECK(node.stories() ==
          "1 30 prim_inet:recv0/3: 10 of 30 processes (33 %) wait for 20 tasks; these all sit in prim_inet:recv0/3\n"
          "  processes that are stuck in the same place: 20\n"
          "  processes that wait for those: 10\n"
          "  messages in their queues: 21\n"
          "  memory that all of them hold: 32335\n"
          "  one of them: <0.100.0>\n"
          "  its stack: prim_inet:recv0/3 < 'Elixir.Task.Supervised':invoke_mfa/2 < 'Elixir.Task.Supervised':reply/4\n"
          "-> Look at one of them: beamheap proc DUMP 0.100.0\n"
          "-> Look at what they all wait for: where it is the other side of a connection (a database, another "
          "service), it does not answer; give requests a timeout.\n"
          "-> See who waits for which of them: beamheap waits DUMP\n");
}
