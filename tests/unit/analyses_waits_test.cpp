// Who waits for whom, and what the rules make of it, on snapshots made by hand: proofs, estimates, and silence.
#include <catch2/catch.hpp>

#include "analyses/rules/rules.hpp"
#include "analyses/processes/waits.hpp"
#include "present/spelling.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

struct Waiting : test::MadeSnapshot {
    /// A process in gen:do_call/4 below gen_server:call/3, with a monitor and, where `proved`, its reference in the
    /// frame.
    void caller(std::uint32_t number, std::uint32_t target, bool proved = true) {
        Process& p = process(number);
        p.current_function = function("gen", "do_call", 4);
        p.stack = stack({p.current_function, function("gen_server", "call", 3), function("my", "work", 1)});
        p.memory_bytes = 1000;
        p.link_range = {static_cast<std::uint32_t>(s.links.size()), 1};
        Link link;
        link.kind = LinkKind::monitors;
        link.pid = {0, target, 0};
        link.ref = {1, 2, number};
        s.links.push_back(link);
        if (!proved) return;
        StackSlot slot;
        slot.kind = StackSlot::Kind::reference;
        slot.process = static_cast<ProcId>(s.processes.size() - 1);
        slot.words = 3;
        slot.ref = link.ref;
        s.slots.push_back(slot);
    }
    void idle(std::uint32_t number, std::string_view name = {}) {
        Process& p = process(number, name);
        p.current_function = function("gen_server", "loop", 7);
        p.stack = stack({p.current_function});
        p.memory_bytes = 1000;
    }
    std::vector<Finding> findings() {
        const Slogan slogan = read_slogan(s.node.slogan);
        const Totals sums = totals(s);
        const Death dead = death(s);
        const Waits blocked = waits(s);
        return run_rules({s, slogan, sums, dead, blocked});
    }
};

std::size_t count(const std::vector<Finding>& findings, std::string_view rule) {
    std::size_t n = 0;
    for (const Finding& finding : findings) n += finding.rule == rule;
    return n;
}

}  // namespace

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
    CHECK(present::plain_text(node.s, found[0].title).find("21 of 22 processes (95 %) wait, through <0.2.0>, for root <0.1.0>") == 0);
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
    CHECK(present::plain_text(node.s, found[0].title).find("15 of 16 processes (94 %) wait for root <0.1.0>, 12 of them in ") == 0);
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
