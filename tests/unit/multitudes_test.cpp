// SPDX-License-Identifier: Apache-2.0
// What is there in unusual number: each kind at its bound and one below.
#include "analyses/facts/catalogue/multitudes.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "analyses/heaps/largest_collection.hpp"
#include "analyses/heaps/term_digest.hpp"
#include "erlang/owned_term.hpp"
#include "present/spelling.hpp"
#include "support/dump_text.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using Of = Multitude::Of;

namespace {

std::vector<Multitude> found(const Snapshot& s) { return Facts(s).get<Multitudes>().all; }

/// `count` links of one kind of the process added last, each to `to(i)`.
template <class To>
void add_links(test::MadeSnapshot& made, LinkKind kind, std::uint32_t count, To&& to) {
    Process& process = made.s.processes.back();
    process.link_range = {static_cast<std::uint32_t>(made.s.links.size()), count};
    (kind == LinkKind::link ? process.links : process.monitors) = count;
    for (std::uint32_t i = 0; i < count; ++i) {
        Link link;
        link.kind = kind;
        if (kind == LinkKind::resource) link.name = made.text("prim_file");
        else link.pid = {0, to(i), 0};
        made.s.links.push_back(link);
    }
}

std::string said(const std::string& stack, const std::string& dictionary, const std::string& heap, std::uint64_t least,
                 const std::string& others = "") {
    LoadPlan plan = test::everything();
    plan.terms = true;
    const auto dump = test::load(
        test::header() + test::process("<0.50.0>") + others + "=proc_dictionary:<0.50.0>\n" + dictionary +
            "=proc_stack:<0.50.0>\n" + stack +
            "0x00007fad1c217d74:SReturn addr 0x1C217D74 (shop:loop/1 + 596)\n=proc_heap:<0.50.0>\n" + heap + "=end\n",
        plan);
    REQUIRE(dump != nullptr);
    const auto terms = dump->terms(ProcId{0});
    REQUIRE(terms);
    const auto largest = largest_collection(dump->snapshot(), ProcId{0}, **terms, least);
    if (!largest) return "nothing";
    std::string text = fmt::format("{}: {} in {}", largest->count, present::plain_text(dump->snapshot(), largest->what),
                                   present::plain_text(dump->snapshot(), largest->where));
    if (largest->processes.named != 0)
        text += fmt::format("; {} of {} ended", largest->processes.ended, largest->processes.named);
    return text;
}

/// A list of integers of this length from an address on, 16 bytes a cell.
std::string list(unsigned address, unsigned length, const std::string& element) {
    std::string text;
    for (unsigned i = 0; i < length; ++i)
        text += fmt::format("{:X}:l{}|{}\n", address + 16 * i, element,
                            i + 1 == length ? std::string("N") : fmt::format("H{:X}", address + 16 * (i + 1)));
    return text;
}

}  // namespace

TEST_CASE("monitors on whom a process monitors already are many from a thousand on", "[multitudes]") {
    for (const std::uint32_t count : {999u, 1000u}) {
        test::MadeSnapshot made;
        made.idle(1, "feed");
        made.idle(2, "view");
        add_links(made, LinkKind::monitors, count, [](std::uint32_t) { return 1u; });
        const auto all = found(made.s);
        REQUIRE(all.size() == (count == 1000 ? 1 : 0));
        if (count == 1000)
            CHECK((all[0].of == Of::monitors_again && all[0].owner == ProcId{1} && all[0].count == 1000));
    }
}

TEST_CASE("monitors on each of several that are held again count together", "[multitudes]") {
    test::MadeSnapshot made;
    made.idle(1, "registry");
    for (std::uint32_t i = 0; i < 6; ++i) made.idle(2 + i);
    add_links(made, LinkKind::monitors, 3'000, [](std::uint32_t i) { return i % 6; });
    const auto all = found(made.s);
    REQUIRE(all.size() == 1);
    CHECK(all[0].of == Of::monitors_again);
    CHECK(all[0].count == 3'000);
    CHECK(all[0].relations.whom_again == 6);
    CHECK(all[0].relations.to_one == 500);
}

TEST_CASE("links and monitors on others are many where there are fewer processes", "[multitudes]") {
    for (const LinkKind kind : {LinkKind::link, LinkKind::monitors}) {
        for (const std::uint32_t others : {10u, 1200u}) {
            test::MadeSnapshot made;
            for (std::uint32_t i = 0; i < others; ++i) made.idle(10 + i);
            made.idle(5, "pool");
            add_links(made, kind, 1100, [](std::uint32_t i) { return 10 + i; });
            const auto all = found(made.s);
            REQUIRE(all.size() == (others == 10 ? 1 : 0));
            if (others == 10) CHECK(all[0].of == (kind == LinkKind::link ? Of::links : Of::monitors));
        }
    }
}

TEST_CASE("files that other processes have open for one are its files", "[multitudes]") {
    for (const std::uint32_t count : {99u, 100u}) {
        test::MadeSnapshot made;
        made.idle(7, "exporter");
        for (std::uint32_t i = 0; i < count; ++i) {
            made.idle(100 + i);
            made.s.processes.back().current_function = made.function("file_io_server", "server_loop", 1);
            add_links(made, LinkKind::monitors, 1, [](std::uint32_t) { return 7u; });
        }
        const auto all = found(made.s);
        REQUIRE(all.size() == (count == 100 ? 1 : 0));
        if (count == 100) CHECK((all[0].of == Of::resources && all[0].owner == ProcId{0} && all[0].count == 100));
    }
}

TEST_CASE("handlers of an event manager at work are one in each frame", "[multitudes]") {
    for (const std::size_t count : {999u, 1000u}) {
        test::MadeSnapshot made;
        made.idle(7, "events");
        std::vector<FunctionId> frames(count, made.function("gen_event", "server_notify", 4));
        frames.insert(frames.begin(), made.function("timer", "sleep", 1));
        made.s.processes.back().stack = made.stack(frames);
        const auto all = found(made.s);
        REQUIRE(all.size() == (count == 1000 ? 1 : 0));
        if (count == 1000) CHECK((all[0].handlers && all[0].owner == ProcId{0} && all[0].count == 1000));
    }
}

TEST_CASE("open files, tables and modules are many from their bounds on", "[multitudes]") {
    test::MadeSnapshot made;
    made.idle(7, "log");
    add_links(made, LinkKind::resource, 100, [](std::uint32_t) { return 0u; });
    for (int i = 0; i < 250; ++i) {
        EtsTable& table = made.s.ets.emplace_back();
        table.owner = {0, 7, 0};
        table.name = made.text("tenant_" + std::to_string(i));
        Module& module = made.s.modules.emplace_back();
        module.name = made.text("page_" + std::to_string(i));
    }
    const auto all = found(made.s);
    REQUIRE(all.size() == 3);
    CHECK((all[0].of == Of::tables && all[0].count == 250 && all[0].form == "tenant_<int>"));
    CHECK((all[1].of == Of::modules && all[1].count == 250 && all[1].form == "page_<int>"));
    CHECK((all[2].of == Of::resources && all[2].count == 100 && all[2].form == "prim_file"));
    made.s.links.pop_back();
    made.s.processes[0].link_range.count = 99;
    made.s.ets.resize(99);
    made.s.modules.resize(199);
    CHECK(found(made.s).empty());
}

TEST_CASE("processes of one kind that have each started the next are many from fifty on", "[multitudes]") {
    const auto chain = [](std::uint32_t length, std::uint32_t other) {
        test::MadeSnapshot made;
        for (std::uint32_t i = 1; i <= length; ++i) {
            made.process(i, {}, i == 1 ? Pid::none_number : i - 1);
            made.s.processes.back().initial_call = made.function(i == other ? "shop" : "job", "run", 1);
        }
        return found(made.s);
    };
    CHECK(chain(49, 0).empty());
    REQUIRE(chain(50, 0).size() == 1);
    CHECK((chain(50, 0)[0].of == Of::descents && chain(50, 0)[0].count == 50 && chain(50, 0)[0].owner == ProcId{49}));
    CHECK(chain(60, 30).empty());  // of another kind between them

    // as damage may leave it: each has started the other
    test::MadeSnapshot round;
    for (std::uint32_t i = 1; i <= 60; ++i) round.process(i, {}, i == 1 ? 60 : i - 1);
    CHECK(found(round.s).size() <= 1);
}

TEST_CASE("the largest collection is that with the most elements, wherever it is", "[multitudes]") {
    // {state, [7 integers], [5 atoms]} in the frame of a loop
    const std::string heap = "2000:t3:A5:state,H3000,H4000\n" + list(0x3000, 7, "I1") + list(0x4000, 5, "A1:x");
    CHECK(said("y0:H2000\n", "", heap, 5) == "7: a list of 7 integers in its stack > element 2");
    CHECK(said("y0:H2000\n", "", heap, 8) == "nothing");
}

TEST_CASE("entries of a dictionary are counted together", "[multitudes]") {
    std::string dictionary, heap;
    for (unsigned i = 0; i < 6; ++i) {
        dictionary += fmt::format("H{:X}\n", 0x2000 + 64 * i);
        heap += fmt::format("{0:X}:t2:H{1:X},I{2}\n{1:X}:t2:A4:span,I{2}\n", 0x2000 + 64 * i, 0x2020 + 64 * i, i);
    }
    CHECK(said("", dictionary, heap, 6) == "6: 6 entries {span, integer} => integer in its process dictionary");
    CHECK(said("", dictionary, heap, 7) == "nothing");
}

TEST_CASE("elements that name processes which have ended are counted", "[multitudes]") {
    const std::string heap = list(0x3000, 3, "P<0.77.0>") + list(0x3030, 2, "P<0.50.0>");
    std::string one = heap;
    one.replace(one.find("|N"), 2, "|H3030");
    CHECK(said("y0:H3000\n", "", one, 5) == "5: a list of 5 pids in its stack; 3 of 5 ended");
}

TEST_CASE("terms are the same where their parts are, wherever they lie", "[multitudes]") {
    const auto digest = [](const std::string& text, std::uint64_t most = 1000) {
        const auto term = parse_term(text);
        return term_digest(*term, term->term(), most);
    };
    const char* const terms[] = {"[{1,a},{2,b}]",
                                 "[{1,a},{2,c}]",
                                 "[{1,a},{3,b}]",
                                 "[{1,a,2,b}]",
                                 "[[1,a],{2,b}]",
                                 "[{1,a},{2,<<\"b\">>}]",
                                 "[{1,a},{2,<<\"c\">>}]",
                                 "[{1,a},{2,1.5}]",
                                 "[{1,a},{2,1.25}]",
                                 "[{1,a},{2,#{x => 1}}]",
                                 "[{1,a},{2,#{x => 2}}]",
                                 "[{1,a},{2,<0.5.0>}]",
                                 "[{1,a},{2,<0.6.0>}]",
                                 "[{1,a},{2,123456789012345678901234567890}]",
                                 "[{1,a},{2,123456789012345678901234567891}]",
                                 "[]",
                                 "a",
                                 "1"};
    for (const char* const a : terms)
        for (const char* const b : terms) {
            INFO(a << " and " << b);
            CHECK((digest(a) == digest(b)) == (std::string_view(a) == b));
        }
    CHECK(digest("[1,2,3]", 3).has_value());
    CHECK_FALSE(digest("[1,2,3]", 2).has_value());
}
