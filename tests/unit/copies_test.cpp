// SPDX-License-Identifier: Apache-2.0
// The same again and again: copies of one term, persistent terms by their keys, rows that look alike, and what goes on
// behind a wait.
#include "analyses/heaps/copies.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analyses/diagnosis/follow.hpp"
#include "analyses/facts/catalogue/persistent_keys.hpp"
#include "analyses/facts/catalogue/shared_copies.hpp"
#include "analyses/heaps/term_shape.hpp"
#include "analyses/processes/named_waits.hpp"
#include "present/spelling.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace copies_test {
namespace {

/// A list of `length` integers from an address on, 16 bytes a cell; the first of them is `first`.
std::string integers(unsigned address, unsigned length, int first = 1) {
    std::string text;
    for (unsigned i = 0; i < length; ++i)
        text += fmt::format("{:X}:lI{}|{}\n", address + 16 * i, i == 0 ? first : 7,
                            i + 1 == length ? std::string("N") : fmt::format("H{:X}", address + 16 * (i + 1)));
    return text;
}

/// The largest part that these values, variables of a frame, have in common: its words, and how many have it.
std::string common(unsigned values, const std::string& stack, const std::string& heap) {
    LoadPlan plan = test::everything();
    plan.terms = true;
    const auto dump = test::load(test::header() + test::process("<0.50.0>") + "=proc_stack:<0.50.0>\n" + stack +
                                     "0x00007fad1c217d74:SReturn addr 0x1C217D74 (shop:loop/1 + 596)\n"
                                     "=proc_heap:<0.50.0>\n" +
                                     heap + "=end\n",
                                 plan);
    REQUIRE(dump != nullptr);
    const auto terms = dump->terms(ProcId{0});
    REQUIRE(terms);
    TermMeasures measures(**terms);
    CommonParts parts;
    for (unsigned i = 0; i < values; ++i) {
        const Element value = (*terms)->root(i);
        parts.add(**terms, measures, std::span(&value, 1));
    }
    const auto best = parts.best(values);
    if (!best) return "nothing";
    return fmt::format("{} of {} words in {}", present::plain_text(dump->snapshot(), best->what), best->words,
                       best->samples.size());
}

}  // namespace

TEST_CASE("what several terms have at different addresses are copies", "[copies]") {
    std::string stack, heap, shared_stack;
    for (unsigned i = 0; i < 4; ++i) {
        // {Number, [7, 7, ...]}
        heap += fmt::format("{:X}:t2:I{},H{:X}\n", 0x10000 + 0x100 * i, i, 0x20000 + 0x1000 * i) +
                integers(0x20000 + 0x1000 * i, 64);
        stack += fmt::format("y{}:H{:X}\n", i, 0x10000 + 0x100 * i);
    }
    CHECK(common(4, stack, heap) == "a list of 64 integers of 128 words in 4");
    CHECK(common(3, stack, heap) == "nothing");  // few
    // One in four may differ, two may not.
    std::string others = heap;
    const auto change = [&](unsigned i) {
        const std::string from = fmt::format("{:X}:lI1|", 0x20000 + 0x1000 * i);
        others.replace(others.find(from), from.size(), fmt::format("{:X}:lI2|", 0x20000 + 0x1000 * i));
    };
    std::string five = stack + "y4:H10400\n";
    others += fmt::format("10400:t2:I4,H24000\n") + integers(0x24000, 64);
    CHECK(common(5, five, others) == "a list of 64 integers of 128 words in 5");
    change(0);
    CHECK(common(5, five, others) == "a list of 64 integers of 128 words in 4");
    change(1);
    CHECK(common(5, five, others) == "nothing");
    // What all of them share lies there once.
    std::string shared = integers(0x20000, 64);
    for (unsigned i = 0; i < 4; ++i) shared += fmt::format("{:X}:t2:I{},H20000\n", 0x10000 + 0x100 * i, i);
    CHECK(common(4, stack, shared) == "nothing");
    // Of one with 63 cells there is too little.
    std::string small;
    for (unsigned i = 0; i < 4; ++i)
        small += fmt::format("{:X}:t2:I{},H{:X}\n", 0x10000 + 0x100 * i, i, 0x20000 + 0x1000 * i) +
                 integers(0x20000 + 0x1000 * i, 63);
    CHECK(common(4, stack, small) == "nothing");
}

TEST_CASE("persistent terms are told by the form of their keys", "[copies]") {
    std::string literals, table;
    for (unsigned i = 0; i < 3; ++i) {
        literals +=
            fmt::format("{:X}:t3:A3:geo,A6:ranges,I{}\n", 0x10000 + 0x100 * i, i) + integers(0x20000 + 0x1000 * i, 10);
        table += fmt::format("H{:X}|H{:X}\n", 0x10000 + 0x100 * i, 0x20000 + 0x1000 * i);
    }
    LoadPlan plan = test::everything();
    plan.terms = true;
    const auto dump = test::load(test::header() + test::process("<0.50.0>") + "=literals\n" + literals +
                                     "=persistent_terms\n" + table + "A4:shop|I5\nH77777|H77778\n=end\n",
                                 plan);
    REQUIRE(dump != nullptr);
    const auto all = dump->persistent_terms();
    REQUIRE(all);
    REQUIRE(all->entries.size() == 5);
    CHECK(all->entries[3].key.text == "shop");
    CHECK(all->entries[3].value.number == 5);
    CHECK(all->entries[4].key.kind == ElementKind::missing);
    const Facts facts(dump->snapshot());
    const auto keys = find_fact(FactOf<PersistentKeys>(), facts, *dump);
    REQUIRE(keys);
    REQUIRE(keys->families.size() == 3);
    CHECK(present::plain_text(dump->snapshot(), keys->families[0].form) == "{geo, ranges, integer}");
    CHECK(keys->families[0].keys == 3);
    CHECK(keys->families[0].words == 60);
    CHECK(keys->families[1].words == 0);
}

TEST_CASE("lists with as many elements of several kinds are told place by place", "[copies]") {
    const auto said = [](const std::string& text) {
        const auto term = parse_term(text);
        const Element top = term->term();
        return present::plain_text(test::MadeSnapshot().s, shape_in_words(*term, top));
    };
    CHECK(said("[[get,1,<<\"/a\">>],[get,2,<<\"/b\">>],[get,3,<<\"/c\">>],[get,4,<<\"/d\">>]]") ==
          "a list of 4 [get, integer, <<\"/...\">>]");
    CHECK(said("[[get,1],[get,2],[get,3]]") == "a list of 3 [get or integer, ...]");        // few
    CHECK(said("[[get,1],[get,2],[get,3],[get]]") == "a list of 4 [get or integer, ...]");  // not as many in each
    CHECK(said("[[1,2],[1,2],[1,2],[1,2]]") == "a list of 4 [integer, ...]");
}

namespace {

struct Waiting : test::MadeNode {
    void names(std::uint32_t target, std::uint32_t node_number = 0) {
        StackSlot held;
        held.kind = StackSlot::Kind::pid;
        held.pid = {node_number, target, 0};
        held.process = static_cast<ProcId>(s.processes.size() - 1);
        s.slots.push_back(held);
    }
    Process& asks(std::uint32_t number, std::uint32_t target) {
        Process& p = at(number, {function("shop", "ask", 1), function("shop", "work", 2)});
        names(target);
        return p;
    }
};

}  // namespace

TEST_CASE("who has ended is named where nobody else is, and all processes are known", "[copies]") {
    Waiting node;
    node.idle(1);
    node.asks(2, 77);
    node.asks(3, 1);
    node.asks(4, 77);
    node.names(78);
    node.asks(5, 77);
    node.names(77);
    node.asks(6, 6);
    node.at(7, {node.function("shop", "ask", 1), node.function("shop", "work", 2)});
    node.names(77, 9);  // of another node
    Snapshot& s = node.seal();
    s.source.process_table_complete = true;
    const Pid gone{0, 77, 0}, none;
    CHECK(only_named_ended(s) == std::vector<Pid>{none, gone, none, none, gone, none, none});
    s.source.loss.processes = 1;
    CHECK(only_named_ended(s) == std::vector<Pid>(7));
}

TEST_CASE("waits for processes that have ended are told as such", "[copies]") {
    for (const std::uint32_t gone : {30u, 29u}) {
        Waiting node;
        for (std::uint32_t i = 0; i < 20; ++i) node.idle(i + 1);
        for (std::uint32_t i = 0; i < 40; ++i) node.asks(100 + i, i < gone ? 90 + i % 3 : 1);
        node.seal().source.process_table_complete = true;
        const auto place = test::of(node.told(), "same-place");
        REQUIRE(place.size() == 1);
        const bool told = gone == 30;
        CHECK((place[0].title_alone().find("; each names a process that has ended, like <0.90.0>") !=
               std::string::npos) == told);
        CHECK((place[0].title_alone().find("nobody is there") != std::string::npos) == false);
    }
}

}  // namespace copies_test
