// SPDX-License-Identifier: Apache-2.0
// Many of one kind that are told together, each at its bound and one below; who is suspended; and a few who wait for a
// server at work.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analyses/facts/catalogue/multitudes.hpp"
#include "analyses/facts/catalogue/pinned.hpp"
#include "analyses/facts/catalogue/suspects.hpp"
#include "present/findings.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace many_alike_test {
namespace {

struct Many : test::MadeNode {
    Process& shard(std::uint32_t number, std::uint64_t queued) {
        Process& p = at(number, {function("shard", "write", 2), function("shard", "loop", 1)});
        p.real_initial_call = function("shard", "init", 1);
        p.msgq_len = queued;
        return p;
    }
    /// A process with so many monitors on another one.
    void watches(std::uint32_t number, std::uint32_t target, std::uint32_t count) {
        Process& p = idle(number);
        p.real_initial_call = function("worker", "init", 1);
        p.link_range = {static_cast<std::uint32_t>(s.links.size()), count};
        p.monitors = count;
        for (std::uint32_t i = 0; i < count; ++i) {
            Link link;
            link.kind = LinkKind::monitors;
            link.pid = {0, target, 0};
            link.ref = {7, number, i};
            s.links.push_back(link);
        }
    }
    /// A process in a call to `target`, proved by its monitor; for ever, or for a time.
    void calls(std::uint32_t number, std::uint32_t target, bool for_ever) {
        waiter(number, target);
        holds(s.links.back().ref);
        if (for_ever) holds("infinity");
    }
};

}  // namespace

TEST_CASE("ten of a kind whose queues are as long as each other's are one flood", "[alike]") {
    const auto titles = [](std::uint32_t members, std::uint64_t shortest, std::uint64_t longest) {
        Many node;
        for (std::uint32_t i = 1; i < members; ++i) node.shard(10 + i, shortest);
        node.shard(10, longest);
        std::string all;
        for (const auto& found : test::of(node.told(), "queue-flood"))
            all += std::string(name_of(found.severity)) + " " + found.title_alone() + "\n";
        return all;
    };
    const std::string one = "medium 10 processes of shard:init/1 have ";
    CHECK(
        titles(10, 2'000, 2'000).starts_with(one + "20,000 messages in their queues, up to 2,000 each; one of them "));
    CHECK(titles(10, 2'000, 2'000).find("<0.") == std::string::npos);  // nor is one of them told by itself
    CHECK(titles(10, 1'100, 4'400).starts_with(one));
    CHECK(titles(10, 1'099, 4'400).find("processes of") == std::string::npos);
    CHECK(titles(9, 2'000, 2'000).find("processes of") == std::string::npos);
    CHECK(titles(10, 1'000, 1'000).starts_with(one));
    CHECK(titles(10, 999, 1'000).find("processes of") == std::string::npos);  // fewer than 10,000 in all
    CHECK(titles(10, 9'000, 10'000).starts_with("high 10 processes"));
}

TEST_CASE("a flooded process that sys has suspended is told so, with who waits for it", "[alike]") {
    const auto title = [](std::uint32_t callers) {
        Many node;
        node.at(1, {node.function("sys", "suspend_loop", 6)}, "writer").msgq_len = 12'000;
        for (std::uint32_t i = 0; i < callers; ++i) node.calls(10 + i, 1, true);
        const auto found = test::of(node.told(), "queue-flood");
        REQUIRE(found.size() == 1);
        CHECK(found[0].words.find("-> Resume it with sys:resume/1") != std::string::npos);
        return found[0].title_alone();
    };
    CHECK(title(0).ends_with("; it was suspended by sys:suspend/1"));
    CHECK(title(1).ends_with("; it was suspended by sys:suspend/1, and 1 process waits for it"));
    CHECK(title(4).ends_with("; it was suspended by sys:suspend/1, and 4 processes wait for it"));
}

TEST_CASE("monitors of several on one process count together, where none of them has nearly all", "[alike]") {
    const auto told = [](std::uint32_t workers, std::uint32_t each, std::uint32_t first) {
        Many node;
        node.idle(1, "broker");
        for (std::uint32_t i = 0; i < workers; ++i) node.watches(10 + i, 1, i == 0 ? first : each);
        const auto found = test::of(node.told(), "multitude");
        return found.empty() ? std::string() : std::string(name_of(found[0].severity)) + " " + found[0].title_alone();
    };
    CHECK(told(20, 500, 500)
              .starts_with("medium broker <0.1.0> is monitored 10,000 times by 20 processes of "
                           "worker:init/1, most often by <0.10.0> (worker:init/1): 500 times"));
    CHECK(told(20, 500, 499).starts_with("info broker <0.1.0> is monitored 9,999 times"));
    CHECK(told(2, 100, 19'900).find("is monitored") == std::string::npos);
    CHECK(told(2, 100, 19'900).starts_with("medium <0.10.0> (worker:init/1) holds 19,900 monitors on broker <0.1.0>"));
    CHECK(told(1'200, 1, 1).empty());  // each once: as many as there are
}

TEST_CASE("a few who wait for a time for a server at work are a note", "[alike]") {
    const auto severity = [](std::uint32_t callers, bool for_ever, ProcessState state, std::uint32_t others = 150) {
        Many node;
        Process& server = node.at(1, {node.function("report", "render", 2)}, "reports");
        server.state = state;
        server.msgq_len = callers - 1;
        for (std::uint32_t i = 0; i < callers; ++i) node.calls(10 + i, 1, for_ever);
        for (std::uint32_t i = 0; i < others; ++i) node.idle(1'000 + i);
        const auto found = test::of(node.told(), "wait-convoy");
        return found.empty() ? std::string() : std::string(name_of(found[0].severity));
    };
    CHECK(severity(19, false, ProcessState::running) == "info");
    CHECK(severity(20, false, ProcessState::running) == "medium");
    CHECK(severity(19, true, ProcessState::running) == "medium");
    CHECK(severity(19, false, ProcessState::waiting) == "medium");  // it is stuck
    CHECK(severity(19, false, ProcessState::running, 60) == "high");
}

TEST_CASE("a few whose calls will end wait for a server that does not work for long", "[alike]") {
    const auto severity = [](std::uint32_t callers, bool for_ever, std::uint64_t queued) {
        Many node;
        Process& server =
            node.at(1, {node.function("store", "reads", 1), node.function("store", "handle_call", 3)}, "db");
        server.msgq_len = queued;
        for (std::uint32_t i = 0; i < callers; ++i) node.calls(10 + i, 1, for_ever);
        for (std::uint32_t i = 0; i < 300; ++i) node.idle(1'000 + i);
        const auto found = test::of(node.told(), "few-waiters");
        return found.empty() ? std::string() : std::string(name_of(found[0].severity));
    };
    CHECK(severity(4, false, 3) == "info");
    CHECK(severity(4, true, 3) == "medium");
    CHECK(severity(4, false, 5) == "medium");  // who else has sent it something does not wait
}

namespace {

// What each of three carts that are looked into has in its State.
struct Seen {
    std::uint64_t elements = 900;
    std::uint64_t digest = 0;
    std::optional<std::uint64_t> keys = {};
};
std::string carts(const std::vector<Seen>& seen, bool named = true) {
    Many node;
    for (std::uint32_t i = 0; i < 60; ++i) {
        Process& p = node.idle(10 + i, named ? "cart_" + std::to_string(i) : "");
        p.real_initial_call = node.function("cart", "init", 1);
        p.memory_bytes = 300u << 10;
    }
    node.memory("total", 30 * test::mebibyte);
    node.seal();
    Suspects suspects = analyses::suspects(node.s, {});
    SuspectTerms terms;
    for (std::size_t i = 0; i < std::min(seen.size(), suspects.alike.size()); ++i) {
        TermFacts facts;
        facts.process = suspects.alike[i];
        facts.accumulated = Ours("its State, a map of items");
        facts.accumulated_bytes = 280u << 10;
        facts.accumulated_count = seen[i].elements;
        facts.accumulated_digest = seen[i].digest;
        facts.accumulated_keys = seen[i].keys;
        terms.processes.push_back(facts);
    }
    const auto found = test::of(node.told([&](Facts& facts) {
        facts.put(std::move(terms));
        facts.put(std::move(suspects));
    }),
                                "big-heap");
    return found.size() != 1 ? "" : found[0].words;
}

}  // namespace

TEST_CASE("many with a name of their own each are looked into as those without are", "[alike]") {
    const std::string all = "cart:init/1: 60 processes of cart:init/1 hold 17.6 MiB; ";
    for (const bool named : {true, false}) {
        const auto starts = [&](const std::vector<Seen>& seen, const std::string& with) {
            INFO(carts(seen, named));
            CHECK(carts(seen, named).starts_with(all + with));
            return carts(seen, named).find("Keep it once") != std::string::npos;
        };
        CHECK(starts({{900, 5}, {900, 5}, {900, 5}}, "each has the same in its State, a map of items\n"));
        // Copies of one thing at different times
        const std::string copies =
            "each of 3 that were compared has 280 KiB in its State, a map of items of the same keys\n";
        const std::string typical = "a typical one has 280 KiB in its State, a map of items\n";
        CHECK(starts({{900, 5, 1}, {900, 6, 1}, {900, 7, 1}}, copies));
        CHECK_FALSE(starts({{900, 5, 1}, {901, 6, 1}, {900, 7, 1}}, typical));
        CHECK_FALSE(starts({{900, 5, 1}, {900, 6, 2}, {900, 7, 1}}, typical));
        CHECK_FALSE(starts({{900, 5}, {900, 6}, {900, 7}}, typical));
        CHECK_FALSE(starts({{99, 5, 1}, {99, 6, 1}, {99, 7, 1}}, typical));
        CHECK_FALSE(starts({{900, 5, 1}}, typical));
    }
}

TEST_CASE("slices of many of one kind are told together, for those that were looked at", "[alike]") {
    const auto told = [](std::uint32_t members, std::uint32_t looked, std::uint64_t each, std::uint64_t first) {
        Many node;
        node.memory("total", 200 * test::mebibyte);
        node.memory("binary", 150 * test::mebibyte);
        Pinned pinned;
        Suspects suspects;
        for (std::uint32_t i = 0; i < members; ++i) {
            Process& p = node.idle(10 + i);
            p.real_initial_call = node.function("session", "init", 1);
            p.bin_vheap_words = each / 8;
            p.old_bin_vheap_words = 0;
            if (i >= looked) continue;
            PinnedBinaries row;
            row.process = ProcId{i};
            row.slices = row.binaries = 1;
            row.seen_bytes = 100;
            row.pinned_bytes = i == 0 ? first : each;
            pinned.processes.push_back(row);
            suspects.binaries.push_back(ProcId{i});
        }
        const auto found = test::of(node.told([&](Facts& facts) {
            facts.put(std::move(pinned));
            facts.put(std::move(suspects));
        }),
                                    "binary-pinning");
        return found.empty() ? std::string() : found[0].title_alone();
    };
    const std::uint64_t mebibyte = test::mebibyte;
    CHECK(told(40, 40, mebibyte, mebibyte) ==
          "40.0 MiB of binaries stay because of 40 slices that see 3.9 KiB of them, held by 40 processes of "
          "session:init/1");
    CHECK(told(40, 10, mebibyte, mebibyte) ==
          "40.0 MiB of binaries stay because of 40 slices that see 3.9 KiB of them, held by 40 processes of "
          "session:init/1");
    CHECK(told(9, 9, mebibyte, mebibyte).find("held by 9") == std::string::npos);
    // One of them has most of it.
    CHECK(told(10, 10, mebibyte, 10 * mebibyte).find("held by <0.10.0>") != std::string::npos);
}

TEST_CASE("what an answer began with is no evidence once more", "[alike]") {
    Many node;
    node.idle(1, "cache");
    node.seal();
    Finding finding;
    finding.title = sentence("{} is large", ProcId{0});
    finding.behind = sentence("It waits for {}", ProcId{0});
    finding.evidence = {fact("what goes with it", finding.behind), figure("a", 1, AmountUnit::count),
                        figure("b", 2, AmountUnit::count)};
    const present::Names names(node.s, present::Syntax::erlang);
    const auto lines = [&](bool said) {
        const present::Member member = present::finding_member(names, finding, said, 2, 2);
        return std::get<std::shared_ptr<const present::Array>>(std::get<present::Value>(member.body).data())->size();
    };
    CHECK(lines(false) == 3);  // the title, and two
    CHECK(lines(true) == 2);
    finding.evidence.pop_back();
    CHECK(lines(true) == 1);
}

}  // namespace many_alike_test
