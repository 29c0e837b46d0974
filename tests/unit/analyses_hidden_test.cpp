// SPDX-License-Identifier: Apache-2.0
// What is wrong where something else is loud: who waits for its own end, what fills queues and binaries, tables that
// few wait for.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analyses/heaps/accumulation.hpp"
#include "analyses/heaps/put_off.hpp"
#include "analyses/heaps/sizes.hpp"
#include "analyses/processes/application_starts.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

struct Hidden : test::MadeNode {
    // The last process waits for another one by what its frame holds.
    void names(std::uint32_t target) {
        StackSlot held;
        held.kind = StackSlot::Kind::pid;
        held.pid = {0, target, 0};
        held.process = static_cast<ProcId>(s.processes.size() - 1);
        s.slots.push_back(held);
    }
    void monitors(std::uint32_t target, std::uint32_t number) {
        Link link;
        link.kind = LinkKind::monitors;
        link.pid = {0, target, 0};
        link.ref = {1, 2, number};
        s.processes.back().link_range = {static_cast<std::uint32_t>(s.links.size()), 1};
        s.links.push_back(link);
        StackSlot held;
        held.kind = StackSlot::Kind::reference;
        held.words = 3;
        held.ref = link.ref;
        held.process = static_cast<ProcId>(s.processes.size() - 1);
        s.slots.push_back(held);
    }
};

}  // namespace

TEST_CASE("an application whose own process waits for the application controller does not stop", "[hidden]") {
    for (const bool asks : {true, false}) {
        Hidden node;
        const FunctionId call = node.function("gen", "do_call", 4), server = node.function("gen_server", "call", 3);
        node.at(
            1,
            {node.function("application_master", "call", 2), node.function("application_controller", "stop_appl", 3)},
            "application_controller");
        node.monitors(2, 1);
        node.at(2, {node.function("application_master", "terminate_loop", 2)});
        node.names(3);
        node.at(3, {node.function("application_master", "loop_it", 4)});
        node.names(4);
        node.at(4, {node.function("supervisor", "shutdown", 1)}, "shop_sup");
        node.names(5);
        node.at(5,
                {call, server, node.function("shop", "handle_cast", 2), node.function("gen_server", "try_dispatch", 4)},
                "janitor");
        node.monitors(asks ? 1 : 6, 2);
        node.at(6, {node.function("shop", "works", 0)}, "other");
        node.at(0, {node.function("init", "loop", 1)}, "init");
        for (std::uint32_t i = 0; i < 20; ++i) node.idle(10 + i);
        ApplicationStarts starts;
        starts.known = true;
        starts.masters.push_back({"shop", {0, 2, 0}});
        const auto found = node.told([&](Facts& facts) { facts.put(starts); });
        const auto stopped = test::of(found, "stop-under-way");
        REQUIRE(stopped.size() == 1);
        CHECK(test::of(found, "wait-cycle").empty());
        CHECK((stopped[0].severity == FindingSeverity::high) == asks);
        CHECK(stopped[0].title_alone() == (asks
                                               ? "Application shop does not stop: janitor <0.5.0>, a part of it, waits "
                                                 "for the application controller, called by shop:handle_cast/2"
                                               : "Application shop does not stop: shop_sup <0.4.0> waits for janitor "
                                                 "<0.5.0>, and that one in the end for other <0.6.0>, which sits in "
                                                 "shop:works/0"));
    }
}

TEST_CASE("a stop that does not end is followed to who holds it up", "[hidden]") {
    const auto told = [](bool together) {
        Hidden node;
        node.at(0, {node.function("init", "shutdown_loop", 4), node.function("init", "stop", 2)}, "init");
        node.at(4, {node.function("supervisor", together ? "wait_dynamic_children" : "shutdown", 1)}, "shop_sup");
        if (!together) node.names(5);
        node.at(5, {node.function("gen", "do_call", 4), node.function("shop", "terminate", 2)}, "writer").parent = {
            0, 4, 0};
        if (!together) node.monitors(6, 1);
        node.at(6, {node.function("ledger", "await_ack", 1)}, together ? "" : "ledger").parent = {0, 4, 0};
        for (std::uint32_t i = 0; i < 5; ++i) node.idle(20 + i).parent = {0, 4, 0};
        const auto found = test::of(node.told(), "stop-under-way");
        REQUIRE(found.size() == 1);
        return found[0].title_alone();
    };
    CHECK(
        told(false) ==
        "The node was being stopped (init:stop/0); shop_sup <0.4.0> waits for writer <0.5.0>, and that one for ledger "
        "<0.6.0>, which sits in ledger:await_ack/1");
    CHECK(told(true) ==
          "The node was being stopped (init:stop/0); shop_sup <0.4.0> waits for its children to end: writer <0.5.0> "
          "sits in gen:do_call/4");
}

TEST_CASE("an application that gave up where a table of the VM is full is told with that", "[hidden]") {
    const auto told = [](std::uint64_t limit, std::uint64_t ports) {
        Hidden node;
        node.s.node.slogan =
            "Kernel pid terminated (application_controller) (\"{application_terminated,hooks,shutdown}\")";
        node.s.node.process_limit = limit;
        node.s.node.port_limit = 100;
        for (std::uint32_t i = 0; i < 95; ++i) {
            Process& p = node.at(10 + i, {node.function("hooks", "await", 2)});
            p.real_initial_call = node.function("hooks", "deliver", 1);
        }
        for (std::uint32_t i = 0; i < ports; ++i) {
            Port& port = node.s.ports.emplace_back();
            port.port = {0, i + 1};
            port.connected = {0, 10 + i / 50, 0};
        }
        const auto found = test::of(node.told(), "node-ended");
        REQUIRE(found.size() == 1);
        return present::plain_text(node.s, found[0].behind);
    };
    CHECK(told(100, 0) == "95 of 100 processes that the node may have exist (95 %): 95 of them are hooks:deliver/1");
    CHECK(told(101, 0).empty());
    CHECK(told(1000, 96) ==
          "96 of 100 ports that the node may have are open (96 %): <0.10.0> (hooks:deliver/1) owns 50 of them");
    CHECK(told(94, 0).empty());  // more than there may be: the limit is not right
}

TEST_CASE("circles of others are told as circles, with no word of timeouts that nobody knows of", "[hidden]") {
    Hidden node;
    for (std::uint32_t i = 0; i < 3; ++i) {
        node.at(1 + i, {node.function("gen", "do_call", 4), node.function("gen_server", "call", 3)});
        node.monitors(1 + (i + 1) % 3, i);
    }
    const auto found = test::of(node.told(), "wait-cycle");
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == FindingSeverity::high);
    CHECK(found[0].words.find("Where one of these calls has a timeout, that one crashes") != std::string::npos);
}

TEST_CASE("of processes of one kind it is said whether messages are most of what they hold", "[hidden]") {
    const auto told = [](std::uint64_t heap_words, std::uint64_t queued) {
        Hidden node;
        for (std::uint32_t i = 0; i < 80; ++i) {
            Process& p = node.at(10 + i, {node.function("timer", "sleep", 1)});
            p.real_initial_call = node.function("shop", "subscriber", 1);
            p.memory_bytes = test::mebibyte;
            p.heap_words = heap_words / 2;
            p.old_heap_words = heap_words - heap_words / 2;
            p.msgq_len = queued;
        }
        node.memory("total", 100 * test::mebibyte);
        const auto found = test::of(node.told(), "big-heap");
        REQUIRE(found.size() == 1);
        return found[0].words;
    };
    const std::uint64_t half = test::mebibyte / 2 / 8;
    CHECK(told(half - 1, 2).find("up to 1.0 MiB each; most of it is 160 messages in their queues\n") !=
          std::string::npos);
    CHECK(
        told(half - 1, 2).find("-> See what these are, and who has sent them: beamheap msgs DUMP 0.10.0 --by shape") !=
        std::string::npos);
    CHECK(told(half, 2).find("each; 80 of them are in timer:sleep/1\n") != std::string::npos);
    CHECK(told(half - 1, 0).find("each; 80 of them are in timer:sleep/1\n") != std::string::npos);
}

TEST_CASE("binaries that terms show a part of do not wait for a collection", "[hidden]") {
    const auto told = [](std::uint64_t seen, bool of_it = true) {
        Hidden node;
        Process& p = node.at(1, {node.function("shop", "appends", 2)}, "upload_buffer");
        p.bin_vheap_words = 100 * test::mebibyte / 8;
        p.old_bin_vheap_words = 0;
        p.live_words = 100;
        node.idle(2);
        node.memory("total", 200 * test::mebibyte);
        node.memory("binary", 120 * test::mebibyte);
        node.s.source.complete = true;
        node.s.node.binary_bytes = 0;
        PinnedBinaries pinned;
        pinned.process = ProcId{of_it ? 0u : 1u};
        pinned.slices = 1;
        pinned.seen_bytes = seen;
        pinned.by_subtraction = true;
        const auto found = test::of(node.told([&](Facts& facts) { facts.put(Pinned{{pinned}}); }), "binary-pinning");
        REQUIRE(found.size() == 1);
        return found[0].title_alone();
    };
    const std::string keeps =
        "Binaries outside the heaps take 120 MiB (60 % of the node's memory); upload_buffer <0.1.0> keeps 100 MiB of "
        "them";
    CHECK(told(50 * test::mebibyte) == keeps);
    CHECK(told(50 * test::mebibyte - 1) == keeps + ", which wait for the next collection");
    CHECK(told(100 * test::mebibyte, false) == keeps + ", which wait for the next collection");
}

TEST_CASE("who takes none of its messages is said to, and who may look for one of them is told so", "[hidden]") {
    const auto told = [](ProcessState state, std::string_view module = "shop", std::string_view in = "acks") {
        Hidden node;
        Process& p = node.at(1, {node.function(module, in, 1), node.function("shop", "writer", 0)}, "writer");
        p.msgq_len = 20'000;
        p.state = state;
        p.memory_bytes = 16 * test::mebibyte;
        node.idle(2);
        const auto found = test::of(node.told(), "queue-flood");
        REQUIRE(found.size() == 1);
        return found[0].words;
    };
    const std::string_view some = "-> Where its receive takes only some of these";
    CHECK(told(ProcessState::waiting).find("; it sits in shop:acks/1, taking none\n") != std::string::npos);
    CHECK(told(ProcessState::waiting).find(some) == std::string::npos);
    for (const ProcessState state : {ProcessState::running, ProcessState::runnable}) {
        CHECK(told(state).find("none of them") == std::string::npos);
        CHECK(told(state).find(some) != std::string::npos);
        CHECK(told(state, "gen_server", "loop").find(some) == std::string::npos);
        CHECK(told(state, "lists", "reverse").find(some) == std::string::npos);  // called by shop:writer/0
    }
    CHECK(told(ProcessState::waiting, "gen_server", "loop").find("none of them") == std::string::npos);
}

TEST_CASE("who waits for tables is told where nothing else is, with the nodes that are missing", "[hidden]") {
    const auto told = [](std::uint32_t waiters, std::uint32_t absent, std::uint64_t tables) {
        Hidden node;
        node.idle(1, "mnesia_controller");
        for (std::uint32_t i = 0; i < waiters; ++i) {
            node.at(10 + i,
                    {node.function("mnesia_controller", "do_wait_for_tables", 2), node.function("shop", "sets_up", 1)},
                    i == 0 ? "cluster_setup" : "");
            node.names(100 + i);
        }
        for (std::uint32_t i = 0; i < 2; ++i) node.at(100 + i, {node.function("mnesia_controller", "rec_tabs", 4)});
        for (std::uint32_t i = 0; i < 60; ++i) node.idle(1000 + i);
        const auto other = [&](std::string_view name, DistNode::Kind kind) {
            DistNode& made = node.s.nodes.emplace_back();
            made.kind = kind;
            made.name = node.text(name);
        };
        other("nonode@nohost", DistNode::Kind::not_connected);
        other("left@host", absent > 0 ? DistNode::Kind::not_connected : DistNode::Kind::visible);
        other("right@host", absent > 1 ? DistNode::Kind::not_connected : DistNode::Kind::visible);
        node.s.node.slogan = "Received SIGUSR1";
        PutOff why;
        why.why = PutOff::Why::tables;
        why.server = ProcId{0};
        why.count = tables;
        why.what = parse_term("account");
        const auto found = test::of(node.told([&](Facts& facts) { facts.put(PutOffs{{why}}); }), "few-waiters");
        return found.empty() ? std::string() : found[0].words;
    };
    CHECK(told(0, 1, 1).empty());
    CHECK(told(1, 0, 1).starts_with(
        "cluster_setup: cluster_setup <0.10.0> waits for tables of mnesia; table account is not loaded\n"));
    CHECK(told(1, 1, 1).find("; table account is not loaded; node left@host is not connected\n") != std::string::npos);
    CHECK(told(2, 2, 3).starts_with(
        "cluster_setup: 2 of 65 processes wait for tables of mnesia; tables account and 2 more are not loaded\n"
        "  nodes that it knows, and has no connection to: left@host, right@host\n"));
}

TEST_CASE("of a long way down the middle is left out, and steps that are alike are counted", "[hidden]") {
    // A list within a list, `depth` times, whose innermost is a tuple of a thousand words; each has a word beside that.
    const auto where = [](unsigned depth, bool pairs) {
        std::string heap;
        const auto address = [](unsigned i) { return fmt::format("H{:X}", 0x7F0000001000 + 16 * i); };
        for (unsigned i = 0; i < depth; ++i) {
            heap += fmt::format("{:X}:", 0x7F0000001000 + 16 * i);
            heap += pairs && i % 2 == 1 ? fmt::format("t2:I1,{}\n", address(i + 1))
                                        : fmt::format("l{}|N\n", address(i + 1));
        }
        heap += fmt::format("{:X}:t3E8:", 0x7F0000001000 + 16 * depth);
        for (unsigned i = 0; i < 1000; ++i) heap += i == 0 ? "I0" : ",I0";
        const std::string dump =
            test::header() + test::process("<0.50.0>") +
            "=proc_stack:<0.50.0>\n0x00007fad1c217d74:SReturn addr 0x1C217D74 (shop:exports/1 + 596)\ny0:" +
            address(0) + "\n=proc_heap:<0.50.0>\n" + heap + "\n=end\n";
        LoadPlan plan = test::everything();
        plan.terms = true;
        const auto artifact = test::load(dump, plan);
        REQUIRE(artifact != nullptr);
        auto terms = artifact->terms(ProcId{0});
        REQUIRE(terms);
        TermMeasures measures(**terms);
        const Accumulation point = accumulation(artifact->snapshot(), ProcId{0}, **terms, measures);
        return present::plain_text(artifact->snapshot(), point.where) + ": " +
               present::plain_text(artifact->snapshot(), point.what);
    };
    const std::string stack = "the stack of shop:exports/1";
    CHECK(where(2, false).starts_with(stack + " > item 1 > item 1: a tuple {"));
    CHECK(where(8, true).starts_with(
        stack + " > item 1 > element 2 > item 1 > element 2 > item 1 > element 2 > item 1 > element 2: a tuple {"));
    CHECK(where(9, true).starts_with(
        stack +
        " > item 1 > element 2 > item 1 > element 2 > ... > element 2 > item 1 > element 2 > item 1: a tuple {"));
    CHECK(where(31, false).starts_with(stack + " > item 1, 31 times: a tuple {"));
    CHECK(where(100, false).starts_with(stack + " > item 1, 100 times: a tuple {"));
}

TEST_CASE("of a pool whose members are all out it is said where those who have them are held up", "[hidden]") {
    struct Pool {
        std::uint32_t users = 10, elsewhere = 1;  // have something of it; so many of these are at rest in another place
        std::string in = "recv0";
    };
    const auto told = [](const Pool& given) {
        Hidden node;
        const FunctionId call = node.function("gen", "do_call", 4), server = node.function("gen_server", "call", 3);
        node.idle(1, "db_pool");
        std::vector<Link> watched;
        for (std::uint32_t i = 0; i < given.users; ++i) {
            Link link;
            link.kind = LinkKind::monitors;
            link.pid = {0, 100 + i, 0};
            link.ref = {1, 3, i};
            watched.push_back(link);
        }
        node.s.processes.back().link_range = {static_cast<std::uint32_t>(node.s.links.size()), given.users};
        node.s.links.insert(node.s.links.end(), watched.begin(), watched.end());
        for (std::uint32_t i = 0; i < given.users; ++i) {
            if (i < given.elsewhere) {
                node.at(100 + i, {node.function("shop", "sums", 1)});
                continue;
            }
            node.at(100 + i, {call, server, node.function("shop", "orders", 1)});
            node.monitors(200 + i, i);
        }
        for (std::uint32_t i = 0; i < given.users; ++i)
            node.at(200 + i, {node.function("prim_inet", given.in, 3), node.function("shop_db", "handle_call", 3)});
        for (std::uint32_t i = 0; i < 60; ++i) {
            node.at(1000 + i, {call, server, node.function("shop", "orders", 1)});
            node.monitors(1, 1000 + i);
        }
        const auto found = test::of(node.told(), "wait-convoy");
        REQUIRE(!found.empty());
        return found[0].words;
    };
    const std::string idle = "it is idle until one of 10 ";
    CHECK(test::FoundWithText{{}, told({})}.title_alone().ends_with(
        idle + "gives something back, all held up in shop_db:handle_call/3"));
    CHECK(told({}).find("-> Look at what holds up those who have what the others want: beamheap proc DUMP 0.201.0\n") !=
          std::string::npos);
    CHECK(test::FoundWithText{{}, told({.elsewhere = 2})}.title_alone().ends_with(idle +
                                                                                  "processes gives something back"));
    CHECK(told({.elsewhere = 2})
              .find("-> Look at what those do who have what the others wait for: beamheap proc DUMP 0.100.0\n") !=
          std::string::npos);
}

TEST_CASE("a leak is shown by one that nobody watches, not by who has spawned them all", "[hidden]") {
    Hidden node;
    const FunctionId apply = node.function("erlang", "apply", 2);
    for (std::uint32_t i = 0; i < 10'001; ++i) {
        Process& p = node.process(10 + i, {}, 1);
        p.initial_call = apply;
        p.memory_bytes = i == 0 ? 1'000 : i == 7 ? 20 : 10;
        p.links = i == 0 ? 1 : 0;
    }
    const std::string words = test::of(node.told(), "process-leak").at(0).words;
    CHECK(words.find("beamheap proc DUMP 0.17.0") != std::string::npos);
}

TEST_CASE("a queue that grows while it is read has at most all messages", "[hidden]") {
    Hidden node;
    Process& p = node.at(1, {node.function("shop", "works", 1)});
    p.msgq_len = 10'100;
    p.memory_bytes = 1;
    const auto found = node.told([](Facts& known) {
        Totals before = totals(known.snapshot());
        before.messages = {};
        before.messages.add(Count(10'000));
        known.put(before);
    });
    const std::string words = test::of(found, "queue-flood").at(0).words;
    CHECK(words.find("of all messages in queues: 100\n") != std::string::npos);
}
