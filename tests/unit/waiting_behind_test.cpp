// SPDX-License-Identifier: Apache-2.0
// Who waits behind a process that is flooded, stuck or held up by a connection, and what that one does for whom.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/facts/catalogue/waits.hpp"
#include "analyses/processes/waits.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

constexpr std::uint32_t behind_first = 100;

struct WaitingNode : test::MadeNode {
    /// `count` processes <0.100.0>... that wait in a function of their program's.
    void waiters(std::uint32_t count, const std::vector<FunctionId>& frames) {
        for (std::uint32_t i = 0; i < count; ++i) at(behind_first + i, frames);
    }
    /// What a rule says where each of some processes waits for another, as an estimate.
    std::string told(std::string_view rule, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs,
                     const TermFacts* terms = nullptr) {
        seal();
        Waits waits = analyses::waits(s);
        std::vector<WaitEdge> edges;
        for (const auto& [from, to] : pairs)
            edges.push_back(estimated_edge(s, s.find({0, from, 0}), s.find({0, to, 0}), "by_hand"));
        add_edges(s, edges, waits);
        const auto findings = test::of(MadeNode::told([&](Facts& facts) {
                                           facts.put(std::move(waits));
                                           if (terms != nullptr) facts.put(SuspectTerms{{*terms}});
                                       }),
                                       rule);
        if (findings.empty()) return "";
        return findings[0].title_alone() + "\n" + present::plain_text(s, findings[0].behind);
    }
};

/// A process <0.10.0> with 2,000 messages, which is ready to run in the first of these functions.
std::string flooded(std::string_view form, std::uint32_t waiting, bool in_otp = false) {
    WaitingNode node;
    std::vector<FunctionId> frames = {node.function("journal", "append", 2)};
    if (in_otp)
        frames = {node.function("erts_internal", "dirty_nif_finalizer", 1), node.function("prim_file", "datasync", 1),
                  node.function("journal", "handle_event", 2), node.function("gen_event", "server_update", 4)};
    Process& owner = node.at(10, frames, "trade_events");
    owner.state = ProcessState::runnable;
    owner.msgq_len = 2'000;
    node.waiters(waiting, {node.function("my", "ask", 1), node.function("my", "work", 0)});
    TermFacts terms;
    terms.process = ProcId{0};
    terms.messages_read = 2'000;
    terms.shapes = {{std::string(form), 99.9}};
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::uint32_t i = 0; i < waiting; ++i) pairs.emplace_back(behind_first + i, 10);
    return node.told("queue-flood", pairs, &terms);
}

}  // namespace

TEST_CASE("a queue's messages are told by what their envelope holds", "[behind]") {
    const auto form = [](std::string_view of) {
        const std::string text = flooded(of, 0);
        const std::size_t from = text.find("nearly all "), to = text.find(" and ", from);
        return from == text.npos ? "" : text.substr(from + 11, to - from - 12);
    };
    CHECK(form("{'$gen_cast',{update_lru,binary()}}") == "{'$gen_cast',{update_lru,...}}");
    CHECK(form("{'$gen_call',{pid(),reference()},{open,binary(),list()}}") == "{'$gen_call',_,{open,...}}");
    CHECK(form("{notify,{trade_executed,#{order=>integer(),px=>integer()}}}") == "{notify,{trade_executed,...}}");
    CHECK(form("{frame,integer()}") == "{frame,integer()}");
    CHECK(form("{frame,integer(),integer(),binary()}") == "{frame,integer(),...}");
    CHECK(form("{a_name_of_a_message,{another_long_name_of_one,integer()}}") == "{a_name_of_a_message,...}");
}

TEST_CASE("a flooded process is told with those who wait for it, and with whom its library works for", "[behind]") {
    CHECK(flooded("ok", 0).find("wait for it") == std::string::npos);
    CHECK(flooded("ok", 1).find("it is ready to run in journal:append/2, and 1 process waits for it\n") !=
          std::string::npos);
    CHECK(flooded("ok", 7, true)
              .find("it is ready to run in erts_internal:dirty_nif_finalizer/1, called by "
                    "prim_file:datasync/1 for journal:handle_event/2, and 7 processes wait for "
                    "it\n") != std::string::npos);
}

TEST_CASE("a long chain of a duplicate bag holds up who deletes from it", "[behind]") {
    const auto told = [](std::string_view type, std::uint64_t chain) {
        WaitingNode node;
        Process& owner = node.at(10, {node.function("registry", "leave", 1)}, "registry");
        owner.state = ProcessState::runnable;
        owner.msgq_len = 2'000;
        EtsTable& table = node.s.ets.emplace_back();
        table.owner = owner.pid;
        table.name = node.text("topics");
        table.type = node.text(type);
        table.objects = 14'771;
        table.chain_max = chain;
        const std::string text = node.told("queue-flood", {});
        return text.substr(text.find('\n') + 1);
    };
    CHECK(told("duplicate_bag", 12'771) ==
          "Table topics has 12,771 of its 14,771 objects in one chain, most likely of one key, as it is a bag: to look "
          "up or delete there takes a walk through all of it");
    CHECK(told("bag", 12'771).ends_with("as it is a bag: an access to that chain goes through all of it"));
    CHECK(told("set", 12'771).ends_with("in one chain: an access to that chain goes through all of it"));
    CHECK(told("duplicate_bag", 999).empty());
}

TEST_CASE("an idle process to which only an estimate leads is not to blame", "[behind]") {
    const auto told = [](bool at_rest) {
        WaitingNode node;
        node.at(5, {node.function(at_rest ? "gen_server" : "my", at_rest ? "loop" : "read", 7)}, "connection");
        Process& runner =
            node.at(10, {node.function("wrap", "execute", 2), node.function("runner", "handle_call", 3)}, "runner");
        runner.msgq_len = 19;
        node.waiters(20, {node.function("my", "ask", 1), node.function("my", "work", 0)});
        std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs{{10, 5}};
        for (std::uint32_t i = 0; i < 20; ++i) pairs.emplace_back(behind_first + i, 10);
        return node.told("wait-convoy", pairs);
    };
    CHECK(told(true) ==
          "20 of 22 processes (91 %) wait in my:ask/1 for runner <0.10.0>; it has 19 messages and sits in "
          "wrap:execute/2, most likely for connection <0.5.0>\n");
    CHECK(told(false).find("through runner <0.10.0>, for connection <0.5.0>") != std::string::npos);
}

TEST_CASE("requests that lie in connections are told with who waits for their answers", "[behind]") {
    const auto told = [](std::uint32_t owners, std::uint32_t each, std::uint64_t queued,
                         std::string_view rule = "slow-socket", std::uint32_t idlers = 300) {
        WaitingNode node;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
        for (std::uint32_t i = 0; i < owners; ++i) {
            Process& owner = node.idle(10 + i);
            owner.real_initial_call = node.function("http_handler", "init", 1);
            Port& port = node.s.ports.emplace_back();
            port.port = {0, i + 1};
            port.connected = owner.pid;
            port.driver = node.text("tcp_inet");
            port.queue_bytes = queued;
            for (std::uint32_t w = 0; w < each; ++w) pairs.emplace_back(behind_first + i * each + w, 10 + i);
        }
        node.waiters(owners * each, {node.function("http", "answer", 3), node.function("billing", "push", 1)});
        for (std::uint32_t i = 0; i < idlers; ++i) node.idle(10'000 + i);
        return node.told(rule, pairs);
    };
    WARN(told(2, 5, 1231660));
    CHECK(told(2, 6, 1'231'660)
              .starts_with("2 connections of http_handler:init/1 have 2.3 MiB that nobody takes at their other ends; "
                           "12 processes wait "
                           "for the answers in http:answer/3"));
    CHECK(told(1, 2, 65'536)
              .find(" has 64.0 KiB that nobody takes at its other end; 2 processes wait for the answer "
                    "in http:answer/3") != std::string::npos);
    CHECK(told(1, 2, 65'535).empty());
    CHECK(told(1, 1, 65'536).empty());
    CHECK(told(1, 10, 65'536).empty());  // wait-convoy's
    CHECK(told(2, 6, 65'536, "slow-socket", 0).empty());
    CHECK(told(2, 6, 65'536, "stuck-servers", 0) ==
          "12 of 14 processes (86 %) wait for 2 of http_handler:init/1; these are all idle in gen_server:loop/7, and "
          "have 128 KiB in connections that nobody reads at the other ends\n");
    CHECK(told(2, 6, 65'535, "stuck-servers", 0).find("their answers put off") != std::string::npos);
}

TEST_CASE("a node that ends at its work is no failed start", "[behind]") {
    const auto rule = [](std::string_view slogan, bool up, bool own = false) {
        test::MadeNode node;
        if (up) node.process(40, "kernel_safe_sup");
        if (own) {
            Module& module = node.s.modules.emplace_back();
            module.name = node.text("shop_cart");
            module.current_bytes = 1'000;
        }
        node.s.node.slogan = std::string(slogan);
        for (const char* name : {"start-up", "failed-call", "node-ended"})
            if (!test::of(node.told(), name).empty()) return std::string(name);
        return std::string();
    };
    CHECK(rule("Kernel pid terminated (application_controller) ({application_terminated,shop,shutdown})", false) ==
          "node-ended");
    CHECK(rule("Kernel pid terminated (application_controller) ({application_start_failure,shop,{bad,x}})", true) ==
          "start-up");
    CHECK(rule("erl_child_setup closed", false) == "node-ended");
    CHECK(rule("System process <0.5.0> terminated: killed", true) == "node-ended");
    CHECK(rule("System process <0.5.0> terminated: killed", false) == "start-up");
    CHECK(rule("Kernel pid terminated (logger) (killed)", false) == "start-up");
    CHECK(rule("Kernel pid terminated (logger) (killed)", true) == "node-ended");
}

TEST_CASE("of a pool that answers nobody is told for whom those below it wait", "[waits]") {
    std::uint32_t held_up = 14, all = 15, at_work = 1;
    const auto told = [&] {
        WaitingNode node;
        const FunctionId idle = node.function("gen_server", "loop", 7);
        node.at(10, {idle}, "db_pool");
        node.at(11, {idle}).parent = {0, 10, 0};
        node.at(12, {idle}, "types");
        node.waiters(40, {node.function("my", "ask", 1), node.function("my", "work", 0)});
        std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
        for (std::uint32_t i = 0; i < 40; ++i) pairs.emplace_back(behind_first + i, 10);
        for (std::uint32_t i = 0; i < all; ++i) {
            const bool works = i >= all - at_work;
            Process& p = node.at(20 + i, {i < held_up || works ? node.function("prim_inet", "recv0", 3) : idle});
            p.parent = {0, 11, 0};
            p.real_initial_call = node.function("conn", "init", 1);
            if (i < held_up) pairs.emplace_back(20 + i, 12);
        }
        return node.told("wait-convoy", pairs);
    };
    CHECK(
        told().find("it is idle, its answers put off; 14 of 15 conn:init/1 below it wait for types <0.12.0>, and one, "
                    "<0.34.0>, sits in prim_inet:recv0/3") != std::string::npos);
    SECTION("nobody is at work") {
        at_work = 0;
        CHECK(told().find("14 of 15 conn:init/1 below it wait for types <0.12.0>, which is idle in ") !=
              std::string::npos);
    }
    SECTION("fewer than half wait") {
        held_up = 7;
        CHECK(told().find("below it") == std::string::npos);
    }
    SECTION("there is only one") {
        held_up = all = 1, at_work = 0;
        CHECK(told().find("below it") == std::string::npos);
    }
}
