// SPDX-License-Identifier: Apache-2.0
// Servers that have given away all that they may: what is a limit that is reached, and what only looks so.
#include "analyses/facts/catalogue/capacities.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "analyses/facts/catalogue/descriptors.hpp"
#include "analyses/heaps/state_counts.hpp"
#include "analyses/rules/rules.hpp"
#include "present/spelling.hpp"
#include "support/dump_text.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

/// What a rule says of a dump: "medium: pool <0.50.0> has ...", a line each.
std::string said_by(std::string_view rule, const std::string& dump) {
    Facts facts{FactOptions{}};
    LoadPlan plan;
    facts.need(plan);
    const auto loaded = test::load(dump, plan);
    REQUIRE(loaded != nullptr);
    facts.bind(*loaded);
    std::string text;
    for (const Finding& finding : run_rules(facts))
        if (finding.rule == rule)
            text += fmt::format("{}: {}\n", name_of(finding.severity),
                                present::plain_text(loaded->snapshot(), finding.title));
    return text;
}

/// A process that waits; `name` and `links` as lines of a dump have them.
std::string waiting(const std::string& pid, const std::string& name, const std::string& links,
                    const std::string& call = "gen_server:loop/7", const std::string& parent = "<0.1.0>") {
    std::string text = "=proc:" + pid + "\nState: Waiting\n";
    if (!name.empty()) text += "Name: " + name + "\n";
    text += "Spawned as: m:f/1\nCurrent call: " + call + "\nSpawned by: " + parent + "\nMessage queue length: 0\n";
    if (!links.empty()) text += "Link list: [" + links + "]\n";
    return text +
           "Reductions: 10\nStack+heap: 400\nOldHeap: 0\nHeap unused: 100\nOldHeap unused: 0\nProgram counter: "
           "0x00007f0000000000 (" +
           call + " + 100)\n";
}

/// A list at an address, 16 bytes a cell.
std::string list(unsigned address, const std::vector<std::string>& elements) {
    std::string text;
    for (std::size_t i = 0; i < elements.size(); ++i)
        text += fmt::format("{:X}:l{}|{}\n", address + 16 * i, elements[i],
                            i + 1 == elements.size() ? std::string("N") : fmt::format("H{:X}", address + 16 * (i + 1)));
    return text;
}

std::vector<std::string> pids(unsigned first, unsigned count) {
    std::vector<std::string> all;
    for (unsigned i = 0; i < count; ++i) all.push_back(fmt::format("P<0.{}.0>", first + i));
    return all;
}

/// Terms of a gen_server whose State is the tuple or map at 2000.
std::string terms(const std::string& heap) {
    return "=proc_stack:<0.50.0>\ny0:A7:my_pool\ny1:H2000\ny2:A2:me\ny3:P<0.1.0>\n"
           "0x00007fad1c217d74:SReturn addr 0x1C217D74 (gen_server:loop/7 + 596)\n=proc_heap:<0.50.0>\n" +
           heap;
}

/// The titles of what the rule says of pool <0.50.0>, which `callers` call, beside workers <0.200.0>...
std::string said(const std::string& heap, unsigned callers, unsigned workers = 0, const std::string& others = "",
                 unsigned linked = 0, const std::string& monitors = "") {
    std::string dump = test::header(), links, waiters;
    for (unsigned i = 0; i < callers; ++i) {
        links += fmt::format("{}{{from,<0.{}.0>,#Ref<0.1.2.{}>}}", i == 0 ? "" : ", ", 100 + i, 100 + i);
        waiters += waiting(fmt::format("<0.{}.0>", 100 + i), "", fmt::format("{{to,<0.50.0>,#Ref<0.1.2.{}>}}", 100 + i),
                           "gen:do_call/4");
    }
    links += monitors;
    for (unsigned i = 0; i < linked; ++i) links += fmt::format("{}<0.{}.0>", links.empty() ? "" : ", ", 200 + i);
    dump += waiting("<0.1.0>", "", "", "my_app:loop/0");
    dump += waiting("<0.50.0>", "pool", links) + waiters;
    for (unsigned i = 0; i < workers; ++i)
        dump += waiting(fmt::format("<0.{}.0>", 200 + i), "", "", "my_worker:query/1");
    dump += others + terms(heap) + "=end\n";
    return said_by("at-capacity", dump);
}

/// {state, A, B, [elements]}
std::string state(const std::string& a, const std::string& b, const std::vector<std::string>& elements) {
    return "2000:t4:A5:state," + a + "," + b + "," + (elements.empty() ? "N" : "H3000") + "\n" + list(0x3000, elements);
}

}  // namespace

TEST_CASE("two equal numbers are a limit where somebody waits", "[capacities]") {
    CHECK(said(state("I64", "I64", {}), 2) ==
          "medium: pool <0.50.0> has 64 of 64 (element 2 and element 3 of its State); 2 processes wait for it\n");
    CHECK(said(state("I64", "I63", {}), 2).empty());
    CHECK(said(state("I64", "I64", {}), 1).empty());
    // Sizes that a protocol has agreed on: several fields have them, and their names say nothing of a limit.
    const auto map = [](const std::string& one, const std::string& two) {
        return "2000:Mf2:H2100:I16,I16\n2100:t2:" + one + "," + two + "\n";
    };
    CHECK(said(map("A13:recv_mac_size", "A13:send_mac_size"), 2).empty());
    CHECK(said("2000:t5:A5:state,I16,I16,I16,H3000\n" + list(0x3000, {"I1"}), 3).empty());
    CHECK_FALSE(said("2000:t5:A5:state,I16,I16,I16,H3000\n" + list(0x3000, {"I1"}), 10).empty());
    CHECK(said(map("A6:in_use", "A4:size"), 3).starts_with("medium: pool <0.50.0> has 16 of 16"));
    CHECK(said(map("A6:in_use", "A3:max"), 3) ==
          "medium: pool <0.50.0> has 16 of 16 (key max and key in_use of its State); 3 processes wait for it\n");
    CHECK(said(state("I64", "I64", {}), 0).empty());
    CHECK(said(state("I4", "I4", {}), 2).empty());
    CHECK(said(state("I5000", "I5000", {}), 2).empty());  // times
}

TEST_CASE("who waits and is monitored twice has something already", "[capacities]") {
    const auto monitored = [](std::initializer_list<unsigned> callers) {
        std::string monitors;
        for (unsigned i = 0; const unsigned caller : callers)
            monitors += fmt::format(", {{to,<0.{}.0>,#Ref<0.1.3.{}>}}", caller, i++);
        return said(state("I64", "I64", {}), 3, 0, "", 0, monitors);
    };
    const std::string plain =
        "medium: pool <0.50.0> has 64 of 64 (element 2 and element 3 of its State); 3 processes wait for it";
    CHECK(monitored({100, 101, 102}) == plain + "\n");
    CHECK(monitored({100, 100, 101, 102}) ==
          plain + ", 1 of whom it monitors twice: most likely they have something of it already\n");
    CHECK(monitored({100, 100, 101}) == plain + "\n");  // it does not monitor each
    CHECK(monitored({100, 100, 101, 101, 102, 102}) == plain + "\n");
}

TEST_CASE("a collection that is as large as a number is what was lent", "[capacities]") {
    CHECK(said(state("I6", "I1", pids(200, 6)), 3, 6) ==
          "medium: pool <0.50.0> has lent 6 of 6, 6 of them to processes in my_worker:query/1; 3 processes wait for "
          "it\n");
    CHECK(said(state("I6", "I1", pids(200, 5)), 3, 6).empty());
    // the length of a list is often kept beside it
    CHECK(said(state("I6", "I1", pids(200, 6)), 0, 6).empty());
    // those who wait are no reason to wait
    CHECK(said(state("I6", "I1", pids(100, 6)), 6).empty());
}

TEST_CASE("a count of its links a little above another number is a limit, with those who wait above it",
          "[capacities]") {
    // {state, 6, Count, []}, with so many linked to it
    const auto linked = [](const std::string& count, unsigned callers, unsigned links) {
        return said(state("I6", count, {}), callers, links, "", links);
    };
    CHECK(linked("I8", 2, 8) ==
          "medium: pool <0.50.0> has lent 8 of 6, 8 of them to processes in my_worker:query/1; 2 processes wait for "
          "it\n");
    CHECK(linked("I8", 1, 8).empty());  // more than who waits could have brought
    CHECK(linked("I8", 2, 7).empty());  // no count of its links
    CHECK(linked("I8", 0, 8).empty());
}

TEST_CASE("a limit is not reached where all that is kept is marked as given back", "[capacities]") {
    // {state, 6, B, #{<0.200.0> => MARK, ...}}, and 3 callers
    const auto marked = [](const std::string& mark, const std::string& other, const std::string& b) {
        std::string keys = "2100:t6", values;
        for (unsigned i = 0; i < 6; ++i) {
            keys += fmt::format("{}P<0.{}.0>", i == 0 ? ":" : ",", 200 + i);
            values += "," + (i == 5 ? other : mark);
        }
        return said("2000:t4:A5:state,I6,I" + b + ",H2200\n" + keys + "\n2200:Mf6:H2100:" + values.substr(1) + "\n", 3,
                    6);
    };
    CHECK(marked("A7:removed", "A7:removed", "0") ==
          "medium: pool <0.50.0> lets 3 processes wait for one of 6 places, and nobody has one: all 6 entries in its "
          "State > element 4 are removed, and element 3 of its State is 0\n");
    CHECK(marked("A4:idle", "A4:idle", "1").ends_with("> element 4 are idle\n"));
    CHECK(marked("A6:active", "A6:active", "0").starts_with("medium: pool <0.50.0> has lent 6 of 6"));
    CHECK(marked("A7:removed", "A6:active", "0").starts_with("medium: pool <0.50.0> has lent 6 of 6"));
}

TEST_CASE("all is lent, and nobody waits: info, where the state itself calls it a limit", "[capacities]") {
    // #{busy => [6 pids], KEY => 6}
    const auto map = [](const std::string& key) {
        return "2000:Mf2:H2100:H3000,I6\n2100:t2:A4:busy," + key + "\n" + list(0x3000, pids(200, 6));
    };
    CHECK(said(map("A8:max_jobs"), 0, 6) ==
          "info: pool <0.50.0> has lent 6 of 6, 6 of them to processes in my_worker:query/1\n");
    CHECK(said(map("A5:count"), 0, 6).empty());
    CHECK(said(map("A5:count"), 1, 6) ==
          "medium: pool <0.50.0> has lent 6 of 6, 6 of them to processes in "
          "my_worker:query/1; 1 process waits for it\n");
}

TEST_CASE("what was lent to processes that have ended does not come back", "[capacities]") {
    CHECK(
        said(state("I1", "I2", pids(300, 7)), 2) ==
        "medium: pool <0.50.0> keeps 7 entries in its State > element 4, all of processes that have ended; 2 processes "
        "wait for it\n");
    CHECK(said(state("I7", "I2", pids(300, 7)), 10, 40) ==
          "high: pool <0.50.0> has lent 7 of 7, all to processes that have ended; 10 processes wait for it\n");
    CHECK(said(state("I1", "I2", pids(300, 7)), 0).empty());  // a history
    CHECK(said(state("I1", "I2", pids(300, 30)), 0) ==
          "info: pool <0.50.0> keeps 30 entries in its State > element 4, all of processes that have ended\n");
    CHECK(said(state("I1", "I2", pids(300, 4)), 2).empty());
}

TEST_CASE("a listener at its limit is one at whose socket nobody accepts", "[capacities]") {
    const auto port = [](const std::string& name, const std::string& owner) {
        return "=port:" + name + "\nSlot: 1\nConnected: " + owner + "\nLinks: " + owner +
               "\nPort controls linked-in driver: tcp_inet\nInput: 0\nOutput: 0\nQueue: 0\n";
    };
    const std::string ports = port("#Port<0.5>", "<0.50.0>") + port("#Port<0.6>", "<0.60.0>");
    const auto child = [](const std::string& call) { return waiting("<0.60.0>", "", "", call, "<0.50.0>"); };
    const std::string heap = "2000:t4:A5:state,I64,I64,p<0.5>\n";
    CHECK(said(heap, 0, 0, child("my_web:serve/2") + ports)
              .starts_with(
                  "medium: pool <0.50.0> has 64 of 64 (element 2 and element 3 of its State) and accepts nothing "
                  "on #Port<0.5>; <0.60.0>"));
    CHECK(said(heap, 0, 0, child("prim_inet:accept0/3") + ports).empty());
    CHECK(said(heap, 0, 0, ports).empty());  // nobody near it has a connection
    CHECK(said("2000:t4:A5:state,I64,I63,p<0.5>\n", 0, 0, child("my_web:serve/2") + ports).empty());
}

TEST_CASE("who holds emfile says that descriptors are used up, where there are many", "[descriptors]") {
    const auto told = [](unsigned ports, const std::string& value, const std::string& slogan = {}) {
        std::string head = test::header();
        if (!slogan.empty())
            head.replace(head.find("Slogan: "), head.find('\n', head.find("Slogan: ")) - head.find("Slogan: "),
                         "Slogan: " + slogan);
        std::string dump = head + waiting("<0.50.0>", "acceptor", "", "my_acceptor:rest/1"), after;
        for (unsigned i = 0; i < ports; ++i) {
            dump += waiting(fmt::format("<0.{}.0>", 100 + i), "", fmt::format("#Port<0.{}>", 100 + i),
                            "my_handler:serve/1");
            after += fmt::format(
                "=port:#Port<0.{0}>\nSlot: {0}\nConnected: <0.{0}.0>\nPort controls linked-in driver: "
                "tcp_inet\nInput: 0\nOutput: 0\nQueue: 0\n",
                100 + i);
        }
        dump += after +
                "=proc_stack:<0.50.0>\ny0:H2000\n0x00007fad1c217d74:SReturn addr 0x1C217D74 (my_acceptor:rest/1 + "
                "596)\n=proc_heap:<0.50.0>\n2000:t2:A5:error," +
                value + "\n=end\n";
        return said_by("descriptors", dump);
    };
    CHECK(told(100, "A6:emfile")
              .starts_with("medium: File descriptors are used up: acceptor <0.50.0> holds emfile; 100 "
                           "tcp_inet ports, one for each of 100 "));
    CHECK(told(100, "A6:enfile").starts_with("medium: The machine's file descriptors are used up: "));
    CHECK(told(99, "A6:emfile").empty());
    CHECK(told(100, "A6:enoent").empty());
    // A program that ended the node for it says so.
    const std::string said = told(100, "A6:enoent", "acceptor 1: accept failed: emfile");
    CHECK(said.starts_with(
        "critical: File descriptors are used up: the text that ended the node says emfile; 100 tcp_inet ports, one "));
    CHECK(told(99, "A6:enoent", "accept failed: emfile").empty());
    CHECK(told(100, "A6:enoent", "no_emfile, emfiles").empty());
}
