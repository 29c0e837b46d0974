// SPDX-License-Identifier: Apache-2.0
// Who waits for whom, and what the rules make of it, on snapshots made by hand: proofs, estimates, and silence.
#include <catch2/catch.hpp>

#include "analyses/heaps/unanswered.hpp"
#include "analyses/processes/waits.hpp"
#include "analyses/rules/rules.hpp"
#include "present/spelling.hpp"
#include "support/dump_text.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

struct Waiting : test::MadeSnapshot {
    /// A process in gen:do_call/4 below gen_server:call/3, with a monitor and, where `proved`, its reference in the
    /// frame.
    void caller(std::uint32_t number, std::uint32_t target, bool proved = true) {
        waiter(number, target).memory_bytes = 1000;
        if (!proved) return;
        StackSlot slot;
        slot.kind = StackSlot::Kind::reference;
        slot.process = static_cast<ProcId>(s.processes.size() - 1);
        slot.words = 3;
        slot.ref = s.links.back().ref;
        s.slots.push_back(slot);
    }
    void idle(std::uint32_t number, std::string_view name = {}) {
        Process& p = process(number, name);
        p.current_function = function("gen_server", "loop", 7);
        p.stack = stack({p.current_function});
        p.memory_bytes = 1000;
    }
    std::vector<Finding> findings() { return run_rules(Facts(s)); }
};

std::size_t count(const std::vector<Finding>& findings, std::string_view rule) {
    std::size_t n = 0;
    for (const Finding& finding : findings) n += finding.rule == rule;
    return n;
}

}  // namespace

TEST_CASE("who has asked a node that is being connected for a process waits for that node, where there is one",
          "[waits]") {
    const auto asks = [](unsigned to_come, bool asked) {
        Waiting node;
        node.caller(2, 1);
        node.s.links.back().pid = {};
        node.s.links.back().name = node.text("pending");
        for (unsigned i = 0; i < 3; ++i) {
            DistNode& peer = node.s.nodes.emplace_back();
            peer.name = node.text("n" + std::to_string(i));
            peer.kind = DistNode::Kind::not_connected;
            if (i < to_come) peer.error = node.text("Got links/monitors to not connected node");
        }
        if (asked) node.s.nodes.back().spawning.push_back({0, 2, 0});
        const Waits w = waits(node.seal());
        REQUIRE(w.edges.size() == 1);
        const WaitTarget& target = w.edges[0].target;
        return std::string(target.node == TextId::none ? "" : node.s.text(target.node)) +
               (w.edges[0].confidence == Confidence::exact ? " exact" : " estimate");
    };
    CHECK(asks(1, false) == "n0 estimate");
    CHECK(asks(1, true) == "n2 exact");
    CHECK(asks(2, false) == " exact");
    CHECK(asks(0, false) == " exact");
}

TEST_CASE("a monitor's reference in the frame proves whom a call waits for", "[waits]") {
    Waiting node;
    node.idle(1, "server");
    node.caller(2, 1);
    node.caller(3, 1, false);
    node.idle(4);
    const Waits w = waits(node.seal());
    REQUIRE(w.edges.size() == 2);
    CHECK(w.edges[0].confidence == Confidence::exact);
    CHECK(w.edges[0].via == "monitor");
    CHECK(w.edges[1].confidence == Confidence::estimate);
    CHECK(w.edges[1].via == "only_monitor");
    CHECK(w.edge(ProcId{3}) == nullptr);
    REQUIRE(w.fan_in.size() == 1);
    CHECK(w.fan_in[0].waiters == 2);
    CHECK(node.s.text(node.s.functions[w.edges[0].function].module) == "gen_server");
}

TEST_CASE("with several monitors and no reference nobody is named", "[waits]") {
    Waiting node;
    node.idle(1);
    node.idle(2);
    node.caller(3, 1, false);
    Link more = node.s.links.back();
    more.pid = {0, 2, 0};
    node.s.links.push_back(more);
    ++node.s.processes.back().link_range.count;
    CHECK(waits(node.seal()).edges.empty());
}

TEST_CASE("who asks for another one's process_info waits for the only other process that its caller's frame names",
          "[waits]") {
    const auto edges = [](std::vector<std::uint32_t> named, std::uint8_t frame) {
        Waiting node;
        node.idle(1);
        node.idle(2);
        Process& asks = node.process(3, "monitor");
        asks.current_function = node.function("erts_internal", "await_result", 1);
        asks.stack = node.stack({asks.current_function, node.function("my_monitor", "collect", 2)});
        asks.state = ProcessState::waiting;
        for (const std::uint32_t number : named) {
            StackSlot slot;
            slot.kind = StackSlot::Kind::pid;
            slot.process = static_cast<ProcId>(node.s.processes.size() - 1);
            slot.frame = frame;
            slot.pid = {0, number, 0};
            node.s.slots.push_back(slot);
        }
        return waits(node.seal()).edges;
    };
    const std::vector<WaitEdge> found = edges({3, 1}, 1);  // itself is no other
    REQUIRE(found.size() == 1);
    CHECK(found[0].target.pid == Pid{0, 1, 0});
    CHECK(found[0].confidence == Confidence::estimate);
    CHECK(edges({1, 2}, 1).empty());
    CHECK(edges({1}, 0).empty());
    CHECK(edges({}, 1).empty());
}

TEST_CASE("a process that exits or runs does not wait", "[waits]") {
    Waiting node;
    node.idle(1);
    node.caller(2, 1);
    node.s.processes.back().state = ProcessState::running;
    node.caller(3, 1);
    node.s.processes.back().state = ProcessState::exiting;
    CHECK(waits(node.seal()).edges.empty());
}

TEST_CASE("chains end, cycles don't, and both are found with what leads to them", "[waits]") {
    Waiting node;
    node.idle(1);
    node.caller(2, 1);
    node.caller(3, 2);  // 3 -> 2 -> 1
    node.caller(4, 5);  // 4 -> 5 -> 6 -> 4
    node.caller(5, 6);
    node.caller(6, 4);
    node.caller(7, 4);   // leads to the cycle
    node.caller(8, 99);  // of a process that the input does not hold
    const Snapshot& s = node.seal();
    const Waits w = waits(s);
    REQUIRE(w.cycles.size() == 1);
    CHECK(test::numbers(s, w.cycles[0]) == std::vector<std::uint32_t>{4, 5, 6});
    REQUIRE(w.chains.size() == 1);
    CHECK(test::numbers(s, w.chains[0]) == std::vector<std::uint32_t>{3, 2, 1});
    REQUIRE(w.fan_in_of(ProcId{0}) != nullptr);
    CHECK(w.fan_in_of(ProcId{0})->waiters == 1);
    CHECK(w.fan_in_of(ProcId{0})->reaching == 2);
    CHECK(w.fan_in_of(s.find({0, 5, 0}))->reaching == 3);
    CHECK(w.edges.size() == 7);
    const std::vector<Finding> found = node.findings();
    CHECK(count(found, "wait-cycle") == 1);
    for (const Finding& each : found)
        if (each.rule == "wait-cycle") CHECK(test::numbers(s, each.members) == std::vector<std::uint32_t>{4, 5, 6});
    CHECK(count(found, "wait-convoy") == 0);
}

TEST_CASE("a target on another node is told by its monitor", "[waits]") {
    Waiting node;
    node.caller(1, 5);
    node.s.links.back().pid = {8850, 5, 0};
    node.caller(2, 5);
    node.s.links.back().pid = {};
    node.s.links.back().name = node.text("service");
    node.s.links.back().node = node.text("far@host");
    const Waits w = waits(node.seal());
    REQUIRE(w.edges.size() == 2);
    CHECK(w.edges[0].target.remote());
    CHECK(w.edges[1].target.remote());
    CHECK(w.cycles.empty());
}

TEST_CASE("ten waiting for one are a convoy, nine are not; who waits itself is a victim", "[waits]") {
    for (const std::uint32_t waiters : {9u, 10u}) {
        Waiting node;
        node.idle(1, "server");
        for (std::uint32_t i = 0; i < waiters; ++i) node.caller(10 + i, 1);
        node.seal();
        CHECK(count(node.findings(), "wait-convoy") == (waiters == 10 ? 1 : 0));
    }
    Waiting node;
    node.idle(1, "root");
    node.caller(2, 1);
    for (std::uint32_t i = 0; i < 20; ++i) node.caller(10 + i, 2);
    node.seal();
    const std::vector<Finding> found = node.findings();
    REQUIRE(count(found, "wait-convoy") == 1);
    CHECK(found[0].role == FindingRole::cause);
    CHECK(found[0].pid == Pid{0, 1, 0});
    CHECK(found[0].severity == FindingSeverity::critical);
    CHECK(found[0].count == Count(21));
    CHECK(present::plain_text(node.s, found[0].title)
              .find("21 of 22 processes (95 %) wait, through <0.2.0>, for root <0.1.0>") == 0);
}

TEST_CASE("who waits for one of a convoy waits for the same one", "[waits]") {
    Waiting node;
    node.idle(1, "root");
    for (std::uint32_t i = 0; i < 12; ++i) node.caller(10 + i, 1);
    for (std::uint32_t i = 0; i < 3; ++i) node.caller(30 + i, 10);
    node.seal();
    const std::vector<Finding> found = node.findings();
    REQUIRE(count(found, "wait-convoy") == 1);
    CHECK(found[0].count == Count(15));
    CHECK(present::plain_text(node.s, found[0].title)
              .find("15 of 16 processes (94 %) wait for root <0.1.0>, 12 of them in ") == 0);
}

TEST_CASE("999 messages are no flood, 1,000 are", "[waits]") {
    for (const std::uint64_t messages : {999u, 1000u, 10'000u, 100'000u}) {
        Waiting node;
        node.idle(1, "writer");
        node.s.processes.back().msgq_len = messages;
        node.seal();
        const std::vector<Finding> found = node.findings();
        CHECK(count(found, "queue-flood") == (messages == 999 ? 0 : 1));
        if (messages == 10'000) CHECK(found[0].severity == FindingSeverity::high);
        if (messages == 100'000) CHECK(found[0].severity == FindingSeverity::critical);
    }
}

TEST_CASE("a small heap is not big, however large its share", "[waits]") {
    for (const std::uint64_t mebibytes : {7u, 9u}) {
        Waiting node;
        node.idle(1, "hog");
        node.s.processes.back().memory_bytes = mebibytes << 20;
        node.idle(2);
        node.seal();
        CHECK(count(node.findings(), "big-heap") == (mebibytes == 9 ? 1 : 0));
    }
}

TEST_CASE("fingerprints hold no pids or sizes, and tell things apart", "[waits]") {
    Snapshot s;
    const auto subject = [](std::string text) {
        return Subject{SubjectKind::process, sentence("{}", InputText{std::move(text), InputText::Holds::name})};
    };
    const auto of = [&](std::string text) { return fingerprint("queue-flood", subject(std::move(text)), s); };
    CHECK(of("worker <0.123.0>") == of("worker <0.9.7>"));
    CHECK(of("session_1234") == of("session_98765"));
    CHECK(of("gen:call/3") != of("gen:call/4"));
    CHECK(of("a") != of("b"));
    CHECK(of("a") != fingerprint("big-heap", subject("a"), s));
    CHECK(of("a").size() == 16);
    CHECK(of("a") == fingerprint("queue-flood", SubjectKind::process, "a"));
    // What is ours counts as it is, what is a figure not at all.
    const auto made = [&](const Sentence& text) { return fingerprint("r", {SubjectKind::node, text}, s); };
    CHECK(made(Ours("limit 10")) != made(Ours("limit 11")));
    CHECK(made(sentence("x{}", Amount{10})) == made(sentence("x{}", Amount{11})));
    CHECK(made(sentence("of {}", Pid{0, 1, 0})) == made(sentence("of {}", Pid{0, 2, 0})));
}

// ---- requests that a program has made itself, and those that look like them
namespace {

struct Lock {
    std::size_t waiters = 12;
    bool called = true;            // those who wait were called to do so
    bool holder_in_list = false;   // the one that was answered is kept as one of many
    bool holder_behind = true;     // and is in the function that has called the place where the others wait
    bool started = false;          // the server has started those who wait
    bool holder_ended = false;     // who is kept alone is in no process table
    bool somebody_behind = false;  // another than that is behind the place
    bool second_server = false;    // another one keeps the same, and was found after it
    std::size_t requests = 0;      // in its queue, instead of its state, each of another
    std::size_t others = 0;        // messages that name nobody

    static std::string pid(std::size_t i) { return "<0." + std::to_string(100 + i) + ".0>"; }
    static std::string waiting(const std::string& pid, const std::string& in, const std::string& more = {},
                               const std::string& name = {}) {
        return "=proc:" + pid + "\nState: Waiting\n" + name + "Spawned as: erlang:apply/2\n" + more +
               "Stack+heap: 233\nOldHeap: 0\nProgram counter: 0x00007f0000000100 (" + in + ")\n";
    }
    std::string text() const {
        std::string processes =
            waiting("<0.50.0>", "shop:lock_loop/2 + 8",
                    "Spawned by: <0.2.0>\nMessage queue length: " + std::to_string(requests + others) + "\n",
                    "Name: lock_server\n");
        if (!holder_ended) processes += waiting("<0.51.0>", "timer:sleep/1 + 8", "Spawned by: <0.2.0>\n");
        if (somebody_behind) processes += waiting("<0.52.0>", "timer:sleep/1 + 8", "Spawned by: <0.2.0>\n");
        if (second_server)
            processes += waiting("<0.53.0>", "shop:lock_loop/2 + 8", "Spawned by: <0.2.0>\n", "Name: other_server\n");
        std::string state = holder_in_list ? "y0:H2000\n" : "y0:H2000\ny1:P<0.51.0>\n", list, of_second, messages,
                    stacks;
        const std::string caller = "0x00007f0000001000:SReturn addr 0x200 (shop:with_lock/1 + 8)\n",
                          last = "0x00007f0000001008:SReturn addr 0x300 (<terminate process normally>)\n";
        if (!holder_ended)
            stacks += "=proc_stack:<0.51.0>\n" + (holder_behind ? caller : "") + last + "=proc_heap:<0.51.0>\n";
        if (somebody_behind) stacks += "=proc_stack:<0.52.0>\n" + caller + last + "=proc_heap:<0.52.0>\n";
        for (std::size_t i = 0; i < waiters; ++i) {
            processes +=
                waiting(pid(i), "shop:acquire/0 + 8", started ? "Spawned by: <0.50.0>\n" : "Spawned by: <0.2.0>\n");
            stacks += "=proc_stack:" + pid(i) + "\n" + (called ? caller : "") + last + "=proc_heap:" + pid(i) + "\n";
            if (requests == 0) list += cell(i, "P" + pid(i), i + 1 < waiters || holder_in_list);
            if (second_server) of_second += cell(500 + i, "P" + pid(i), i + 1 < waiters);
        }
        if (second_server)
            stacks += "=proc_stack:<0.53.0>\ny0:H" + address(500) + "\ny1:P<0.51.0>\n" + last +
                      "=proc_heap:<0.53.0>\n" + of_second;
        if (holder_in_list) list += cell(waiters, "P<0.51.0>", false);
        if (requests != 0) state = "y0:N\n";
        for (std::size_t i = 0; i < requests; ++i) {
            messages += "H" + address(i) + ":N\n";
            list += address(i) + ":t2:A4:lock,P" + pid(i) + "\n";
        }
        for (std::size_t i = 0; i < others; ++i) messages += "A4:tick:N\n";
        return test::header() + processes + (messages.empty() ? "" : "=proc_messages:<0.50.0>\n" + messages) +
               "=proc_stack:<0.50.0>\n" + state + last + "=proc_heap:<0.50.0>\n" + list + stacks + "=end\n";
    }
    static std::string address(std::size_t i) { return std::to_string(2000 + i * 10); }
    static std::string cell(std::size_t i, const std::string& head, bool more) {
        return address(i) + ":l" + head + "|" + (more ? "H" + address(i + 1) : "N") + "\n";
    }

    /// `kept` counts the processes whose terms a stream (piece != 0) has to keep.
    Waits waits(std::size_t piece = 0) const {
        LoadPlan plan = test::everything();
        plan.slots_of = slots_for_waits;
        plan.terms = true;
        kept = 0;
        plan.terms_of = [this, may_be_asked = MayBeAsked()](const Snapshot& s, ProcId id) mutable {
            const bool asked = may_be_asked(s, id);
            kept += asked;
            return asked;
        };
        const auto dump = test::load(text(), plan, piece);
        REQUIRE(dump != nullptr);
        server = dump->snapshot().find({0, 50, 0});
        holder = dump->snapshot().find({0, 51, 0});
        Waits found = analyses::waits(dump->snapshot());
        CHECK(found.edges.empty());
        add_unanswered(*dump, found);
        return found;
    }
    mutable ProcId server = ProcId::none, holder = ProcId::none;
    mutable std::size_t kept = 0;
};

}  // namespace

TEST_CASE("who waits for a lock that a program has made waits for who has it", "[waits]") {
    const Lock lock;
    const Waits found = lock.waits();
    REQUIRE(found.edges.size() == 13);
    REQUIRE(found.fan_in_of(lock.server) != nullptr);
    CHECK(found.fan_in_of(lock.server)->waiters == 12);
    REQUIRE(found.fan_in_of(lock.holder) != nullptr);
    CHECK(found.fan_in_of(lock.holder)->reaching == 13);
    CHECK(end_of_chain(found, found.edges.back().waiter) == lock.holder);
    CHECK(found.edges.front().via == "by_hand");
    CHECK(found.edges.front().confidence == Confidence::estimate);
}

TEST_CASE("who is known to two servers waits for the first of them", "[waits]") {
    Lock lock;
    lock.second_server = true;
    const Waits found = lock.waits();
    CHECK(found.edges.size() == 14);  // a callers' one each, and one of either server
    REQUIRE(found.fan_in_of(lock.server) != nullptr);
    CHECK(found.fan_in_of(lock.server)->waiters == 12);
    REQUIRE(found.fan_in_of(lock.holder) != nullptr);
    CHECK(found.fan_in_of(lock.holder)->waiters == 2);
}

TEST_CASE("a crowd is ten that wait in one place", "[waits]") {
    Lock lock;
    lock.waiters = 10;
    CHECK(lock.waits().edges.size() == 11);
    lock.waiters = 9;
    CHECK(lock.waits().edges.empty());
}

TEST_CASE("of a crowd a stream keeps the terms of some, and says what the file says", "[waits]") {
    Lock lock;
    lock.waiters = 1000;
    SECTION("a lock") {}
    SECTION("requests in a queue") { lock.requests = 1000; }
    const Waits of_file = lock.waits(), of_stream = lock.waits(4096);
    CHECK(lock.kept == 66);  // 64 that wait alike, the server, and who sleeps
    REQUIRE(of_stream.edges.size() >= 1000);
    REQUIRE(of_stream.edges.size() == of_file.edges.size());
    for (std::size_t i = 0; i < of_file.edges.size(); ++i) {
        CHECK(of_stream.edges[i].waiter == of_file.edges[i].waiter);
        CHECK(of_stream.edges[i].target == of_file.edges[i].target);
    }
}

TEST_CASE("who had a lock and has ended is told where nobody is behind the place, and the server knows one such alone",
          "[waits]") {
    Lock lock;
    lock.holder_ended = true;
    SECTION("so") {
        const Waits found = lock.waits();
        REQUIRE(found.edges.size() == 13);
        REQUIRE(found.edge(lock.server) != nullptr);
        CHECK(found.edge(lock.server)->target.pid == Pid{0, 51, 0});
        CHECK(found.edge(lock.server)->target.process == ProcId::none);
        CHECK(found.fan_in_of(lock.server)->waiters == 12);
        return;
    }
    SECTION("work that somebody has been given") { lock.somebody_behind = true; }
    SECTION("one of many") { lock.holder_in_list = true; }
    SECTION("loops") { lock.called = false; }
    SECTION("its own workers") { lock.started = true; }
    CHECK(lock.waits().edges.empty());
}

TEST_CASE("those whose pids a server keeps for another reason wait for nobody", "[waits]") {
    Lock other;
    SECTION("few") { other.waiters = 9; }
    SECTION("a loop of their own") { other.called = false; }
    SECTION("a pool: who works is one of many") { other.holder_in_list = true; }
    SECTION("somebody else") { other.holder_behind = false; }
    SECTION("its own workers") { other.started = true; }
    CHECK(other.waits().edges.empty());
}

TEST_CASE("requests that lie in the queue of one that does not take them", "[waits]") {
    Lock asked;
    asked.requests = 12;
    for (const std::size_t others : {0u, 12u, 13u}) {
        asked.others = others;
        const Waits found = asked.waits();
        CHECK(found.edges.size() == (others <= 12 ? 12 : 0));
        if (found.edges.size() == 12) CHECK(found.fan_in_of(asked.server)->waiters == 12);
    }
    asked.others = 0;
    asked.called = false;  // loops that have told it something
    CHECK(asked.waits().edges.empty());
}
