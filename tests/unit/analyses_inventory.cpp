// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "analyses/processes/answers.hpp"
#include "analyses/processes/inventory.hpp"
#include "present/spelling.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using test::MadeSnapshot;

namespace {

Port& port(MadeSnapshot& m, std::uint64_t number, std::uint32_t owner, const char* kind, const char* driver) {
    Port& p = m.s.ports.emplace_back();
    p.port = {0, number};
    p.connected = {0, owner, 0};
    p.kind = m.text(kind);
    p.driver = m.text(driver);
    return p;
}

}  // namespace

TEST_CASE("empty tables give empty reports", "[inventory]") {
    const Snapshot s;
    CHECK(ports(s).groups.empty());
    CHECK(ets_tables(s).bytes.value() == Count(0));
    CHECK(timers(s).groups.empty());
    CHECK(modules(s).largest.empty());
    CHECK(nodes(s).visible == 0);
    CHECK(!schedulers(s).longest);
}

TEST_CASE("who waits for a port is counted once, whether the port or its own stack says so", "[inventory]") {
    MadeSnapshot m;
    for (std::uint32_t i = 1; i <= 1000; ++i) m.process(i);
    Port& busy = port(m, 1, 1, "linked-in driver", "tcp_inet");
    for (std::uint32_t i = 600; i >= 2; --i) busy.suspended.push_back({0, i, 0});
    const Snapshot& s = m.seal();
    std::vector<HeldSender> senders;
    for (std::uint32_t i = 400; i <= 1000; ++i) senders.push_back({s.find({0, i, 0}), std::size_t{0}, {}, {}});
    const PortReport report = ports(s, senders);
    REQUIRE(report.busy.size() == 1);
    CHECK(report.busy[0].suspended.size() == 999);
    CHECK(report.groups[0].suspended == 999);
}

TEST_CASE("ports by driver and the owner's group", "[inventory]") {
    MadeSnapshot m;
    for (std::uint32_t i = 1; i <= 3; ++i) m.process(i).application = m.text("ranch_sup");
    m.process(4).application = m.text("kernel_sup");
    port(m, 1, 1, "linked-in driver", "tcp_inet").queue_bytes = 10;
    port(m, 2, 2, "linked-in driver", "tcp_inet").queue_bytes = 20;
    port(m, 3, 4, "linked-in driver", "tcp_inet");
    port(m, 4, 77, "external process", "/usr/lib/erlang/erts-16.2/bin/inet_gethost 4");
    Port& busy = port(m, 5, 3, "linked-in driver", "tcp_inet");
    busy.queue_bytes = 5;
    busy.suspended = {{0, 1, 0}, {0, 2, 0}, {0, 99, 0}};
    port(m, 6, 3, "linked-in driver", "tty_sl -c -e").suspended = {{0, 4, 0}};
    port(m, 7, 3, "fd", "2/2");
    const Snapshot& s = m.seal();
    const PortReport report = ports(s);
    CHECK(report.groups[0].count == 3);
    CHECK(report.groups[0].driver == "tcp_inet");
    CHECK(s.text(report.groups[0].kind) == "linked-in driver");
    CHECK(group_text(s, report.groups[0].owner) == "ranch_sup");
    CHECK(report.groups[0].queue_bytes.value() == Count(35));
    CHECK(report.groups[0].suspended == 3);
    CHECK(report.dead_owners == 1);
    std::vector<std::string> drivers;
    for (const PortGroup& group : report.groups) drivers.push_back(group.driver);
    CHECK(drivers == std::vector<std::string>{"tcp_inet", "tcp_inet", "inet_gethost", "tty_sl", "2/2"});
    REQUIRE(report.busy.size() == 2);
    CHECK(report.busy[0].port == 4);
    CHECK(test::numbers(s, report.busy[0].suspended) == std::vector<std::uint32_t>{1, 2});
    CHECK(report.queue_bytes.value() == Count(35));
    CHECK(report.queue_bytes.missing() == 4);
}

TEST_CASE("tables with owners, bytes and shares", "[inventory]") {
    MadeSnapshot m;
    m.process(1, "owner");
    const auto table = [&](std::uint32_t owner, Count words) {
        EtsTable& t = m.s.ets.emplace_back();
        t.owner = {0, owner, 0};
        t.words = words;
        t.objects = 10;
    };
    table(1, 100);
    table(1, 300);
    table(5, 600);
    table(5, Count());
    m.s.source.word_size = 4;
    const Snapshot& s = m.seal();
    const EtsReport report = ets_tables(s);
    CHECK(report.bytes.value() == Count(4000));
    CHECK(report.tables[0].table == 2);
    CHECK(*report.tables[0].percent == Approx(60));
    CHECK(!report.tables[0].owner.alive());
    CHECK(s.text(report.tables[1].owner.name) == "owner");
    CHECK(!report.tables[3].bytes.has());
    CHECK(!report.tables[3].percent);
    REQUIRE(report.owners.size() == 2);
    CHECK(report.owners[0].owner.pid.number == 5);
    CHECK(report.owners[0].tables == 2);
    CHECK(report.owners[1].bytes.value() == Count(1600));
    CHECK(report.dead_owners == 2);
    m.s.ets[0].words = std::numeric_limits<std::uint64_t>::max() - 1;
    CHECK(*ets_tables(m.s).bytes.value() == std::numeric_limits<std::uint64_t>::max() - 1);
}

TEST_CASE("timers by receiver and shape of message", "[inventory]") {
    MadeSnapshot m;
    m.process(85);
    m.process(86, "named");
    const auto timer = [&](std::uint32_t receiver, const char* name, const char* message, Count left) {
        Timer& t = m.s.timers.emplace_back();
        if (receiver != 0) t.receiver = {0, receiver, 0};
        t.receiver_name = m.text(name);
        t.message = m.text(message);
        t.left_ms = left;
    };
    timer(85, "", "{timeout,#Ref<0.1.2.3>,{retry,1}}", 500);
    timer(85, "", "{timeout,#Ref<0.1.2.4>,{retry,2}}", 100);
    timer(85, "", "{timeout,#Ref<0.1.2.4>,{retry,2}}", Count());
    timer(85, "", "tick", 7);
    timer(0, "named", "tick", 7);
    timer(0, "nobody", "tick", 7);
    timer(99, "", "tick", 7);
    const Snapshot& s = m.seal();
    const TimerReport report = timers(s);
    REQUIRE(report.groups.size() == 5);
    CHECK(report.groups[0].count == 3);
    CHECK(report.groups[0].shape == "{timeout,#Ref,{retry,_}}");
    CHECK(report.groups[0].soonest_ms == Count(100));
    CHECK(report.groups[0].latest_ms == Count(500));
    CHECK(report.groups[2].receiver.pid.number == 86);
    CHECK(report.groups[2].receiver.alive());
    CHECK(report.dead_receivers == 2);
}

TEST_CASE("the shape of a term", "[inventory]") {
    CHECK(term_shape("{send_after,<0.85.0>}") == "{send_after,<pid>}");
    CHECK(term_shape("'odd \\' atom'") == "'odd \\' atom'");
    CHECK(term_shape("{\"a } b\",<<1,2>>,<<\"x>>y\">>,-1,5.4e+01,16#FF}") == "{\"\",<<>>,<<>>,_,_,_}");
    CHECK(term_shape("#{k=>1,v2=>#Port<0.5>}") == "#{k=>_,v2=>#Port}");
    CHECK(term_shape("{a,{b,{c,{d,1},2},e},f}") == "{a,{b,{c,{...},_},e},f}");
    CHECK(term_shape("{a,[b,{c}]}", 1) == "{a,[...]}");
    CHECK(term_shape("") == "");
    for (const char* cut : {"{a,\"open", "{a,'open", "<<1,2", "<0.1", "#Ref<0.", "{{{{", "\"a\\", "}}}", "-"}) {
        INFO(cut);
        CHECK(term_shape(cut).size() < 20);
    }
    const std::string wide = term_shape("{" + std::string(1000, 'a') + "}");
    CHECK(wide.size() == 160);
    CHECK(wide.substr(157) == "...");
    CHECK(term_shape(std::string(100000, '{')).size() < 20);
}

TEST_CASE("modules, peers and schedulers", "[inventory]") {
    MadeSnapshot m;
    m.s.modules = {{m.text("a"), 100, 0}, {m.text("b"), 50, 200}, {m.text("c"), Count(), Count()}};
    const ModuleReport code = modules(m.s);
    CHECK(code.modules == 3);
    CHECK(code.with_old_code == 1);
    CHECK(code.current_bytes.value() == Count(150));
    CHECK(code.old_bytes.value() == Count(200));
    CHECK(code.largest == std::vector<std::size_t>{1, 0, 2});

    m.s.nodes.resize(4);
    m.s.nodes[1].kind = DistNode::Kind::hidden;
    m.s.nodes[2].kind = DistNode::Kind::not_connected;
    m.s.nodes[0].remote_links = 4000000000u;
    m.s.nodes[1].remote_links = 4000000000u;
    const NodeReport peers = nodes(m.s);
    CHECK(peers.visible == 2);
    CHECK(peers.hidden == 1);
    CHECK(peers.not_connected == 1);
    CHECK(peers.remote_links == 8000000000u);

    m.s.schedulers.resize(5);
    m.s.schedulers[0].run_queue = {0, 0, 3, 1, 1};
    m.s.schedulers[0].current_process = {0, 1, 0};
    m.s.schedulers[1].run_queue[2] = 9;
    m.s.schedulers[2].kind = Scheduler::Kind::dirty_io;
    m.s.schedulers[2].crashed = true;
    m.s.schedulers[3].kind = Scheduler::Kind::dirty_io_queue;
    m.s.schedulers[4].kind = Scheduler::Kind::dirty_cpu;
    m.s.schedulers[4].id = 3;
    const SchedulerReport threads = schedulers(m.s);
    CHECK(threads.normal == 2);
    CHECK(threads.busy_normal == 1);
    CHECK(threads.dirty_io == 1);
    CHECK(threads.queued.value() == Count(14));
    CHECK(threads.longest == 1u);
    CHECK(threads.crashed == 1);
    CHECK(threads.busy == std::vector<std::size_t>{0, 1, 2});
    CHECK(queued(m.s.schedulers[0]) == Count(5));
    CHECK(!queued(m.s.schedulers[3]).has());
    CHECK(present::plain_text(m.s, idle_schedulers(threads)) == "1 dirty scheduler had nothing to do.");
}
