// SPDX-License-Identifier: Apache-2.0
// What programs do by hand, and what tells of it: several who work in one place, circles of messages, names in frames,
// pids that somebody keeps.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analyses/heaps/shared_names.hpp"
#include "analyses/heaps/unanswered.hpp"
#include "erlang/erlang_syntax.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

// Who works, and has done so many reductions, below a loop of its own.
struct Work {
    std::uint32_t workers = 4;
    std::uint64_t each = 10'000'000, others = 10'000'000;
    std::string module = "shop", in = "search";
    bool one_waits = false, all_in_one = true, timed = false;
    ProcessState state = ProcessState::runnable;

    std::vector<test::FoundWithText> told() const {
        test::MadeNode made;
        const auto add = [&](std::uint32_t number, const std::vector<FunctionId>& frames, std::uint64_t reductions,
                             ProcessState what) {
            Process& p = made.process(number);
            p.current_function = frames.front();
            p.stack = made.stack(frames);
            p.reductions = reductions;
            p.state = what;
        };
        for (std::uint32_t i = 0; i < workers; ++i)
            add(10 + i,
                {made.function(all_in_one || i % 2 == 0 ? module : "other", in, 1),
                 made.function(all_in_one || i % 2 == 0 ? "shop" : "other", "loop", 0)},
                each, one_waits && i + 1 == workers ? ProcessState::waiting : state);
        add(100, {made.function("gen_server", "loop", 7)}, others, ProcessState::waiting);
        if (timed) made.s.timers.push_back({.receiver = {0, 10, 0}});
        return test::of(made.told(), "busy-loop");
    }
    std::string title() const {
        const auto found = told();
        return found.empty() ? "" : found.front().words.substr(0, found.front().words.find('\n'));
    }
};

constexpr const char* last = "0x00007f0000001008:SReturn addr 0x300 (<terminate process normally>)\n";
constexpr const char* caller = "0x00007f0000001000:SReturn addr 0x200 (shop:work/1 + 8)\n";

// A dump of processes of which each waits in a function, holds some terms in its youngest frame, and has some messages.
struct Those {
    struct One {
        std::uint32_t number;
        std::string in, holds, heap, messages;
        bool called = true;
        std::string name;
        std::size_t unread = 0;
        std::uint32_t parent = 2;
        std::uint64_t words = 233;  // of its heap
    };
    std::vector<One> all;

    std::unique_ptr<Artifact> load() const {
        std::string processes, rest;
        for (const One& one : all) {
            const std::string pid = "<0." + std::to_string(one.number) + ".0>";
            processes += "=proc:" + pid + "\nState: Waiting\n" + (one.name.empty() ? "" : "Name: " + one.name + "\n") +
                         "Spawned as: erlang:apply/2\nSpawned by: <0." + std::to_string(one.parent) +
                         ".0>\nMessage queue length: " + std::to_string(one.unread) +
                         "\nStack+heap: " + std::to_string(one.words) +
                         "\nOldHeap: 0\nProgram counter: 0x00007f0000000100 (" + one.in + " + 8)\n";
            if (!one.messages.empty()) rest += "=proc_messages:" + pid + "\n" + one.messages;
            rest += "=proc_stack:" + pid + "\n" + (one.called ? std::string(caller) : std::string()) + one.holds +
                    last + "=proc_heap:" + pid + "\n" + one.heap;
        }
        LoadPlan plan = test::everything();
        plan.slots_of = slots_for_waits;
        plan.terms = true;
        plan.terms_of = [may_be_asked = MayBeAsked(), may_name_alike = MayNameAlike()](const Snapshot& s,
                                                                                       ProcId id) mutable {
            const bool asked = may_be_asked(s, id), named = may_name_alike(s, id);
            return asked || named;
        };
        // as a stream, of which only what is asked for is kept
        auto dump = test::load(test::header() + processes + rest + "=end\n", plan, 4096);
        REQUIRE(dump != nullptr);
        return dump;
    }
    // One who has in its queue what another has asked.
    void asked_by(std::uint32_t number, std::uint32_t by, bool called = true, const char* in = "shop:ask/1") {
        One one{number, in, "", "", "", called, "", 1, 2};
        one.messages = "H2000:N\n";
        one.heap = "2000:t2:A3:ask,P<0." + std::to_string(by) + ".0>\n";
        all.push_back(one);
    }
};

std::vector<std::string> circles(const Those& those) {
    const auto dump = those.load();
    Waits found = waits(dump->snapshot());
    REQUIRE(found.edges.empty());
    add_unanswered(*dump, found);
    std::vector<std::string> all;
    for (const std::vector<ProcId>& cycle : found.cycles) {
        all.emplace_back();
        for (const ProcId id : cycle)
            all.back() += (all.back().empty() ? "" : " ") + std::to_string(dump->snapshot()[id].pid.number);
    }
    for (const WaitEdge& edge : found.edges) {
        CHECK(edge.via == "by_hand");
        CHECK(edge.confidence == Confidence::estimate);
    }
    return all;
}

// So many who sleep on behalf of a function, each with these slots in its frame.
Those sleepers(std::size_t count, const std::string& holds, const std::string& of_the_last = "") {
    Those those;
    for (std::size_t i = 0; i < count; ++i)
        those.all.push_back({static_cast<std::uint32_t>(100 + i), "timer:sleep/1",
                             i + 1 == count && !of_the_last.empty() ? of_the_last : holds, "", "", true, "", 0, 2});
    return those;
}

// What all of them name: an atom, or a pid's number.
std::string named(const Those& those) {
    const auto dump = those.load();
    const std::vector<SharedName> names = shared_names(*dump);
    if (names.empty()) return "nothing";
    REQUIRE(names.size() == 1);
    CHECK(function_text(dump->snapshot(), names[0].function) == "timer:sleep/1");
    CHECK(function_text(dump->snapshot(), names[0].caller) == "shop:work/1");
    return names[0].atom != nullptr ? std::string(names[0].atom->term().text)
                                    : std::to_string(dump->snapshot()[names[0].process].pid.number);
}

}  // namespace

TEST_CASE("several who have done most of the work in one place are told together", "[hand]") {
    CHECK(
        Work{}.title() ==
        "shop:search/1: 4 processes are busy in shop:search/1, called by shop:loop/0, and have done 80 % of all work");
    Work work;
    SECTION("half of all") {
        work.others = 40'000'000;
        CHECK(work.title() ==
              "shop:search/1: 4 processes are busy in shop:search/1, called by shop:loop/0, and have done 50 % of all "
              "work");
        work.others = 40'000'001;
        CHECK(work.title().empty());
    }
    SECTION("too little") {
        work.each = 999'999;
        work.others = 0;
        CHECK(work.title().empty());
        work.each = 1'000'000;
        CHECK(!work.title().empty());
    }
    SECTION("one alone is told by itself") {
        work.workers = 1;
        work.each = 20'000'000;
        CHECK(work.title() ==
              "process: <0.10.0> is busy: it is ready to run in shop:search/1, and has done 67 % of all work");
    }
    SECTION("at different places") {
        work.all_in_one = false;
        CHECK(work.title().empty());
    }
    SECTION("in a loop of OTP's") {
        work.module = "gen_server";
        CHECK(work.title() == "shop:loop/0: 4 processes are busy in shop:loop/0, and have done 80 % of all work");
    }
    SECTION("who waits has done its work") {
        work.state = ProcessState::waiting;
        CHECK(work.title().empty());
    }
    SECTION("who waits has done nearly all of it") {
        work = {.workers = 1, .each = 50'000'000, .others = 5'000'000, .state = ProcessState::waiting};
        CHECK(work.title() == "process: <0.10.0> has done 91 % of all work; it sits in shop:search/1");
        work.others = 6'000'000;
        CHECK(work.title().empty());
        work.each = 49'999'999;
        work.others = 0;
        CHECK(work.title().empty());
    }
    SECTION("who is at rest in its loop has a history, unless a timer is set for it") {
        work = {.workers = 1, .each = 50'000'000, .others = 5'000'000, .state = ProcessState::waiting};
        work.module = "gen_server";
        work.in = "loop";
        CHECK(work.title().empty());
        work.timed = true;
        CHECK(work.title().starts_with("process: <0.10.0> has done 91 % of all work; it is idle in gen_server:loop/1"));
    }
}

TEST_CASE("of two that send to each other all the time one waits", "[hand]") {
    Work work{.workers = 2, .each = 30'000'000, .one_waits = true};
    CHECK(
        work.title() ==
        "shop:search/1: 2 processes are busy in shop:search/1, called by shop:loop/0, and have done 86 % of all work");
    work.state = ProcessState::waiting;
    CHECK(work.title().empty());
}

TEST_CASE("a worker, and several that wait for the next work in the same place, are no pair", "[hand]") {
    test::MadeNode made;
    for (std::uint32_t i = 0; i < 20; ++i) {
        Process& p = made.process(10 + i);
        p.current_function = made.function("shop", "loop", 0);
        p.stack = made.stack({p.current_function});
        p.reductions = 30'000'000;
        p.state = i == 0 ? ProcessState::running : ProcessState::waiting;
    }
    CHECK(test::of(made.told(), "busy-loop").empty());
}

TEST_CASE("a queue grows when those who take from it are held up", "[hand]") {
    struct Around {
        std::uint32_t stuck = 4, others = 0;
        std::string module = "shop";
        bool idle = true, behind = true, accumulates = true;
    };
    const auto title = [](const Around& around) {
        test::MadeNode made;
        Process& big = made.process(10, "events");
        big.current_function =
            around.idle ? made.function("gen_server", "loop", 7) : made.function("shop", "stores", 1);
        big.stack = made.stack({big.current_function});
        big.memory_bytes = 16 * test::mebibyte;
        std::vector<std::uint32_t> numbers;
        for (std::uint32_t i = 0; i < around.stuck + around.others; ++i) numbers.push_back(20 + i);
        made.links(numbers);
        for (Link& link : made.s.links) link.kind = LinkKind::monitored_by;
        for (std::uint32_t i = 0; i < numbers.size(); ++i) {
            Process& one = made.process(numbers[i]);
            one.current_function =
                i < around.stuck ? made.function(around.module, "uploads", 1) : made.function("gen_server", "loop", 7);
            one.stack = around.behind ? made.stack({one.current_function, made.function("shop", "handle", 1)})
                                      : made.stack({one.current_function});
            one.memory_bytes = 1000;
        }
        TermFacts facts;
        facts.process = ProcId{0};
        facts.accumulation = Ours("its State, a queue, keeps 99 %");
        if (around.accumulates) facts.accumulated = Ours("its State, a queue");
        facts.accumulated_bytes = 15 * test::mebibyte;
        const auto found = test::of(made.told([&](Facts& known) { known.put(SuspectTerms{{facts}}); }), "big-heap");
        REQUIRE(found.size() == 1);
        const std::string step = "-> See why those that it works for do not go on: beamheap proc DUMP 0." +
                                 std::to_string(numbers.empty() ? 0 : numbers.front()) + ".0\n";
        CHECK((found[0].words.find("watch") != std::string::npos) == (found[0].words.find(step) != std::string::npos));
        return found[0].words.substr(0, found[0].words.find('\n'));
    };
    const std::string alone =
        "events: events <0.10.0> holds 16.0 MiB (100 % of all processes'): its State, a queue (15.0 MiB)";
    CHECK(title({}) ==
          "events: events <0.10.0> holds 16.0 MiB: its State, a queue; 4 that watch it sit in shop:uploads/1");
    CHECK(title({.stuck = 1}) ==
          "events: events <0.10.0> holds 16.0 MiB: its State, a queue; 1 that watches it sits in shop:uploads/1");
    CHECK(title({.stuck = 3, .others = 1}).ends_with("; 3 that watch it sit in shop:uploads/1"));
    CHECK(title({.stuck = 2, .others = 1}) == alone);
    CHECK(title({.stuck = 0}) == alone);
    CHECK(title({.module = "prim_inet"}) == alone);
    CHECK(title({.behind = false}) == alone);
    CHECK(!title({.idle = false}).ends_with("uploads/1"));
    CHECK(!title({.accumulates = false}).ends_with("uploads/1"));
}

TEST_CASE("a queue grows when those who take from it wait for a server that waits for its peer", "[hand]") {
    const auto title = [](bool called) {
        test::MadeNode made;
        Process& big = made.process(10, "events");
        big.current_function = made.function("gen_server", "loop", 7);
        big.stack = made.stack({big.current_function});
        big.memory_bytes = 16 * test::mebibyte;
        made.links({20, 21, 22, 23});
        for (Link& link : made.s.links) link.kind = LinkKind::monitors;
        const FunctionId reads = made.function("prim_inet", "recv0", 3);
        for (std::uint32_t i = 20; i < 24; ++i)
            if (called) made.waiter(i, 30).memory_bytes = 1000;
            else made.at(i, {reads, made.function("shop", "stores", 1)});
        Process& store = made.process(30, "store");
        store.current_function = reads;
        store.stack = made.stack({reads, made.function("store", "handle_call", 3)});
        TermFacts facts;
        facts.process = ProcId{0};
        facts.accumulated = Ours("its State, a queue");
        facts.accumulated_bytes = 15 * test::mebibyte;
        const auto found = test::of(made.told([&](Facts& known) { known.put(SuspectTerms{{facts}}); }), "big-heap");
        REQUIRE(found.size() == 1);
        return found[0].title_alone();
    };
    CHECK(
        title(true) ==
        "events <0.10.0> holds 16.0 MiB: its State, a queue; 4 that it watches wait for store <0.30.0>, which sits in "
        "prim_inet:recv0/3");
    CHECK(title(false).find("watches") == std::string::npos);  // connections, each reading for itself
}

TEST_CASE("where nothing else is told, few who wait for one that is stuck are", "[hand]") {
    struct Few {
        std::uint32_t callers = 3;
        std::string in = "my_store", caller = "my_ledger";
        std::uint64_t messages = 2;
        ProcessState state = ProcessState::waiting;
        std::string_view slogan = "Received SIGUSR1";
        bool louder = false, file = false;
    };
    const auto told = [](const Few& few) -> std::string {
        test::MadeNode made;
        made.s.node.slogan = few.slogan;
        Process& server = made.process(10, "ledger");
        server.current_function = made.function(few.in, "reads", 1);
        server.stack = few.caller.empty()
                           ? made.stack({server.current_function})
                           : made.stack({server.current_function, made.function(few.caller, "balance", 1)});
        server.msgq_len = few.messages;
        server.state = few.state;
        for (std::uint32_t i = 0; i < few.callers; ++i) {
            Process& p = made.process(20 + i);
            p.current_function = made.function("gen", "do_call", 4);
            p.stack = made.stack(
                {p.current_function, made.function("gen_server", "call", 3), made.function("my", "work", 1)});
            p.link_range = {static_cast<std::uint32_t>(made.s.links.size()), 1};
            Link link;
            link.kind = LinkKind::monitors;
            link.pid = {0, 10, 0};
            made.s.links.push_back(link);
        }
        if (few.louder) made.process(90, "flooded").msgq_len = 2'000;
        if (few.file) {
            Process& reader = made.process(95, "reader");
            reader.current_function = made.function("prim_file", "open_nif", 2);
            reader.stack = made.stack({reader.current_function, made.function("my", "loads", 1)});
            reader.state = ProcessState::running;
        }
        const auto found = test::of(made.told(), "few-waiters");
        if (found.empty()) return "";
        return std::string(name_of(found[0].severity)) + " " + found[0].words.substr(0, found[0].words.find('\n'));
    };
    CHECK(told({}) ==
          "medium ledger: 3 of 4 processes wait for ledger <0.10.0>; it has 2 messages and sits in my_store:reads/1");
    CHECK(told({.callers = 2, .messages = 1}) ==
          "info ledger: 2 of 3 processes wait for ledger <0.10.0>; it has 1 message and sits in my_store:reads/1");
    CHECK(told({.callers = 1, .messages = 0}) ==
          "info ledger: 1 of 2 processes waits for ledger <0.10.0>; it sits in my_store:reads/1");
    CHECK(told({.callers = 0}).empty());
    CHECK(told({.in = "gen_server"}).empty() == false);  // (reads/1 is none of its loops)
    CHECK(told({.in = "prim_tty"}).empty());
    CHECK(told({.caller = ""}).empty());  // its loop
    CHECK(told({.state = ProcessState::running}).empty());
    CHECK(told({.louder = true}).empty());
    CHECK(told({.slogan = "eheap_alloc: Cannot allocate 1 bytes of memory (of type \"heap\")."}).empty());
    CHECK(told({.callers = 0, .file = true}) ==
          "info reader: reader <0.95.0> is running prim_file:open_nif/2, called by my:loads/1");
    CHECK(told({.file = true}).starts_with("medium ledger: "));
}

namespace {

struct Readers {
    std::uint32_t clients = 10, others = 90;
    std::uint64_t sent = 7;
    bool second_socket = false, of_gen_tcp = true, by_port = true, in_loop = false;
    std::string in = "recv0", module = "prim_inet", driver = "tcp_inet", library = "gen_tcp", function = "recv";
    ProcessState state = ProcessState::waiting;
    std::string_view slogan = "Received SIGUSR1";
    // Who accepts, if anybody: <0.5.0>, started by <0.4.0>; and who has started the clients.
    std::string acceptor = {}, of_acceptor = "acceptor";
    std::uint32_t parent = 0, grandparent = 0;
    bool listens = false;  // somebody has a socket that has sent nothing
};

std::string readers_told(const Readers& given) {
    test::MadeNode made;
    made.s.node.slogan = given.slogan;
    const auto port = [&](std::uint64_t number, std::uint32_t owner, std::uint64_t sent) {
        Port& one = made.s.ports.emplace_back();
        one.port = {0, number};
        one.connected = {0, owner, 0};
        one.driver = made.text(given.driver);
        one.input_bytes = 0;
        one.output_bytes = sent;
    };
    made.process(3, {}, 1);
    made.process(4, {}, 3);
    made.process(6, {}, given.grandparent == 0 ? 4u : given.grandparent);
    if (!given.acceptor.empty()) {
        Process& p = made.process(5, {}, 4);
        p.current_function = made.function(given.acceptor, "accept0", 3);
        p.stack = made.stack(
            {p.current_function, made.function("gen_tcp", "accept", 2), made.function("prices", given.of_acceptor, 2)});
        p.real_initial_call = made.function("prices", given.of_acceptor, 1);
    }
    if (given.listens) {
        Process& p = made.process(7);
        p.current_function = made.function("gen_server", "loop", 7);
        p.stack = made.stack({p.current_function});
        port(5000, 7, 0);
    }
    for (std::uint32_t i = 0; i < given.clients; ++i) {
        Process& p = made.process(10 + i, {}, given.parent == 0 ? 1u : given.parent);
        p.current_function = made.function(given.module, given.in, 3);
        std::vector<FunctionId> frames{p.current_function,
                                       made.function(given.of_gen_tcp ? given.library : "prim_inet", given.function, 2),
                                       made.function("prices", "asks", 2)};
        if (!given.in_loop) frames.push_back(made.function("prices", "works", 1));
        p.stack = made.stack(frames);
        p.real_initial_call = made.function("prices", "works", 1);
        p.state = given.state;
        for (std::uint32_t n = 0; given.by_port && n < (given.second_socket ? 2u : 1u); ++n)
            port(1000 - 2 * i - n, 10 + i, given.sent);  // the other way round than their owners
    }
    for (std::uint32_t i = 0; i < given.others; ++i) {
        Process& p = made.process(2000 + i);
        p.current_function = made.function("gen_server", "loop", 7);
        p.stack = made.stack({p.current_function});
    }
    const auto found = test::of(made.told(), "silent-peers");
    if (found.empty()) return "";
    return std::string(name_of(found[0].severity)) + " " + found[0].words.substr(0, found[0].words.find('\n'));
}

}  // namespace

TEST_CASE("who reads from a connection waits for an answer, unless it is near one who accepts", "[hand]") {
    CHECK(readers_told({.others = 87}) ==
          "medium prices:asks/2: 10 of 100 processes (10 %) wait in prices:asks/2 for answers over connections of "
          "their own");
    CHECK(readers_told({.in = "recvfrom0", .driver = "udp_inet"}).starts_with("medium prices:asks/2: 10 of 103"));
    CHECK(readers_told({.clients = 9}).empty());
    CHECK(readers_told({.others = 187}).starts_with("medium prices:asks/2: 10 of 200 processes (5.0 %)"));
    CHECK(readers_told({.others = 188}).empty());  // less than 5 %
    CHECK(readers_told({.clients = 100, .others = 1'997}).starts_with("medium prices:asks/2: 100 of 2,100"));
    CHECK(readers_told({.clients = 99, .others = 2'000}).empty());
    CHECK(readers_told({.sent = 0}).empty());              // who has asked nothing
    CHECK(readers_told({.second_socket = true}).empty());  // which of the two it reads is not known
    CHECK(readers_told({.driver = "spawn"}).empty());
    CHECK(readers_told({.in = "accept0"}).empty());
    CHECK(readers_told({.module = "prices", .library = "prices"}).empty());
    CHECK(readers_told({.state = ProcessState::running}).empty());
    CHECK(readers_told({.slogan = "Runtime terminating during boot (terminating)"}).empty());
    // Sockets that are no ports, and processes of a library.
    const std::string unknown =
        "medium prices:asks/2: 10 of 100 processes (10 %) wait in prices:asks/2 for answers over connections of their "
        "own";
    CHECK(readers_told({.others = 87, .by_port = false, .in = "recv_deadline", .module = "socket"}) == unknown);
    CHECK(
        readers_told({.others = 87, .by_port = false, .in = "do_call", .module = "gen", .library = "gen_tcp_socket"}) ==
        unknown);
    CHECK(readers_told({.others = 87,
                        .by_port = false,
                        .in = "do_call",
                        .module = "gen",
                        .library = "ssl_gen_statem",
                        .function = "call"}) == unknown);
    CHECK(
        readers_told(
            {.by_port = false, .in = "do_call", .module = "gen", .library = "ssl_gen_statem", .function = "handshake"})
            .empty());
    CHECK(readers_told({.by_port = false}).empty());  // its port is not in the input
    CHECK(readers_told({.of_gen_tcp = false, .in = "recv0", .library = "dist_util"}).starts_with("medium"));
    CHECK(readers_told({.library = "dist_util"}).empty());  // to another node
    // A server's: by whom they were started.
    const std::string_view some = "medium prices:asks/2: 10 of 104";
    CHECK(readers_told({.acceptor = "prim_inet"}).starts_with(some));     // not near it
    CHECK(readers_told({.acceptor = "prim_inet", .parent = 5}).empty());  // by the one who accepts
    CHECK(readers_told({.acceptor = "prim_inet", .parent = 4})
              .starts_with(some));  // both by the same, and of other kinds
    CHECK(readers_told({.acceptor = "prim_inet", .of_acceptor = "works", .parent = 4}).empty());  // of one kind
    CHECK(readers_told({.acceptor = "prim_inet", .parent = 6}).empty());  // by a supervisor beside who accepts
    CHECK(readers_told({.acceptor = "prim_inet", .parent = 6, .grandparent = 3})
              .empty());  // beside the supervisor of who accepts
    CHECK(readers_told({.acceptor = "prim_inet", .parent = 6, .grandparent = 1}).starts_with(some));
    CHECK(readers_told({.acceptor = "inet_tcp_dist", .parent = 5}).starts_with(some));  // no function of it accepts
    // Where somebody accepts, or may, a loop that reads is a server's.
    CHECK(readers_told({.in_loop = true}).starts_with("medium"));
    CHECK(readers_told({.in_loop = true, .acceptor = "prim_inet"}).empty());
    CHECK(readers_told({.in_loop = true, .acceptor = "inet_tcp_dist"}).starts_with("medium"));
    CHECK(readers_told({.in_loop = true, .listens = true}).empty());
    CHECK(readers_told({.listens = true}).starts_with(some));
}

TEST_CASE("who have asked each other by messages wait for each other", "[hand]") {
    Those those;
    SECTION("two") {
        those.asked_by(10, 11);
        those.asked_by(11, 10);
        CHECK(circles(those) == std::vector<std::string>{"10 11"});
    }
    SECTION("three") {
        those.asked_by(10, 12);
        those.asked_by(11, 10);
        those.asked_by(12, 11);
        CHECK(circles(those) == std::vector<std::string>{"10 11 12"});
    }
    SECTION("two circles") {
        for (const std::uint32_t first : {10u, 20u}) {
            those.asked_by(first, first + 1);
            those.asked_by(first + 1, first);
        }
        CHECK(circles(those) == std::vector<std::string>{"10 11", "20 21"});
    }
    SECTION("one has not asked") {
        those.asked_by(10, 11);
        those.asked_by(11, 12);
        CHECK(circles(those).empty());
    }
    SECTION("one is in its loop, and will take what it was asked") {
        those.asked_by(10, 11);
        those.asked_by(11, 10, false);
        CHECK(circles(those).empty());
    }
    SECTION("one sleeps") {
        those.asked_by(10, 11);
        those.asked_by(11, 10, true, "timer:sleep/1");
        CHECK(circles(those).empty());
    }
    SECTION("one is named behind what is looked at of a message") {
        for (const unsigned last : {64u, 65u}) {
            Those pair;
            pair.asked_by(10, 11);
            pair.asked_by(11, 10);
            std::string elements;
            for (unsigned i = 1; i < last; ++i) elements += ",I" + std::to_string(i);
            pair.all[1].heap = fmt::format("2000:t{:X}:{},P<0.10.0>\n", last, elements.substr(1));
            CHECK(circles(pair).size() == (last == 64 ? 1 : 0));
        }
    }
    SECTION("one has asked itself") {
        those.asked_by(10, 10);
        CHECK(circles(those).empty());
    }
}

TEST_CASE("what all who sleep in one place name is what they look for", "[hand]") {
    CHECK(named(sleepers(20, "y0:AA:price_feed\n")) == "price_feed");
    CHECK(named(sleepers(19, "y0:AA:price_feed\n")) == "nothing");
    CHECK(named(sleepers(20, "y0:AA:price_feed\n", "y0:AA:other_feed\n")) == "nothing");
    CHECK(named(sleepers(20, "y0:A8:infinity\ny1:A2:ok\n")) == "nothing");
    CHECK(named(sleepers(20, "y0:AA:price_feed\ny1:AA:other_feed\n")) == "nothing");
    Those those = sleepers(20, "y0:AA:price_feed\ny1:AA:other_feed\n");
    those.all.push_back({50, "shop:loop/0", "", "", "", false, "price_feed", 0, 2});
    CHECK(named(those) == "50");  // who is registered so
    those = sleepers(20, "y0:P<0.50.0>\ny1:AA:other_feed\n");
    CHECK(named(those) == "other_feed");  // a process that has ended tells nothing
    those.all.push_back({50, "shop:loop/0", "", "", "", false, "", 0, 2});
    CHECK(named(those) == "50");
    those = sleepers(20, "y0:AA:price_feed\n");
    for (std::uint32_t i = 0; i < 81; ++i) those.all.push_back({1000 + i, "shop:loop/0", "", "", "", false, "", 0, 2});
    CHECK(named(those) == "nothing");  // less than a fifth
}

TEST_CASE("who keeps the pids of all that wait is told, unless it has started them", "[hand]") {
    const auto keeper = [](std::size_t kept, std::uint32_t parent, std::size_t keepers) -> std::uint32_t {
        Those those;
        std::string list;
        for (std::uint32_t i = 0; i < 20; ++i) {
            those.all.push_back({100 + i, "shop:meets/1", "", "", "", true, "", 0, parent});
            if (i < kept)
                list += std::to_string(2000 + i * 10) + ":lP<0." + std::to_string(100 + i) + ".0>|" +
                        (i + 1 < kept ? "H" + std::to_string(2010 + i * 10) : "N") + "\n";
        }
        for (std::uint32_t i = 0; i < keepers; ++i)
            those.all.push_back({50 + i, "shop:gathers/2", "y0:H2000\n", list, "", false, "", 0, 2});
        const auto dump = those.load();
        Waits found = waits(dump->snapshot());
        add_unanswered(*dump, found);
        const std::vector<Keeper>& all = found.keepers;
        if (all.empty()) return 0;
        REQUIRE(all.size() == 1);
        CHECK(function_text(dump->snapshot(), all[0].function) == "shop:meets/1");
        return dump->snapshot()[all[0].process].pid.number;
    };
    CHECK(keeper(20, 2, 1) == 50);
    CHECK(keeper(18, 2, 1) == 50);
    CHECK(keeper(17, 2, 1) == 0);
    CHECK(keeper(20, 50, 1) == 0);
    CHECK(keeper(20, 2, 2) == 0);  // several do
}

TEST_CASE("of who waits by hand no large heaps are read: of a stream they would have to be kept", "[hand]") {
    Those two;
    two.asked_by(10, 11);
    two.asked_by(11, 10);
    CHECK(circles(two).size() == 1);
    two.all[0].words = 20'000;
    CHECK(circles(two).size() == 1);
    two.all[0].words = 20'001;
    CHECK(circles(two).empty());
    two.all[0].words = 233;
    for (std::uint32_t i = 0; i < 50; ++i) {  // a million words together, before those two
        two.all.insert(two.all.begin(), {100 + i, "shop:ask/1", "", "", "H2000:N\n", true, "", 1, 2, 20'000});
        two.all.front().heap = "2000:t2:A3:ask,P<0.9.0>\n";
    }
    CHECK(circles(two).empty());
    two.all.front().words = 19'000;
    CHECK(circles(two).size() == 1);
    for (Those::One& one : two.all) one.words = 233;
    for (std::uint32_t i = 0; i < 12; ++i)
        two.all.insert(two.all.begin(), two.all.front())->number = 200 + i;  // 62 before those two
    CHECK(circles(two).size() == 1);
    two.all.insert(two.all.begin(), two.all.front())->number = 300;
    CHECK(circles(two).empty());

    Those many = sleepers(25, "y0:A6:prices\n");
    CHECK(named(many) == "prices");
    for (Those::One& one : many.all) one.words = 20'000;
    CHECK(named(many) == "prices");
    for (Those::One& one : many.all) one.words = 20'001;
    CHECK(named(many) == "nothing");
}

namespace {

// "100>20 tag": who waits for whom, and how that is known.
std::string edges_of(const Those& those) {
    const auto dump = those.load();
    Waits found = waits(dump->snapshot());
    add_unanswered(*dump, found);
    std::string text;
    for (const WaitEdge& edge : found.edges) {
        CHECK(edge.confidence == Confidence::estimate);
        text += (text.empty() ? "" : " ") + std::to_string(dump->snapshot()[edge.waiter].pid.number) + ">" +
                std::to_string(edge.target.pid.number) + " " + std::string(edge.via);
    }
    return text;
}

}  // namespace

TEST_CASE("who waits with a reference waits for the one that has it", "[hand]") {
    // #Ref<0.1.2.3> and #Ref<0.1.2.4> of nonode@nohost
    const auto waiter = [](std::uint32_t number, const std::string& tag) {
        return Those::One{
            number, "shop:ask/2", "y0:H1000\n" + std::string(caller), "1000:" + tag + "\n", "", false, "", 0, 2};
    };
    const std::string tag = "E24:g1oAA2QADW5vbm9kZUBub2hvc3QAAAAAAAAAAwAAAAIAAAAB",
                      other = "E24:g1oAA2QADW5vbm9kZUBub2hvc3QAAAAAAAAABAAAAAIAAAAB";
    Those those;
    those.all.push_back(waiter(100, tag));
    Those::One server{20, "shop:serves/1", "", "", "", false, "broker", 1, 2};
    server.messages = "H2000:N\n";
    server.heap = "2000:t2:A3:ask,H2020\n2020:" + tag + "\n";
    those.all.push_back(server);
    CHECK(edges_of(those) == "100>20 tag");

    SECTION("that one has taken the request, and keeps it") {
        those.all[1].messages.clear();
        those.all[1].unread = 0;
        those.all[1].holds = "y0:H2000\n";
        CHECK(edges_of(those) == "100>20 tag");
    }
    SECTION("another reference is no tag of it") {
        those.all[1].heap = "2000:t2:A3:ask,H2020\n2020:" + other + "\n";
        CHECK(edges_of(those).empty());
    }
    SECTION("a reference that several wait with is what they have in common") {
        those.all.push_back(waiter(101, tag));
        CHECK(edges_of(those).empty());
    }
    SECTION("who has it in its queue was asked, and not who keeps it") {
        those.all.push_back({21, "shop:serves/1", "y0:H1000\n", "1000:" + tag + "\n", "", false, "keeper", 0, 2});
        CHECK(edges_of(those) == "100>20 tag");
    }
    SECTION("two that keep it tell nothing") {
        those.all[1].messages.clear();
        those.all[1].unread = 0;
        those.all[1].holds = "y0:H2000\n";
        those.all.push_back({21, "shop:serves/1", "y0:H1000\n", "1000:" + tag + "\n", "", false, "keeper", 0, 2});
        CHECK(edges_of(those).empty());
    }
    SECTION("a loop waits for whatever comes") {
        those.all[0].holds = "y0:H1000\n";
        CHECK(edges_of(those).empty());
    }
}
