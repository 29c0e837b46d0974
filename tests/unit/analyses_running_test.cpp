// SPDX-License-Identifier: Apache-2.0
// What holds processes up besides calls, on snapshots made by hand: ports, locks, other nodes, and which finding tells
// it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "analyses/processes/application_starts.hpp"
#include "analyses/processes/locks.hpp"
#include "analyses/processes/senders.hpp"
#include "analyses/rules/rules.hpp"
#include "present/spelling.hpp"
#include "support/dump_text.hpp"
#include "support/running_node.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using beamheap::test::Running;

TEST_CASE("senders to busy ports are held up, one for each connection", "[running]") {
    Running node;
    for (std::uint32_t i = 0; i < 12; ++i) {
        node.port(100 + i, "BUSY_PORT");
        node.writer(10 + i, 100 + i).msgq_len = 5;
    }
    node.port(200, "CHK_UNSET_BUSY_Q");  // a send that has just begun
    node.writer(50, 200);
    node.port(201, "IN_RUNQ|BUSY_Q", "CONNECTED|DISTR");  // to another node
    node.writer(51, 201);
    node.idle(1);
    node.seal();
    const std::vector<HeldSender> held = held_senders(node.s, waits(node.s));
    REQUIRE(held.size() == 12);
    CHECK(node.s.text(node.s.functions[held[0].caller].module) == "my_conn");
    const std::vector<Finding> found = node.findings();
    const Finding* slow = node.find(found, "slow-socket");
    REQUIRE(slow != nullptr);
    CHECK(slow->severity == FindingSeverity::high);
    CHECK(slow->count == Count(12));
    CHECK(slow->bytes == Count(12'000));
    CHECK(node.title(*slow).find("12 connections") != std::string::npos);
    CHECK(node.title(*slow).find("60 messages") != std::string::npos);
}

TEST_CASE("a few slow clients among many are not high", "[running]") {
    Running node;
    for (std::uint32_t i = 0; i < 12; ++i) {
        node.port(100 + i, "BUSY_PORT");
        node.writer(10 + i, 100 + i);
    }
    for (std::uint32_t i = 0; i < 20; ++i) node.at(node.process(500 + i), {node.function("my_conn", "write", 2)});
    node.seal();
    const std::vector<Finding> found = node.findings();
    const Finding* slow = node.find(found, "slow-socket");
    REQUIRE(slow != nullptr);
    CHECK(slow->severity == FindingSeverity::medium);
    CHECK(slow->percent.value() == Approx(37.5));
}

TEST_CASE("senders of the module socket wait in a function of it; readers do not", "[running]") {
    Running node;
    for (std::uint32_t i = 0; i < 3; ++i)
        node.at(node.process(10 + i),
                {node.function("socket", "send_deadline", 4), node.function("my_conn", "write", 2)});
    node.at(node.process(20), {node.function("socket", "recv_deadline", 5), node.function("my_conn", "read", 2)});
    node.seal();
    const std::vector<HeldSender> held = held_senders(node.s, waits(node.s));
    REQUIRE(held.size() == 3);
    CHECK(!held[0].port.has_value());
}

TEST_CASE("the queue of one who is held up is part of what holds it up", "[running]") {
    Running node;
    for (std::uint32_t i = 0; i < 3; ++i) {
        node.port(100 + i, "BUSY_PORT");
        node.writer(10 + i, 100 + i).msgq_len = i == 1 ? 20'000 : 0;
    }
    node.seal();
    const std::vector<Finding> found = node.findings();
    CHECK(node.find(found, "queue-flood") == nullptr);
    const Finding* slow = node.find(found, "slow-socket");
    REQUIRE(slow != nullptr);
    CHECK(slow->severity == FindingSeverity::high);  // as loud as its part would be
    const auto part = [](const Evidence& each) { return each.name == Sentence(Ours("a part of it")); };
    CHECK(std::ranges::count_if(slow->evidence, part) == 1);
}

TEST_CASE("many of a small kind that wait for a stuck process are high among hundreds of others", "[running]") {
    for (const bool stuck : {true, false}) {
        Running node;
        node.idle(1, "server");
        if (stuck) node.at(node.s.processes.back(), {node.function("timer", "sleep", 1)});
        for (std::uint32_t i = 0; i < 12; ++i) node.caller(10 + i, 1);
        for (std::uint32_t i = 0; i < 600; ++i) {
            node.idle(1000 + i);
            node.s.processes.back().real_initial_call = node.function("others", "init", 1);
        }
        node.seal();
        const std::vector<Finding> found = node.findings();
        const Finding* convoy = node.find(found, "wait-convoy");
        REQUIRE((convoy != nullptr) == stuck);  // one that answers later may be what it is for
        if (stuck) CHECK(convoy->severity == FindingSeverity::high);
    }
}

TEST_CASE("who was suspended is told so, with what resumes it", "[running]") {
    Running node;
    node.at(node.process(1, "server"), {node.function("sys", "suspend_loop", 6)});
    for (std::uint32_t i = 0; i < 12; ++i) node.caller(10 + i, 1);
    node.seal();
    std::vector<Finding> found = node.findings();
    const Finding* convoy = node.find(found, "wait-convoy");
    REQUIRE(convoy != nullptr);
    CHECK(node.title(*convoy).find("was suspended by sys:suspend/1") != std::string::npos);
    CHECK(present::plain_text(node.s, convoy->next_steps.front()).find("sys:resume/1") != std::string::npos);
}

TEST_CASE("a call that a program has written by hand monitors whom it asks, or its requests lie there", "[running]") {
    for (const bool monitors : {true, false})
        for (const std::uint64_t requests : {0u, 12u, 1000u}) {
            Running node;
            node.at(node.process(1, "shop_db"), {node.function("shop", "db", 1)});
            node.s.processes.back().state = ProcessState::suspended;
            node.s.processes.back().msgq_len = requests;
            for (std::uint32_t i = 0; i < 12; ++i) {
                node.at(node.process(10 + i), {node.function("shop", "out", 1), node.function("web", "serve", 2)});
                Link monitor;
                monitor.kind = LinkKind::monitors;
                monitor.pid = {0, 1, 0};
                monitor.ref = {1, 2, i};
                node.links_to({monitor});
                StackSlot held;
                held.kind = monitors ? StackSlot::Kind::reference : StackSlot::Kind::pid;
                held.words = 3;
                held.ref = monitor.ref;
                held.pid = monitor.pid;
                node.hold(held);
            }
            for (std::uint32_t i = 0; i < 300; ++i) node.idle(100 + i);
            node.seal();
            CHECK(slots_for_waits(node.s, node.function("shop", "out", 1)) == SlotsWanted::whom_it_names);
            const std::vector<Finding> found = node.findings();
            const Finding* convoy = node.find(found, "wait-convoy");
            REQUIRE((convoy != nullptr) == (monitors || requests == 12));
            if (convoy == nullptr) continue;
            CHECK(convoy->severity == FindingSeverity::high);  // 4 % of all, but nobody will answer them
            CHECK(node.title(*convoy).find("wait in shop:out/1 for shop_db <0.1.0>; it ") != std::string::npos);
            CHECK(node.title(*convoy).find("is suspended") != std::string::npos);
        }
}

TEST_CASE("a server that is suspended is told, with or without callers", "[running]") {
    for (const std::uint64_t queued : {0u, 3u}) {
        Running node;
        node.at(node.process(1, "router"), {node.function("sys", "suspend_loop", 6)});
        node.s.processes.back().msgq_len = queued;
        node.at(node.process(2),
                {node.function("sys", "suspend_loop", 6)});  // has no name, and nobody asks it anything
        node.idle(3, "other");
        node.seal();
        const std::vector<Finding> found = node.findings();
        const Finding* suspended = node.find(found, "suspended");
        REQUIRE(suspended != nullptr);
        CHECK(suspended->severity == (queued == 0 ? FindingSeverity::medium : FindingSeverity::high));
        CHECK(suspended->count == Count(1));
        CHECK(node.title(*suspended).starts_with("router <0.1.0> was suspended by sys:suspend/1"));
    }
    Running node;  // held up by the VM, on a connection to another node
    node.at(node.process(1, "sender"), {node.function("erts_internal", "dsend_continue_trap", 1)});
    node.s.processes.back().state = ProcessState::suspended;
    node.seal();
    CHECK(node.find(node.findings(), "suspended") == nullptr);
}

TEST_CASE("what a pool has given out is with those whom it watches", "[running]") {
    Running node;
    node.idle(1, "pool");
    Link user;
    user.kind = LinkKind::monitors;
    user.pid = {0, 2, 0};
    node.links_to({user});
    node.at(node.process(2), {node.function("my", "query", 1)});
    for (std::uint32_t i = 0; i < 10; ++i) node.caller(10 + i, 1);
    for (std::uint32_t i = 0; i < 20; ++i) node.idle(100 + i);
    node.seal();
    const std::vector<Finding> found = node.findings();
    const Finding* convoy = node.find(found, "wait-convoy");
    REQUIRE(convoy != nullptr);
    CHECK(convoy->severity == FindingSeverity::high);
    CHECK(node.title(*convoy).find("gives something back, which sits in my:query/1") != std::string::npos);
}

TEST_CASE("callers of another node are one story, also those that wait for a new process there", "[running]") {
    Running node;
    node.idle(1);
    Link far;
    far.pid = {8850, 5, 0};
    node.s.channel_names[8850] = node.text("far@host");
    for (std::uint32_t i = 0; i < 6; ++i) node.caller(10 + i, far);
    Link named;
    named.name = node.text("service");
    named.node = node.text("far@host");
    for (std::uint32_t i = 0; i < 3; ++i) node.caller(20 + i, named);
    Link asked;
    asked.name = node.text("pending");
    node.caller(30, asked);
    DistNode peer;
    peer.channel = 8850;
    peer.name = node.text("far@host");
    peer.spawning = {{0, 30, 0}};
    node.s.nodes.push_back(peer);
    node.seal();
    const std::vector<Finding> found = node.findings();
    CHECK(node.find(found, "wait-convoy") == nullptr);
    const Finding* hung = node.find(found, "node-hung");
    REQUIRE(hung != nullptr);
    CHECK(hung->count == Count(10));
    CHECK(node.title(*hung).find("wait for node far@host: 10 in gen_server:call/3") != std::string::npos);
}

TEST_CASE("who waits for one that calls another node waits for that node", "[running]") {
    for (const std::uint32_t proxies : {1u, 2u}) {
        Running node;
        Link far;
        far.name = node.text("service");
        far.node = node.text("far@host");
        for (std::uint32_t i = 0; i < proxies; ++i) node.caller(1 + i, far);
        for (std::uint32_t i = 0; i < 20; ++i) node.caller(10 + i, 1 + i % proxies);
        for (std::uint32_t i = 0; i < 5; ++i) node.caller(50 + i, 10);  // and who waits for those
        for (std::uint32_t i = 0; i < 30; ++i) node.idle(100 + i);
        DistNode peer;
        peer.name = node.text("far@host");
        node.s.nodes.push_back(peer);
        node.seal();
        const std::vector<Finding> found = node.findings();
        CHECK(node.find(found, "wait-convoy") == nullptr);  // a part of it
        const Finding* hung = node.find(found, "node-hung");
        REQUIRE(hung != nullptr);
        CHECK(hung->count == Count(25 + proxies));
        const std::string behind = proxies == 1
                                       ? "for node far@host: 1 in gen_server:call/3; 25 of them through <0.1.0>"
                                       : "for node far@host: 2 in gen_server:call/3; 25 more wait for those";
        CHECK(node.title(*hung).find(behind) != std::string::npos);
    }
}

TEST_CASE("a lock that nobody here holds is looked for at the other node, or at the one that is silent", "[running]") {
    for (const std::uint32_t nodes : {0u, 1u, 2u})
        for (const bool silent : {false, true}) {
            Running node;
            for (std::uint32_t i = 0; i < 20; ++i)
                node.at(node.process(10 + i),
                        {node.function("mnesia_locker", "receive_wlocks", 4), node.function("my", "book", 1)});
            std::vector<ConnectionTick> ticks;
            for (std::uint32_t i = 0; i < nodes; ++i) {
                node.port(5 + i, "", "CONNECTED|DISTR");
                node.at(node.process(50 + i), {node.function("dist_util", "con_loop", 2)});
                node.s.ports.back().connected = {0, 50 + i, 0};
                DistNode peer;
                peer.name = node.text(i == 0 ? "far@host" : "other@host");
                peer.controller = node.text(i == 0 ? "#Port<0.5>" : "#Port<0.6>");
                node.s.nodes.push_back(peer);
            }
            node.seal();
            for (std::uint32_t i = 0; i < nodes; ++i)
                ticks.push_back({node.s.find({0, 50 + i, 0}), 7, silent && i + 1 == nodes ? 4u : 7u});
            ServiceStates states;
            states.ticks = ticks;
            states.tick_time = {60000, 60};
            const std::vector<Finding> found = test::findings_of(node.s, [&](Facts& facts) { facts.put(states); });
            const Finding* held = test::first_of(found, "lock-held");
            REQUIRE(held != nullptr);
            const char* where = nodes == 0 ? "nobody is in a function that runs under one: they take turns"
                                : silent   ? (nodes == 1 ? "look at node far@host, silent for 3.0 s"
                                                         : "look at node other@host, silent for 3.0 s")
                                           : (nodes == 1 ? "look at node far@host" : "look at the other nodes");
            CAPTURE(nodes, silent, node.title(*held));
            CHECK(node.title(*held).ends_with(where));
            CHECK(held->severity == (nodes == 0 ? FindingSeverity::medium : FindingSeverity::critical));
        }
}

TEST_CASE("a node that has been silent for half of its time is told with one who waits, and with nobody", "[running]") {
    for (const bool waits : {true, false})
        for (const unsigned ticks : {1u, 2u, 3u}) {
            Running node;
            Link far;
            far.name = node.text("service");
            far.node = node.text("far@host");
            if (waits) node.caller(10, far);
            for (std::uint32_t i = 0; i < 30; ++i) node.idle(100 + i);
            node.port(5, "", "CONNECTED|DISTR");
            node.at(node.process(50), {node.function("dist_util", "con_loop", 2)});
            node.s.ports.back().connected = {0, 50, 0};
            DistNode peer;
            peer.name = far.node;
            peer.controller = node.text("#Port<0.5>");
            node.s.nodes.push_back(peer);
            node.seal();
            ServiceStates states;
            states.ticks = {{node.s.find({0, 50, 0}), 3, 3 - ticks}};
            states.tick_time = {60000, 4};
            const std::vector<Finding> found = test::findings_of(node.s, [&](Facts& facts) { facts.put(states); });
            const Finding* hung = test::first_of(found, "node-hung");
            CAPTURE(waits, ticks);
            REQUIRE((hung != nullptr) == (ticks >= 2));
            if (hung == nullptr) continue;
            CHECK(hung->severity == FindingSeverity::medium);
            const std::string since = ticks == 2 ? "30.0" : "45.0";
            CHECK(node.title(*hung) ==
                  (waits ? "1 of 32 processes (3.1 %) wait for node far@host: 1 in gen_server:call/3; nothing has come "
                           "from it for " +
                               since + " s"
                         : "Nothing has come from node far@host for " + since + " s, and nobody waits for it"));
        }
}

TEST_CASE("those who are suspended wait for the only connection that is full", "[running]") {
    for (const bool second : {false, true}) {
        Running node;
        for (std::uint32_t i = 0; i < 2; ++i) {
            node.at(node.process(10 + i),
                    {node.function("erts_internal", "dsend_continue_trap", 1), node.function("my", "tell", 2)});
            node.s.processes.back().state = ProcessState::suspended;
        }
        for (std::uint64_t i = 0; i < (second ? 2 : 1); ++i) {
            node.port(5 + i, "BUSY_PORT", "CONNECTED|DISTR");
            DistNode peer;
            peer.name = node.text(i == 0 ? "far@host" : "other@host");
            peer.controller = node.text(i == 0 ? "#Port<0.5>" : "#Port<0.6>");
            node.s.nodes.push_back(peer);
        }
        node.seal();
        const Waits waiting = waits(node.s);
        CHECK(waiting.edges.size() == (second ? 0 : 2));
        for (const WaitEdge& edge : waiting.edges) {
            CHECK(edge.infinite);
            CHECK(edge.confidence == Confidence::estimate);  // nothing in the process says which connection
        }
        const std::vector<Finding> found = node.findings();
        CHECK((node.find(found, "node-hung") != nullptr) == !second);
    }
}

TEST_CASE("atoms of one family are a leak long before their table is full", "[running]") {
    for (const std::uint32_t atoms : {90'000u, 150'000u, 350'000u}) {
        Running node;
        node.idle(1, "parser");
        for (std::uint32_t i = 0; i < atoms; ++i) node.s.atoms.push_back(node.text("session_" + std::to_string(i)));
        node.s.node.atoms = atoms;
        node.s.node.atom_limit = 5'000'000;
        node.seal();
        const std::vector<Finding> found = node.findings();
        const Finding* leak = node.find(found, "atom-exhaustion");
        REQUIRE((leak != nullptr) == (atoms > 100'000));
        if (leak != nullptr)
            CHECK(leak->severity == (atoms > 300'000 ? FindingSeverity::high : FindingSeverity::medium));
    }
}

TEST_CASE("what lies in queues of ports is told where nobody waits for them", "[running]") {
    for (const std::uint64_t mebibytes : {1u, 40u}) {
        Running node;
        node.idle(1, "server");
        for (std::uint32_t i = 0; i < 3; ++i) {
            Port& port = node.port(10 + i, "");
            port.connected = {0, 1, 0};
            port.queue_bytes = mebibytes << 20;
        }
        node.s.memory.push_back({node.text("total"), std::uint64_t{200} << 20, {}});
        node.seal();
        const std::vector<Finding> found = node.findings();
        const Finding* full = node.find(found, "slow-socket");
        REQUIRE((full != nullptr) == (mebibytes == 40));
        if (full != nullptr) CHECK(full->bytes == Count(std::uint64_t{120} << 20));
    }
}

TEST_CASE("the stores of transactions are no leak of their manager", "[running]") {
    for (const char* name : {"mnesia_trans_store", "my_cache"}) {
        Running node;
        node.idle(1, "mnesia_tm");
        for (std::uint32_t i = 0; i < 120; ++i) {
            EtsTable table;
            table.owner = {0, 1, 0};
            table.name = node.text(name);
            table.words = 300;
            node.s.ets.push_back(table);
        }
        node.seal();
        const std::vector<Finding> found = node.findings();
        CHECK((node.find(found, "ets-growth") != nullptr) == (std::string_view(name) == "my_cache"));
    }
}

TEST_CASE("a table that is most of a small node is not high", "[running]") {
    for (const std::uint64_t mebibytes : {27u, 80u}) {
        Running node;
        node.idle(1, "cache");
        EtsTable table;
        table.owner = {0, 1, 0};
        table.name = node.text("cache");
        table.words = (mebibytes << 20) / 8;
        node.s.ets.push_back(table);
        node.s.memory.push_back({node.text("total"), mebibytes * 2 << 20, {}});
        node.seal();
        const std::vector<Finding> found = node.findings();
        REQUIRE(node.find(found, "ets-growth") != nullptr);
        CHECK(node.find(found, "ets-growth")->severity ==
              (mebibytes == 27 ? FindingSeverity::medium : FindingSeverity::high));
    }
}

TEST_CASE("the application controller's state tells what is starting", "[running]") {
    const auto starts = [](std::string_view text) {
        const auto term = parse_term(text);
        return application_starts(*term, term->term());
    };
    const ApplicationStarts some = starts(
        "{state,[],[{web,temporary,normal,{<0.9.0>,tag}}],[],[{stdlib,undefined},{kernel,<0.4.0>}],[],[],[],"
        "undefined}");
    CHECK(some.known);
    CHECK(some.starting == std::vector<std::string>{"web"});
    CHECK(some.running == 2);
    REQUIRE(some.masters.size() == 2);
    CHECK((some.masters[0].name == "stdlib" && some.masters[0].master == Pid{}));  // a library has no process
    CHECK((some.masters[1].name == "kernel" && some.masters[1].master == Pid{0, 4, 0}));
    CHECK(starts("{state,[],[],[],[],[],[],[],undefined,[]}").known);  // as 29 has it
    CHECK(!starts("{state,1,2,3,4,5,6,7,8}").known);
    CHECK(!starts("{other,[],[],[],[],[],[],[],[]}").known);
}

TEST_CASE("what the boot script still has to start is what is left of its commands", "[running]") {
    const auto to_come = [](const std::string& heap) {
        LoadPlan plan = test::everything();
        plan.terms = true;
        plan.terms_of = [](const Snapshot&, ProcId) { return true; };
        const auto artifact =
            test::load(test::header() + test::process("<0.1.0>", "Program counter: 0x0 (init:boot_loop/2 + 10)\n") +
                           "=proc_stack:<0.1.0>\n0x00007fad1c217d74:SReturn addr 0x1C217D74 (init:boot_loop/2 + "
                           "596)\ny0:H100\n=proc_heap:<0.1.0>\n" +
                           heap + "=end\n",
                       plan);
        REQUIRE(artifact != nullptr);
        auto terms = artifact->terms(ProcId{0});
        REQUIRE(terms);
        return applications_to_come(**terms);
    };
    // [{apply,{application,start_boot,[web,permanent]}},{progress,started}], and what may follow
    const auto script = [](std::string_view rest) {
        return "100:lH200|H110\n110:lH210|" + std::string(rest) +
               "\n120:lA3:odd|N\n200:t2:A5:apply,H300\n300:t3:AB:application,AA:start_boot,N\n210:t2:A8:progress,A7:"
               "started\n";
    };
    CHECK(to_come(script("N")) == std::optional<std::uint64_t>(1));
    CHECK_FALSE(to_come(script("H120")).has_value());  // no list of commands
    CHECK_FALSE(to_come("100:lH200|N\n200:t2:A5:apply,H300\n300:t3:AB:application,AA:start_boot,N\n")
                    .has_value());  // nor one without progress
}

TEST_CASE("a dump says with a node who waits for a new process there", "[running]") {
    const auto artifact = test::load(test::header() +
                                     "=visible_node:9073\nName: 'far@host'\nController: #Port<0.10>\nCreation: 1\n"
                                     "Remote monitoring: <0.87.0> pending\nRemote monitoring: <0.88.0> <9073.87.0>\n" +
                                     test::process("<0.87.0>", "Link list: [{to,pending,#Ref<0.1.2.3>}]\n") + "=end\n");
    REQUIRE(artifact != nullptr);
    REQUIRE(artifact->snapshot().nodes.size() == 1);
    CHECK(artifact->snapshot().nodes[0].remote_monitors == 2);
    CHECK(artifact->snapshot().nodes[0].spawning == std::vector<Pid>{{0, 87, 0}});
}

TEST_CASE("only who writes to the terminal writes to standard output", "[running]") {
    const auto title = [](std::string_view module, std::string_view name) {
        Running node;
        for (std::uint32_t i = 0; i < 20; ++i) node.caller(10 + i, 5);
        node.at(node.process(5, "user_drv_writer"),
                {node.function(module, name, 2), node.function("shop", "works", 1)});
        node.seal();
        const std::vector<Finding> found = node.findings();
        const Finding* convoy = node.find(found, "wait-convoy");
        REQUIRE(convoy != nullptr);
        return node.title(*convoy);
    };
    const std::string writes = "writes to standard output, and waits until that is read";
    CHECK(title("prim_tty", "write_nif").find(writes) != std::string::npos);
    CHECK(title("prim_tty", "read_nif").find(writes) == std::string::npos);
    CHECK(title("shop", "write_nif").find(writes) == std::string::npos);
}

TEST_CASE("a flood of one who waits tells what that one does for whom it waits", "[running]") {
    for (const bool further : {false, true}) {
        Running node;
        if (further) node.caller(5, 4);
        else node.idle(5, "db");
        node.caller(10, 5);
        node.s.processes.back().msgq_len = 5'000;
        node.idle(4);
        node.seal();
        const std::vector<Finding> found = node.findings();
        const Finding* flood = node.find(found, "queue-flood");
        REQUIRE(flood != nullptr);
        CHECK(flood->role == FindingRole::victim);
        const std::string title = node.title(*flood);
        CHECK(title.find("; it waits in gen_server:call/3 for " + std::string(further ? "<0.5.0>" : "db <0.5.0>")) !=
              std::string::npos);
        // of one who waits as well, the end of the chain
        CHECK((title.find(", and that one for <0.4.0>, which ") != std::string::npos) == further);
        CHECK(title.find(", which ") != std::string::npos);
    }
}

TEST_CASE("a port is busy by either of its flags, wherever they stand among the others", "[running]") {
    test::MadeSnapshot node;
    const auto busy = [&](std::string_view flags) {
        Port port;
        port.task_flags = node.text(flags);
        return is_busy(node.s, port);
    };
    for (const char* flags :
         {"BUSY_PORT", "BUSY_Q", "IN_RUNQ|BUSY_PORT", "BUSY_Q|HAVE_TASKS", "IN_RUNQ|HAVE_TASKS|BUSY_Q|PARALLELISM"})
        CHECK(busy(flags));
    for (const char* flags : {"", "IN_RUNQ", "CHK_UNSET_BUSY_Q", "BUSY_TASKS|IN_RUNQ", "BUSY_PORTS", "|"})
        CHECK_FALSE(busy(flags));
}
