// SPDX-License-Identifier: Apache-2.0
// The second sentence of an answer: whose work stands still.
#include "analyses/diagnosis/follow.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "analyses/facts/catalogue/suspects.hpp"
#include "present/spelling.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

// Four workers db:init/1, and callers that ask them by a function of db from functions of the program.
struct Waiting : test::MadeNode {
    void workers() {
        for (std::uint32_t i = 0; i < 4; ++i)
            at(10 + i, {function("db", "recv", 2)}).initial_call = function("db", "init", 1);
    }
    void callers(std::uint32_t first, std::uint32_t count, const std::vector<FunctionId>& from) {
        for (std::uint32_t i = 0; i < count; ++i) {
            std::vector<FunctionId> frames{function("gen", "do_call", 4), function("gen_server", "call", 3),
                                           function("db", "ask", 1)};
            frames.insert(frames.end(), from.begin(), from.end());
            at(first + i, frames);
            Process& p = s.processes.back();
            p.link_range = {static_cast<std::uint32_t>(s.links.size()), 1};
            Link link;
            link.kind = LinkKind::monitors;
            link.pid = {0, 10 + i % 4, 0};
            s.links.push_back(link);
        }
    }
    void module(std::string_view name, std::string_view source) {
        Module& module = s.modules.emplace_back();
        module.name = text(name);
        module.source = text(source);
    }
    std::string second() {
        seal();
        Facts facts(s);
        const std::vector<Finding> found = run_rules(facts);
        REQUIRE(!found.empty());
        CHECK(found.front().rule == "stuck-servers");
        return present::plain_text(s, second_sentence(facts, found.front(), LargestPlace{}));
    }
};

}  // namespace

TEST_CASE("whose work stands still is who asks, not the interface of what is asked", "[follow]") {
    Waiting node;
    node.memory("total", 1u << 30);
    node.workers();
    node.callers(100, 14, {node.function("shop", "price", 1), node.function("shop", "serve", 2)});
    node.callers(200, 2, {node.function("feed", "pull", 1)});
    CHECK(node.second() == "14 of the 16 who wait come from shop:price/1.");
}

TEST_CASE("who sleeps until it tries again waits as well, and who is asked does not", "[follow]") {
    Waiting node;
    node.memory("total", 1u << 30);
    node.workers();
    node.callers(100, 12, {node.function("shop", "price", 1)});
    node.at(200, {node.function("timer", "sleep", 1), node.function("shop", "price", 1)});
    node.seal();
    Facts facts(node.s);
    Finding finding = run_rules(facts).front();
    REQUIRE(finding.rule == "stuck-servers");
    const auto said = [&] { return present::plain_text(node.s, second_sentence(facts, finding, LargestPlace{})); };
    CHECK(said() == "All of the 12 who wait come from shop:price/1.");
    finding.members.push_back(node.s.find({0, 200, 0}));
    CHECK(said() == "All of the 13 who wait come from shop:price/1.");
}

TEST_CASE("two features that ask by functions of their own have the one below in common", "[follow]") {
    Waiting node;
    node.memory("total", 1u << 30);
    node.workers();
    node.callers(100, 6, {node.function("archive", "prefs", 1), node.function("archive", "sent", 2)});
    node.callers(200, 6, {node.function("archive", "store", 1), node.function("archive", "sent", 2)});
    node.callers(300, 6, {node.function("roster", "get", 1)});
    CHECK(node.second() == "12 of the 18 who wait come from archive:sent/2.");
}

TEST_CASE("a program that was built without its sources' places is no less its own", "[follow]") {
    const auto second = [](std::string_view source) {
        Waiting node;
        node.memory("total", 1u << 30);
        node.workers();
        node.callers(100, 12, {node.function("shop", "price", 1)});
        node.module("lists", "/build/otp/lib/stdlib/src/lists.erl");
        node.module("shop", source);
        return node.second();
    };
    CHECK(second("") == "All of the 12 who wait come from shop:price/1.");
    CHECK(second("/srv/shop/src/shop.erl") == "All of the 12 who wait come from shop:price/1.");
    CHECK(second("/build/otp/lib/stdlib/src/shop.erl").empty());
}

TEST_CASE("who alone fills a queue goes with it", "[follow]") {
    const auto behind = [](double percent, std::uint32_t sender) {
        test::MadeNode node;
        node.at(10, {node.function("feed", "listen", 2)}, "feed").msgq_len = 5'000;
        node.idle(11, "watcher");
        TermFacts terms;
        terms.process = ProcId{0};
        terms.messages_read = 5'000;
        terms.shapes = {{"{system,{pid(),reference()},get_status}", 100}};
        terms.senders = {{{{0, sender, 0}, {}}, percent}};
        const auto found =
            test::of(node.told([&](Facts& facts) { facts.put(SuspectTerms{{terms}}); }), "queue-flood").at(0);
        CHECK(found.words.find("These are system messages") != std::string::npos);
        return present::plain_text(node.s, found.behind);
    };
    CHECK(behind(100, 11) == "All of these messages name watcher <0.11.0> as their sender");
    CHECK(behind(75, 11) == "75 % of these messages name watcher <0.11.0> as their sender");
    CHECK(behind(74, 11).empty());
    CHECK(behind(100, 10).empty());  // its own
    CHECK(behind(100, 99) == "All of these messages name <0.99.0> as their sender");
}

TEST_CASE("with the queue of a log handler goes who logs at that moment", "[follow]") {
    const auto behind = [](std::uint32_t logging) {
        test::MadeNode node;
        Process& handler = node.at(10, {node.function("gen_server", "loop", 7)}, "logger_std_h_default");
        handler.real_initial_call = node.function("logger_olp", "init", 1);
        handler.msgq_len = 5'000;
        for (std::uint32_t i = 0; i < logging; ++i)
            node.at(20 + i, {node.function("re", "run", 3), node.function("logger_formatter", "format", 2),
                             node.function("logger_backend", "call_handlers", 3), node.function("shop", "audit", 1),
                             node.function("logger", "no_more", 0), node.function("shop", "loop", 1)});
        node.at(90, {node.function("shop", "audit", 1)});
        return present::plain_text(node.s, test::of(node.told(), "queue-flood").at(0).behind);
    };
    CHECK(behind(0).empty());
    CHECK(behind(1) == "<0.20.0> is logging, in shop:audit/1");
    CHECK(behind(5) == "5 processes are logging in shop:audit/1, <0.20.0> one of them");
}
