// SPDX-License-Identifier: Apache-2.0
// Rules on both sides of their bounds, as analyses_rules.cpp has them: connections to the same node, long chains of
// tables, and what goes with a large heap.
#include <catch2/catch.hpp>
#include <string>

#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/facts/catalogue/table_rows.hpp"
#include "analyses/rules/phrases.hpp"
#include "analyses/rules/rules.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

/// What goes with the first finding of a rule; empty: there is none, or nothing.
std::string goes_with(test::MadeNode& made, std::string_view rule, const SuspectTerms& seen = {}) {
    const auto found = test::of(made.told([&](Facts& known) { known.put(SuspectTerms{seen}); }), rule);
    return found.empty() ? std::string() : present::plain_text(made.s, found.front().behind);
}

}  // namespace

TEST_CASE("bounds: connections of one, and their other ends in the same node", "[bounds]") {
    const auto node = [](std::uint32_t of_one, std::uint32_t of_others) {
        test::MadeNode made;
        made.process(1, "listener");
        made.process(2, "opener");
        for (std::uint32_t i = 0; i < of_one + of_others; ++i) {
            if (i >= of_one) {
                Process& other = made.process(10 + i);
                other.initial_call = made.function("my_client", "init", 1);
                other.parent = {0, 2, 0};
            }
            Port& port = made.s.ports.emplace_back();
            port.port = {0, 100 + i};
            port.connected = {0, i < of_one ? 1 : 10 + i, 0};
            port.driver = made.text("tcp_inet");
        }
        const auto found = test::of(made.told(), "port-leak");
        return found.empty() ? std::string() : found.at(0).words.substr(0, found.at(0).words.find('\n'));
    };
    CHECK(node(999, 999).empty());
    CHECK(
        node(1000, 0).starts_with("connections of listener: listener <0.1.0> itself has 1,000 connections (TCP) open"));
    CHECK(node(1000, 899).find("itself has") != std::string::npos);
    CHECK(
        node(1000, 900).starts_with("connections of listener: 900 processes of my_client:init/1, started by opener "
                                    "<0.2.0>, have a connection (TCP) "
                                    "each, most likely to listener <0.1.0> of the same node, which has 1,000"));
    CHECK(node(1000, 1112).find("itself has") != std::string::npos);
}

TEST_CASE("bounds: tables of which an access goes through a long chain", "[bounds]") {
    const auto node = [](std::string_view type, std::uint64_t objects, std::uint64_t longest) {
        test::MadeNode made;
        Process& busy = made.at(10, {made.function("shop", "joins", 1)});
        busy.reductions = 30'000'000;
        busy.state = ProcessState::running;
        EtsTable& table = made.s.ets.emplace_back();
        table.name = made.text("topics");
        table.type = made.text(type);
        table.objects = objects;
        table.chain_max = longest;
        return goes_with(made, "busy-loop").find(" in one chain") != std::string::npos;
    };
    CHECK(node("bag", 10'000, 1'000));
    CHECK(node("set", 10'000, 1'000));
    CHECK_FALSE(node("bag", 10'000, 999));
    CHECK_FALSE(node("bag", 10'010, 1'000));
    CHECK_FALSE(node("duplicate_bag", 10'000, 10'000));
}

TEST_CASE("bounds: a supervisor whose children have ended", "[bounds]") {
    const auto node = [](std::uint32_t alive, std::uint64_t kept, std::string_view module) {
        test::MadeNode made;
        std::vector<std::uint32_t> links{1};
        made.process(1, "root");
        for (std::uint32_t i = 0; i < alive; ++i) links.push_back(100 + i);
        Process& top = made.at(10, {made.function("gen_server", "loop", 7)}, "top");
        top.real_initial_call = made.function(module, "my_sup", 1);
        top.parent = {0, 1, 0};
        top.memory_bytes = 20 * test::mebibyte;
        made.links(links);
        TermFacts seen;
        seen.process = ProcId{1};
        seen.accumulated = Ours("its #state.children");
        seen.accumulated_bytes = 10 * test::mebibyte;
        seen.accumulated_count = kept;
        return goes_with(made, "big-heap", SuspectTerms{{seen}});
    };
    CHECK(node(1, 1'000, "supervisor") ==
          "It has 1 child that lives, and keeps the specifications of 999 that have ended");
    CHECK(node(100, 1'000, "supervisor") ==
          "It has 100 children that live, and keeps the specifications of 900 that have ended");
    CHECK(node(0, 1'000, "supervisor") ==
          "It has no child that lives, and keeps the specifications of 1,000 that have ended");
    CHECK(node(101, 1'000, "supervisor").empty());
    CHECK(node(1, 999, "supervisor").empty());
    CHECK(node(1, 1'000, "my_server").empty());
}

TEST_CASE("bounds: who handles what is traced", "[bounds]") {
    const auto node = [](std::string_view function) {
        test::MadeNode made;
        Process& tracer = made.at(10, {made.function("io", "request", 2), made.function("io", "format", 3),
                                       made.function("my_debug", "print", 2), made.function("dbg", function, 3)});
        tracer.memory_bytes = 20 * test::mebibyte;
        const auto found = test::of(made.told(), "big-heap");
        return found.at(0).words.find("tracing is on, and my_debug:print/2 is slower than they come") !=
               std::string::npos;
    };
    CHECK(node("invoke_handler"));
    CHECK(node("tracer_loop"));
    CHECK_FALSE(node("c"));
}

TEST_CASE("bounds: a table with more rows than there are binaries is the less likely one to hold them", "[bounds]") {
    const auto candidate = [](std::uint64_t rows, Count binaries, bool of_binaries) {
        test::MadeNode made;
        made.idle(1, "cache");
        made.idle(2, "tokens");
        for (const std::uint64_t objects : {rows, std::uint64_t{300}}) {
            EtsTable& table = made.s.ets.emplace_back();
            table.name = made.text(objects == 300 ? "tokens" : "cache");
            table.owner = {0, objects == 300 ? 2u : 1u, 0};
            table.objects = objects;
        }
        Facts facts(made.seal());
        facts.put(MostObjects{0, 1, binaries});
        return present::plain_text(made.s, rule::candidate_table(facts, 20 * test::mebibyte, true, of_binaries));
    };
    CHECK(candidate(2'000, 1'000, true) ==
          "most likely table tokens of tokens <0.2.0> has 300 objects, 68.3 KiB of it for each; less likely table "
          "cache, whose 2,000 objects are more than the 1,000 binaries that there are");
    const std::string both =
        "table cache of cache <0.1.0> has 2,000 objects, 10.2 KiB of it for each; table tokens of tokens <0.2.0> has "
        "300 objects, 68.3 KiB of it for each";
    CHECK(candidate(2'000, 2'000, true) == both);
    CHECK(candidate(2'000, 299, true) == both);
    CHECK(candidate(2'000, {}, true) == both);
    CHECK(candidate(2'000, 1'000, false) == both);
}
