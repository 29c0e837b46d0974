// SPDX-License-Identifier: Apache-2.0
// What nodes that stand still or swell suffer from, on snapshots made by hand: at which figures rules speak, and what
// they say.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "analyses/heaps/put_off.hpp"
#include "analyses/memory/unreferenced_binaries.hpp"
#include "analyses/processes/native_stacks.hpp"
#include "analyses/processes/waits.hpp"
#include "analyses/rules/rules.hpp"
#include "present/spelling.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

struct Stalled : test::MadeSnapshot {
    bool held_in_native = false;
    std::vector<Finding> found;

    Process& at(std::uint32_t number, const std::vector<FunctionId>& frames, std::string_view name = {}) {
        Process& p = process(number, name);
        p.current_function = frames.front();
        p.stack = stack(frames);
        p.memory_bytes = 1000;
        p.reductions = 100;
        return p;
    }
    void link(LinkKind kind, const Link& to) {
        Process& p = s.processes.back();
        if (p.link_range.count == 0) p.link_range.first = static_cast<std::uint32_t>(s.links.size());
        ++p.link_range.count;
        s.links.push_back(to);
        s.links.back().kind = kind;
    }
    void scheduler(std::uint32_t current, std::uint64_t queued, std::string_view flags = {}) {
        Scheduler& one = s.schedulers.emplace_back();
        one.id = static_cast<std::uint32_t>(s.schedulers.size());
        one.sleep_flags = text(flags);
        if (current != 0) one.current_process = {0, current, 0};
        one.run_queue = {0, 0, queued, 0, 0};
    }
    /// The first finding of a rule; its title is empty where there is none.
    const Finding* first(std::string_view rule) {
        seal();
        found = test::findings_of(s, [&](Facts& facts) { facts.put(NativeHold{held_in_native}); });
        return test::first_of(found, rule);
    }
    std::string title(const Finding& finding) { return present::plain_text(s, finding.title); }
};

}  // namespace

TEST_CASE("persistent terms that are replaced again and again are seen by the work of the VM's collector",
          "[stalled]") {
    struct Case {
        std::uint64_t collector, others;
        bool writes;
        int severity;  // -1: none
    };
    for (const Case& each : {Case{10'000'000, 9'000'000, true, 2}, Case{10'000'000, 30'000'000, true, 1},
                             Case{1'000'000, 1'000'000, true, 1}, Case{999'999, 100'000, true, -1},
                             Case{10'000'000, 90'000'000, true, -1}, Case{10'000'000, 9'000'000, false, -1}}) {
        Stalled node;
        Process& collector = node.at(2, {node.function("erts_literal_area_collector", "msg_loop", 4)});
        collector.initial_call = node.function("erts_literal_area_collector", "start", 0);
        collector.reductions = each.collector;
        const std::vector<FunctionId> writing{node.function("persistent_term", "put", 2),
                                              node.function("shop_rates", "update", 1)};
        node.at(10, each.writes ? writing : std::vector{writing[1]}).reductions = each.others;
        const Finding* const finding = node.first("persistent-term-loop");
        CAPTURE(each.collector, each.others, each.writes);
        REQUIRE((finding != nullptr) == (each.severity >= 0));
        if (finding == nullptr) continue;
        CHECK(static_cast<int>(finding->severity) == each.severity);
        CHECK(node.title(*finding).find("is in persistent_term:put/2, called by shop_rates:update/1") !=
              std::string::npos);
    }
}

TEST_CASE("a collector at work is enough where nobody is seen to write", "[stalled]") {
    Stalled node;
    Process& collector = node.at(2, {node.function("erlang", "bif_return_trap", 2)});
    collector.initial_call = node.function("erts_literal_area_collector", "start", 0);
    collector.reductions = 20'000'000;
    collector.state = ProcessState::runnable;
    node.at(10, {node.function("my", "loop", 1)});
    const Finding* const finding = node.first("persistent-term-loop");
    REQUIRE(finding != nullptr);
    CHECK(finding->count == Count(0));
}

TEST_CASE(
    "schedulers that somebody has blocked are told with those who wait; those that are not online are not blocked",
    "[stalled]") {
    for (const bool blocked : {true, false}) {
        Stalled node;
        for (std::uint32_t i = 0; i < 12; ++i)
            node.at(10 + i, {node.function("shop", "works", 1)}).state = ProcessState::runnable;
        node.scheduler(10, 11, blocked ? "MSB_EXEC" : "");
        node.scheduler(0, 0, "SLEEPING | WAITING | SUSPENDED");
        const Finding* const finding = node.first("run-queue");
        REQUIRE((finding != nullptr) == blocked);
        if (!blocked) continue;
        CHECK(finding->severity == FindingSeverity::high);
        CHECK(node.title(*finding).find("of which only 1 works, since erlang:system_flag/2 has blocked the others") !=
              std::string::npos);
    }
}

TEST_CASE("schedulers that are all in C are told with one who waits", "[stalled]") {
    for (const bool native : {true, false}) {
        Stalled node;
        node.held_in_native = native;
        for (const std::uint32_t number : {10u, 11u})
            node.at(number, {node.function("shop", "compares", 1)}).state = ProcessState::running;
        node.at(12, {node.function("shop", "works", 1)}).state = ProcessState::runnable;
        node.scheduler(10, 1);
        node.scheduler(11, 0);
        const Finding* const finding = node.first("run-queue");
        REQUIRE((finding != nullptr) == native);
        if (!native) continue;
        CHECK(finding->severity == FindingSeverity::medium);
        CHECK(node.title(*finding) ==
              "All 2 schedulers are in C code, called by shop:compares/1, and 1 process waits for one of them");
    }
}

TEST_CASE("schedulers whose processes take turns are not told as held", "[stalled]") {
    const auto told = [](std::uint64_t done, std::string_view function) {
        Stalled node;
        node.held_in_native = true;
        for (const std::uint32_t number : {10u, 11u, 12u}) {
            Process& p = node.at(number, {node.function("shop", number == 12 ? function : "looks", 1)});
            p.state = number == 12 ? ProcessState::runnable : ProcessState::running;
            p.reductions = number == 12 ? done : 8'000'000;
        }
        node.scheduler(10, 1);
        node.scheduler(11, 0);
        return node.first("run-queue") != nullptr;
    };
    CHECK(!told(2'000'000, "looks"));
    CHECK(told(1'999'999, "looks"));  // it has had no turn for long
    CHECK(told(2'000'000, "works"));
}

TEST_CASE("threads of schedulers are in native code where none is in what the JIT wrote", "[stalled]") {
    const auto threads = [](bool jit, ProcId process) {
        NativeThreads native;
        for (const char* role : {"scheduler:1", "scheduler:2", "dirty_io_scheduler:1"}) {
            NativeThread& thread = native.threads.emplace_back();
            thread.role = role;
            if (!thread.role.starts_with("scheduler:")) continue;
            thread.process = process;
            NativeFrame& frame = thread.frames.emplace_back();
            frame.jit = jit && thread.role == "scheduler:2";
            frame.file = frame.jit ? "" : "beam.smp";
        }
        return native;
    };
    CHECK(all_schedulers_in_native(threads(false, ProcId{3})));
    CHECK_FALSE(all_schedulers_in_native(threads(true, ProcId{3})));
    CHECK_FALSE(all_schedulers_in_native(threads(false, ProcId::none)));
    CHECK_FALSE(all_schedulers_in_native({}));
}

TEST_CASE("programs that one process keeps open are told from a hundred on", "[stalled]") {
    for (const std::uint32_t programs : {99u, 100u}) {
        Stalled node;
        node.at(5, {node.function("thumbs", "loop", 0)}, "thumbnailer");
        for (std::uint32_t i = 0; i < programs + 50; ++i) {
            Port& port = node.s.ports.emplace_back();
            port.port.number = i;
            port.kind = node.text("external process");
            port.driver = node.text("/usr/bin/convert -");
            port.connected = {0, i < programs ? 5 : 1000 + i, 0};  // 50 others have one each
        }
        const Finding* const finding = node.first("port-leak");
        REQUIRE((finding != nullptr) == (programs == 100));
        if (finding == nullptr) continue;
        CHECK(finding->severity == FindingSeverity::medium);
        CHECK(node.title(*finding) ==
              "thumbnailer <0.5.0> has 100 external programs open, all of them /usr/bin/convert -");
        REQUIRE(finding->evidence.size() == 2);
        CHECK(finding->evidence[0].number == 100.0);
        CHECK(finding->evidence[1].number == 150.0);  // ports of the node
        CHECK(finding->pid == Pid{0, 5, 0});
    }
}

TEST_CASE("files belong to who has opened them, raw or by a process of file_io_server", "[stalled]") {
    Stalled node;
    Link file;
    file.name = node.text("prim_file");
    file.node = node.text("efile");
    node.at(5, {node.function("archive", "loop", 0)}, "report_archive");
    for (int i = 0; i < 300; ++i) node.link(LinkKind::resource, file);
    Link owner;
    owner.pid = {0, 5, 0};
    for (std::uint32_t i = 0; i < 250; ++i) {
        node.at(100 + i, {node.function("file_io_server", "server_loop", 1)});
        node.link(LinkKind::monitors, owner);
        node.link(LinkKind::resource, file);
    }
    node.at(400, {node.function("shop", "reads", 1)});
    node.link(LinkKind::resource, file);
    const Finding* const finding = node.first("port-leak");
    REQUIRE(finding != nullptr);
    CHECK(finding->count == Count(550));
    REQUIRE(finding->evidence.size() >= 2);
    CHECK(finding->evidence[0].number == 550.0);
    CHECK(finding->evidence[1].number == 551.0);  // of the node
    CHECK(node.title(*finding) == "report_archive <0.5.0> has 550 files open, which it has not closed");
}

TEST_CASE("requests of HTTP without an answer are counted, whoever is asked", "[stalled]") {
    for (const std::uint32_t requests : {9u, 10u}) {
        Stalled node;
        for (std::uint32_t i = 0; i < requests; ++i)
            node.at(10 + i, {node.function("httpc", "handle_answer", 3), node.function("httpc", "handle_request", 9),
                             node.function("shop", "fetch", 1)});
        for (std::uint32_t i = 0; i < 30; ++i) node.at(100 + i, {node.function("gen_server", "loop", 7)});
        const Finding* const finding = node.first("stuck-servers");
        REQUIRE((finding != nullptr) == (requests == 10));
        if (finding == nullptr) continue;
        CHECK(finding->severity == FindingSeverity::medium);
        CHECK(node.title(*finding).find(
                  "wait for answers to requests of HTTP; they sit in httpc:handle_answer/3, called by shop:fetch/1") !=
              std::string::npos);
    }
}

TEST_CASE("questions to name servers, connections and handshakes of TLS without an answer are told for what they are",
          "[stalled]") {
    struct Case {
        std::vector<const char*> frames;  // module, function; youngest first
        const char* said;
    };
    for (const Case& each :
         {Case{{"prim_inet", "recvfrom0", "inet_res", "query_udp"},
               "wait for answers of name servers (DNS); they sit in prim_inet:recvfrom0/3, called by shop:fetch/1"},
          Case{{"prim_inet", "connect0", "gen_tcp", "connect"},
               "wait for connections to be set up; they sit in prim_inet:connect0/3, called by shop:fetch/1"},
          Case{{"gen", "do_call", "ssl_gen_statem", "handshake"},
               "wait for handshakes of TLS; they sit in gen:do_call/3, called by shop:fetch/1"},
          Case{{"prim_inet", "recvfrom0", "gen_udp", "recv"}, nullptr}}) {
        Stalled node;
        for (std::uint32_t i = 0; i < 10; ++i) {
            std::vector<FunctionId> frames;
            for (std::size_t frame = 0; frame < each.frames.size(); frame += 2)
                frames.push_back(node.function(each.frames[frame], each.frames[frame + 1], 3));
            frames.push_back(node.function("shop", "fetch", 1));
            node.at(10 + i, frames);
            Link connection;  // of TLS: a process of its own, for each
            connection.pid = {0, 100 + i, 0};
            node.link(LinkKind::monitors, connection);
        }
        for (std::uint32_t i = 0; i < 30; ++i) node.at(100 + i, {node.function("gen_statem", "loop_receive", 3)});
        const Finding* const finding = node.first("stuck-servers");
        REQUIRE((finding != nullptr) == (each.said != nullptr));
        if (finding == nullptr) continue;
        CHECK(finding->severity == FindingSeverity::medium);
        CHECK(finding->count == Count(10));
        CHECK(node.title(*finding).find(each.said) != std::string::npos);
    }
}

TEST_CASE("who awaits several tasks waits for each of them, alone or by way of the process that watches a stream",
          "[stalled]") {
    for (const bool stream : {false, true}) {
        Stalled node;
        for (std::uint32_t i = 0; i < 10; ++i) {
            Link on;
            if (stream) {
                on.pid = {0, 20 + i, 0};
                node.at(10 + i, {node.function("Elixir.Task.Supervised", "stream_reduce", 7),
                                 node.function("shop", "prices", 1)});
                node.link(LinkKind::monitors, on);
            }
            Process& p = stream ? node.at(20 + i, {node.function("Elixir.Task.Supervised", "stream_monitor_loop", 2)})
                                : node.at(10 + i, {node.function("Elixir.Task", "await_many", 5),
                                                   node.function("shop", "prices", 1)});
            p.parent = {0, stream ? 10 + i : 1, 0};
            if (stream) on.pid = p.parent, node.link(LinkKind::monitors, on);  // and whom it works for
            for (std::uint32_t task = 0; task < 2; ++task)
                on.pid = {0, 100 + 2 * i + task, 0}, node.link(LinkKind::monitors, on);
        }
        for (std::uint32_t i = 0; i < 20; ++i)
            node.at(
                100 + i,
                {node.function("prim_inet", "recv0", 3), node.function("Elixir.Task.Supervised", "invoke_mfa", 2),
                 node.function("Elixir.Task.Supervised", "reply", 4), node.function("proc_lib", "init_p_do_apply", 3)});
        const Finding* const finding = node.first("stuck-servers");
        REQUIRE(finding != nullptr);
        CHECK(finding->severity == FindingSeverity::medium);
        CHECK(finding->count == Count(stream ? 20 : 10));
        CHECK(node.title(*finding).find(" wait for 20 tasks; these all sit in prim_inet:recv0/3") != std::string::npos);
        CHECK(node.title(*finding).ends_with("recv0/3"));
    }
}

TEST_CASE("as many of a higher priority as there are schedulers take the turns of all others", "[stalled]") {
    struct Case {
        std::uint32_t preferred;
        const char* priority;
        bool told;
    };
    for (const Case& each :
         {Case{2, "HIGH", true}, Case{2, "MAX", true}, Case{1, "HIGH", false}, Case{2, "NORMAL", false}}) {
        Stalled node;
        for (std::uint32_t i = 0; i < 2; ++i) node.scheduler(10 + i, 9);
        for (std::uint32_t i = 0; i < each.preferred; ++i) {
            Process& p = node.at(10 + i, {node.function(i == 0 ? "shop" : "other", "encode", 1)});
            p.state = ProcessState::running;
            p.reductions = 1000 - i;
            p.internal_state =
                node.text(std::string("ACT_PRIO_") + each.priority + " | USR_PRIO_NORMAL | PRQ_PRIO_NORMAL");
        }
        for (std::uint32_t i = 0; i < 18; ++i) {
            Process& p = node.at(100 + i, {node.function("shop", "tick", 1)});
            p.state = ProcessState::runnable;
            p.internal_state = node.text("ACT_PRIO_NORMAL | USR_PRIO_NORMAL | PRQ_PRIO_NORMAL");
        }
        const Finding* const finding = node.first("run-queue");
        CAPTURE(each.preferred, each.priority);
        REQUIRE((finding != nullptr) == each.told);
        if (finding == nullptr) continue;
        CHECK(finding->severity == FindingSeverity::high);
        CHECK(node.title(*finding) ==
              "20 processes are ready to run on 2 schedulers; 2 of a higher priority go first, one of them <0.10.0> in "
              "shop:encode/1");
    }
}

TEST_CASE("of a stuck server with one program open that is told", "[stalled]") {
    for (const std::uint32_t programs : {0u, 1u, 2u}) {
        Stalled node;
        for (std::uint32_t i = 0; i < programs; ++i) {
            Port& port = node.s.ports.emplace_back();
            port.port = {0, 5 + i};
            port.connected = {0, 5, 0};
            port.kind = node.text("external process");
            port.driver = node.text("/usr/bin/convert");
        }
        node.at(5, {node.function("thumbnailer", "answer", 1)}, "thumbnailer");
        for (std::uint32_t i = 0; i < 20; ++i) {
            node.at(10 + i, {node.function("gen", "do_call", 4), node.function("gen_server", "call", 3)});
            Link server;
            server.pid = {0, 5, 0};
            node.link(LinkKind::monitors, server);
        }
        const Finding* const finding = node.first("wait-convoy");
        REQUIRE(finding != nullptr);
        std::string said;
        for (const Evidence& each : finding->evidence)
            if (present::plain_text(node.s, each.name) == "its program") said = present::plain_text(node.s, each.text);
        CHECK(said == (programs == 1 ? "/usr/bin/convert (#Port<0.5>)" : ""));
    }
}

TEST_CASE("who logs and is held up by a handler of logger waits for that", "[stalled]") {
    Stalled node;
    for (std::uint32_t i = 0; i < 12; ++i)
        node.at(10 + i, {node.function("remote_log", "await", 1), node.function("remote_log", "log", 2),
                         node.function("logger_backend", "call_handlers", 3),
                         node.function("shop", i % 2 == 0 ? "order" : "pay", 1)});
    for (std::uint32_t i = 0; i < 30; ++i) node.at(100 + i, {node.function("gen_server", "loop", 7)});
    const Finding* const finding = node.first("stuck-servers");
    REQUIRE(finding != nullptr);
    CHECK(finding->count == Count(12));
    CHECK(finding->severity == FindingSeverity::high);
    CHECK(node.title(*finding).find(
              "wait for a log handler; they sit in remote_log:await/1, called by remote_log:log/2") !=
          std::string::npos);
}

TEST_CASE("the table that refers to most bytes of binaries", "[stalled]") {
    const std::vector<CarrierBlock> blocks{{400, 50}, {100, 1000}, {200, 3000}, {300, 70}};
    const auto in = [](std::uint64_t address, std::uint32_t table) { return StoredBinary{address, 0, 10, table}; };
    CHECK_FALSE(most_stored(blocks, {}).has_value());
    CHECK_FALSE(most_stored(blocks, std::vector{in(150, 1)}).has_value());  // no block of binary_alloc
    const auto most = most_stored(
        blocks, std::vector{in(100, 1), in(100, 1), in(200, 2), in(300, 2), in(400, StoredBinary::persistent_term)});
    REQUIRE(most.has_value());
    CHECK(most->table == 2);
    CHECK(most->binaries == 2);
    CHECK(most->bytes == 3070);
    CHECK(most->shown_bytes == 20);
    CHECK(most_stored(blocks, std::vector{in(400, StoredBinary::persistent_term)})->table ==
          StoredBinary::persistent_term);
    // The same part twice, and parts that are more than the whole.
    CHECK(most_stored(blocks, std::vector{in(100, 1), in(100, 1)})->shown_bytes == 20);
    CHECK(most_stored(blocks, std::vector{StoredBinary{400, 0, 40, 1}, StoredBinary{400, 20, 30, 1}})->shown_bytes ==
          50);
}

TEST_CASE("of an idle pool with one user that user is named", "[stalled]") {
    Stalled node;
    node.at(1, {node.function("gen_server", "loop", 7)}, "lock");
    Link user;
    user.pid = {0, 2, 0};
    node.link(LinkKind::monitors, user);
    node.at(2, {node.function("my", "query", 1)}, "migrator");
    for (std::uint32_t i = 0; i < 10; ++i) {
        node.at(10 + i, {node.function("gen", "do_call", 4), node.function("gen_server", "call", 3)});
        Link asked;
        asked.pid = {0, 1, 0};
        asked.ref = {1, 2, i};
        node.link(LinkKind::monitors, asked);
    }
    const Finding* const finding = node.first("wait-convoy");
    REQUIRE(finding != nullptr);
    CHECK(node.title(*finding).find(
              "it is idle until migrator <0.2.0> gives something back, which sits in my:query/1") != std::string::npos);
}

// ---- waits that no monitor, lock or name tells: for programs, for whom a server's State names, of many in one place
// -----------------------
