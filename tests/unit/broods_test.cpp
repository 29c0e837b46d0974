// SPDX-License-Identifier: Apache-2.0
// Many children of one parent: those that nobody needs any more, those that have a program each, and all others.
#include "analyses/facts/catalogue/broods.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

// A server <0.5.0> that has started many of one kind.
struct Crowd {
    std::uint32_t members = 1000, used = 0;
    std::uint64_t reductions = 60;
    bool at_work = false, monitored = false, timed = false, tables = false;
    std::uint32_t programs = 0, sockets = 0, below = 0;
    std::string module = "conn", parent = "conn_sup";

    std::string told() const {
        test::MadeNode node;
        node.idle(1, "user_of_them");
        if (monitored) {
            std::vector<std::uint32_t> all;
            for (std::uint32_t i = 0; i < members; ++i) all.push_back(10 + i);
            node.links(all);
            for (Link& link : node.s.links) link.kind = LinkKind::monitors;
        }
        node.idle(5, parent);
        for (std::uint32_t i = 0; i < members; ++i) {
            Process& p = node.idle(10 + i);
            p.parent = {0, 5, 0};
            p.real_initial_call = node.function(module, "init", 1);
            p.reductions = i < used ? 1001 : reductions;
            if (at_work) p.current_function = node.function("conn", "query", 1);
            node.links({5});
            if (timed) node.s.timers.push_back({.receiver = p.pid});
            if (tables) node.s.ets.emplace_back(EtsTable{.owner = p.pid, .name = node.text("sessions")});
            if (i < programs || i < sockets) {
                Port& port = node.s.ports.emplace_back();
                port.port = {0, i};
                port.connected = p.pid;
                port.kind = node.text(i < programs ? "external process" : "linked-in driver");
                port.driver = node.text(i < programs ? "ntpd" : "tcp_inet");
            }
        }
        for (std::uint32_t i = 0; i < below; ++i) node.idle(100'000 + i).parent = {0, 10 + i, 0};
        const auto found = test::of(node.told(), "multitude");
        if (found.empty()) return {};
        const std::string title = found.front().words.substr(0, found.front().words.find('\n'));
        return title.substr(title.find(": ") + 2);
    }
};

constexpr const char* left =
    "conn_sup <0.5.0> has started 1,000 processes of conn:init/1; all have been idle since they began, and nobody else "
    "is linked to them or monitors them";

}  // namespace

TEST_CASE("a thousand children that have done nothing, and that nobody knows, were left behind", "[broods]") {
    Crowd crowd;
    CHECK(crowd.told() == left);
    SECTION("fewer") { crowd.members = 999; }
    SECTION("more than one in ten has worked") { crowd.used = 101; }
    SECTION("they have worked") { crowd.reductions = 1001; }
    SECTION("they are at work") { crowd.at_work = true; }
    SECTION("somebody monitors them") { crowd.monitored = true; }
    SECTION("each has a timer") { crowd.timed = true; }
    SECTION("each has a connection") { crowd.sockets = 1000; }
    CHECK(crowd.told().empty());
}

TEST_CASE("processes whose starters have all ended, and that nobody knows, are one many", "[broods]") {
    std::uint32_t members = 300, linked = 0, living = 0;
    bool timed = false, beside = false, complete = true;
    const auto told = [&] {
        test::MadeNode node;
        node.idle(1, "user_of_them");
        for (std::uint32_t i = 0; i < living; ++i) node.idle(10'000 + i);
        for (std::uint32_t i = 0; i < members; ++i)
            for (std::uint32_t kind = 0; kind < (beside ? 2u : 1u); ++kind) {
                Process& p = node.idle(20'000 + 2 * i + kind);
                p.parent = {0, 10'000 + i, 0};
                p.real_initial_call = node.function(kind == 0 ? "pdf" : "fonts", "init", 1);
                p.reductions = 100'000;  // they have worked for who started them
                if (i < linked) node.links({1});
                if (timed) node.s.timers.push_back({.receiver = p.pid});
            }
        node.s.source.process_table_complete = complete;
        const auto found = test::of(node.told(), "multitude");
        if (found.empty()) return std::string();
        const std::string title = found.front().words.substr(0, found.front().words.find('\n'));
        return title.substr(title.find(": ") + 2);
    };
    const std::string all =
        "300 processes of pdf:init/1 have outlived the 300 that started them; all are idle, and nobody is "
        "linked to them or monitors them";
    CHECK(told() == all);
    SECTION("each starter has left two") {
        beside = true;
        CHECK(told().starts_with("300 processes of pdf:init/1, and as many of fonts:init/1, have outlived the 300 "));
    }
    SECTION("some of them have somebody") {
        linked = 30;
        CHECK(told().find("; 270 are idle, and nobody") != std::string::npos);
        linked = 31;
        CHECK(told().empty());
    }
    SECTION("fewer") {
        members = 299;
        CHECK(told().empty());
    }
    SECTION("their starters live") {
        living = members;
        CHECK(told().empty());
    }
    SECTION("a part of the process table is lost") {
        complete = false;
        CHECK(told().empty());
    }
    SECTION("they will wake up") {
        timed = true;
        CHECK(told().empty());
    }
}

TEST_CASE("what children were left behind with is told", "[broods]") {
    Crowd crowd;
    SECTION("one in ten may have worked") {
        crowd.used = 100;
        CHECK(crowd.told().find("; 900 have been idle since they began") != std::string::npos);
    }
    SECTION("children of their own") {
        crowd.below = 1000;
        CHECK(crowd.told().find("since they began, with 1,000 processes below them, and") != std::string::npos);
    }
    SECTION("supervisors that have none") {
        crowd.module = "supervisor";
        CHECK(crowd.told().find("; all are supervisors that have no child, and nobody else") != std::string::npos);
    }
}

TEST_CASE("a program of the machine for each of a hundred is told", "[broods]") {
    Crowd crowd{.members = 100, .reductions = 5000, .programs = 100};
    CHECK(crowd.told() ==
          "conn_sup <0.5.0> has started 100 processes of conn:init/1, each with an external program of its own, ntpd");
    crowd.members = 120;
    CHECK(crowd.told() ==
          "conn_sup <0.5.0> has started 120 processes of conn:init/1, 100 of them with an external program each, ntpd");
    crowd.programs = 99;
    CHECK(crowd.told().empty());
}

TEST_CASE("a connection for each of a hundred, of one that is no supervisor and is linked to them, is told",
          "[broods]") {
    Crowd crowd{.members = 100, .reductions = 5000, .sockets = 100, .parent = "notifier"};
    CHECK(crowd.told() ==
          "notifier <0.5.0> has started 100 processes of conn:init/1, each with a connection of its own, and is linked "
          "to all of them");
    SECTION("fewer") { crowd.members = 99; }
    SECTION("more than one in ten has none") { crowd.sockets = 89; }
    SECTION("a supervisor keeps those that come") { crowd.parent = "conn_sup"; }
    CHECK(crowd.told().empty());
}
