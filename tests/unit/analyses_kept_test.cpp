// SPDX-License-Identifier: Apache-2.0
// What processes keep that they should give back: connections, children that are being ended, deleted objects, repeated
// timers, heaps of a middling size. On both sides of the bounds at which rules speak.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

std::string title(const std::vector<test::FoundWithText>& findings, std::string_view rule) {
    const auto all = test::of(findings, rule);
    return all.empty() ? "" : all.front().words.substr(0, all.front().words.find('\n'));
}

struct Kept : test::MadeNode {
    Process& at(std::uint32_t number, std::string_view name, const std::vector<FunctionId>& frames,
                std::uint32_t parent = Pid::none_number) {
        Process& p = process(number, name, parent);
        p.current_function = frames.front();
        p.stack = stack(frames);
        p.memory_bytes = 1000;
        return p;
    }
};

}  // namespace

TEST_CASE("modules with random names are a leak, numbered ones a number, from their bound on", "[bounds]") {
    const auto node = [](std::uint32_t modules, bool random) {
        Kept made;
        made.at(1, "cache", {made.function("cache", "loop", 1)});
        for (std::uint32_t i = 0; i < modules; ++i)
            made.s.modules.emplace_back().name =
                made.text(random ? fmt::format("tpl_{:08x}9c41af0be2d77a3c5f019ab4", 0xA0000000u + i * 7919u)
                                 : fmt::format("page_{}", i));
        return made.told();
    };
    const auto severity = [&](std::uint32_t modules, bool random) {
        const auto all = test::of(node(modules, random), "multitude");
        return all.empty() ? std::string() : std::string(name_of(all.front().severity));
    };
    CHECK(severity(199, true).empty());
    CHECK(severity(200, true) == "medium");
    CHECK(severity(200, false) == "info");
    CHECK(title(node(200, true), "multitude") ==
          "tpl_<hex32>: 200 modules tpl_<hex32> are loaded, made while it ran; their atoms are never freed");
    CHECK(title(node(200, false), "multitude") == "page_<int>: 200 modules page_<int> are loaded");
}

TEST_CASE("bounds: connections that one process keeps itself", "[bounds]") {
    const auto node = [](std::uint32_t connections, std::string_view driver) {
        Kept made;
        made.at(5, "webhooks", {made.function("webhooks", "loop", 1)});
        for (std::uint32_t i = 0; i < connections + 700; ++i) {
            Port& port = made.s.ports.emplace_back();
            port.port.number = i;
            port.driver = made.text(driver);
            port.connected = {0, i < connections ? 5 : 1000 + i, 0};  // 700 others have one each
        }
        return made.told();
    };
    CHECK(title(node(999, "tcp_inet"), "port-leak").empty());
    CHECK(title(node(1000, "udp_inet"), "port-leak").empty());
    const auto found = test::of(node(1000, "tcp_inet"), "port-leak");
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == FindingSeverity::medium);
    CHECK(found[0].pid == Pid{0, 5, 0});
    CHECK(title(found, "port-leak")
              .ends_with("webhooks <0.5.0> itself has 1,000 connections (TCP) open; it sits in webhooks:loop/1"));
    REQUIRE(found[0].evidence.size() >= 2);
    CHECK(found[0].evidence[0].number == 1000.0);
    CHECK(found[0].evidence[1].number == 1700.0);
}

TEST_CASE("bounds: children that a supervisor ends one after the other", "[bounds]") {
    const auto node = [](std::uint32_t children, bool ends_one) {
        Kept made;
        made.at(1, "init", {made.function("init", "loop", 1)});
        made.at(3, "app_sup", {made.function("gen_server", "loop", 7)});
        const FunctionId loop = made.function("gen_server", "loop", 7);
        made.at(5, "session_sup",
                ends_one ? std::vector{made.function("supervisor", "shutdown", 1), loop} : std::vector{loop}, 3);
        std::vector<std::uint32_t> linked{3};  // its own supervisor
        for (std::uint32_t i = 0; i < children; ++i) linked.push_back(100 + i);
        made.links(linked);
        StackSlot child;  // no link any more: its pid is on the stack while it ends
        child.kind = StackSlot::Kind::pid;
        child.process = ProcId{2};
        child.pid = {0, 99, 0};
        if (ends_one) made.s.slots.push_back(child);
        made.at(99, "", {made.function("sessions", "flush", 2)});
        for (std::uint32_t i = 0; i < children; ++i) made.at(100 + i, "", {loop});
        return made.told();
    };
    CHECK(title(node(100, false), "stop-under-way").empty());
    const auto few = test::of(node(99, true), "stop-under-way");
    REQUIRE(few.size() == 1);
    CHECK(few[0].severity == FindingSeverity::info);
    CHECK(few[0].count == Count(99));
    CHECK(title(few, "stop-under-way")
              .ends_with("session_sup <0.5.0> waits for a child to end: <0.99.0> sits in sessions:flush/2"));
    const auto many = test::of(node(100, true), "stop-under-way");
    REQUIRE(many.size() == 1);
    CHECK(many[0].severity == FindingSeverity::medium);
    CHECK(title(many, "stop-under-way").ends_with("sits in sessions:flush/2; 100 others are linked to it"));
}

TEST_CASE("bounds: deleted objects that a fixed table keeps", "[bounds]") {
    const auto kept = [](std::uint64_t live, std::uint64_t deleted) {
        Kept made;
        made.process(1, "owner");
        EtsTable& table = made.s.ets.emplace_back();
        table.owner = {0, 1, 0};
        table.name = made.text("jobs");
        table.objects = live;
        table.fixed = deleted;
        table.words = 10 * test::mebibyte;
        made.memory("total", 160 * test::mebibyte);
        const std::string said = title(made.told(), "ets-growth");
        REQUIRE_FALSE(said.empty());
        return said.find(" deleted ones, kept since it is fixed") != std::string::npos;
    };
    CHECK(kept(5, 6));
    CHECK_FALSE(kept(5, 5));
    CHECK(kept(40'000, 10'000));
    CHECK_FALSE(kept(39'000, 9'999));
    CHECK_FALSE(kept(40'004, 10'000));
    CHECK_FALSE(kept(100, 0));
}

TEST_CASE("bounds: repeated timers of the module timer, and who has set them", "[bounds]") {
    const auto node = [](std::uint32_t repeated, std::string_view server) {
        Kept made;
        made.at(5, "poller", {made.function("poller", "loop", 1)});
        Process& timers = made.at(7, server, {made.function("gen_server", "loop", 7)});
        timers.monitors = repeated;
        timers.link_range = {static_cast<std::uint32_t>(made.s.links.size()), repeated};
        for (std::uint32_t i = 0; i < repeated; ++i) {
            Link on;
            on.kind = LinkKind::monitors;
            on.pid = {0, 5, 0};
            made.s.links.push_back(on);
        }
        for (std::uint32_t i = 0; i < 20'000; ++i) {
            Timer& timer = made.s.timers.emplace_back();
            timer.receiver = {0, 7, 0};
            timer.left_ms = 1000;
        }
        return made.told();
    };
    const auto told = node(10'000, "timer_server");
    CHECK(title(told, "multitude")
              .find("20,000 timers are set for timer_server <0.7.0>, 10,000 of them repeated ones of poller <0.5.0>") !=
          std::string::npos);
    const auto of_rule = [](const auto& findings) { return test::of(findings, "multitude").size(); };
    CHECK(of_rule(told) == 1);  // one story
    CHECK(title(node(9'999, "timer_server"), "multitude").find("repeated") == std::string::npos);
    CHECK(title(node(10'000, "clock"), "multitude").find("repeated") == std::string::npos);
    CHECK(of_rule(node(10'000, "clock")) == 2);
}

TEST_CASE("bounds: repeated timers that are a process each, of who has set them", "[bounds]") {
    const auto node = [](std::uint32_t repeated, std::string_view function, bool by_name = false) {
        Kept made;
        made.at(5, "poller", {made.function("poller", "loop", 1)});
        Process& server = made.at(7, "timer_server", {made.function("gen_server", "loop", 7)});
        server.monitors = repeated;
        server.link_range = {static_cast<std::uint32_t>(made.s.links.size()), repeated};
        const auto monitor = [&](std::uint32_t number, std::string_view name = {}) {
            Link on;
            on.kind = LinkKind::monitors;
            if (name.empty()) on.pid = {0, number, 0};
            on.name = made.text(name);
            made.s.links.push_back(on);
        };
        for (std::uint32_t i = 0; i < repeated; ++i) monitor(100 + i);
        for (std::uint32_t i = 0; i < repeated; ++i) {
            Process& loop = made.at(100 + i, "", {made.function("timer", function, 5)});
            loop.link_range = {static_cast<std::uint32_t>(made.s.links.size()), 2};
            monitor(7);
            monitor(5, by_name ? "poller" : "");
            Timer& timer = made.s.timers.emplace_back();
            timer.receiver = {0, 100 + i, 0};
            timer.left_ms = 1000;
        }
        return made.told();
    };
    for (const bool by_name : {false, true}) {
        const auto told = test::of(node(60'000, "interval_loop", by_name), "multitude");
        REQUIRE(told.size() == 1);
        CHECK(told[0].count == Count(60'000));
        CHECK(told[0].pid == Pid{0, 5, 0});
        CHECK(title(told, "multitude")
                  .find("60,000 timers are set for poller <0.5.0>, 60,000 of them repeated ones, each with a process "
                        "of its own; ") != std::string::npos);
    }
    CHECK(test::of(node(999, "interval_loop"), "multitude").empty());
    REQUIRE(test::of(node(60'000, "sleep"), "multitude").size() == 1);
    CHECK(title(node(60'000, "sleep"), "multitude").find("timer_server <0.7.0> holds 60,000 monitors on others") !=
          std::string::npos);
}

TEST_CASE("bounds: heaps of a middling size that are together most of a node", "[bounds]") {
    const auto node = [](std::uint32_t processes, std::uint64_t each) {
        Kept made;
        for (std::uint32_t i = 0; i < processes; ++i) {
            Process& p = made.at(10 + i, "", {made.function("sessions", "loop", 1)});
            p.initial_call = made.function("sessions", "init", 1);
            p.memory_bytes = each;
        }
        made.memory("total", processes * each + test::mebibyte);
        return made.told();
    };
    const std::string said = title(node(1024, 64u << 10), "big-heap");
    CHECK(said.find("1,024 processes of sessions:init/1 hold 64.0 MiB") != std::string::npos);
    CHECK(title(node(1200, (64u << 10) - 100), "big-heap").empty());
    CHECK(!title(node(128, 64u << 10), "big-heap").empty());
    CHECK(title(node(127, 64u << 10), "big-heap").empty());
}
