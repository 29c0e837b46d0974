// SPDX-License-Identifier: Apache-2.0
// Many state machines of one kind: in which of their states they are, and what they are not called by.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>

#include "analyses/facts/catalogue/state_names.hpp"
#include "support/dump_text.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

std::string atom(std::string_view name) { return fmt::format("A{:X}:{}", name.size(), name); }

/// A dump with so many gen_fsms of put_fsm below <0.5.0>, one in `each` in the state `remote`, others in `finish`.
std::string of_machines(std::size_t count, std::size_t each) {
    std::string text = test::header(), terms;
    text += test::process("<0.5.0>", "Name: sidejob\n");
    for (std::size_t i = 0; i < count; ++i) {
        const std::string pid = fmt::format("<0.{}.0>", 10 + i);
        const std::uint64_t heap = 0x7F0000000000u + i * 0x10000u;
        text +=
            test::process(pid,
                          "Spawned as: proc_lib:init_p/5\nSpawned by: <0.5.0>\nReductions: 60\nLink list: [<0.5.0>]\n"
                          "Program counter: 0x00007f3a1c0 (gen_fsm:loop/8 + 128)\n");
        terms += fmt::format("=proc_dictionary:{}\nH{:X}\n", pid, heap);
        terms +=
            fmt::format("=proc_stack:{}\n0x00007fad1c217d74:SReturn addr 0x1C217D74 (gen_fsm:loop/8 + 128)\n", pid);
        terms += fmt::format("y0:N\ny1:N\ny2:{}\ny3:{}\ny4:H{:X}\ny5:{}\ny6:P{}\ny7:P<0.5.0>\n", atom("infinity"),
                             atom("put_fsm"), heap + 0x100, atom(i % each == 0 ? "remote" : "finish"), pid);
        terms +=
            fmt::format("=proc_heap:{0}\n{1:X}:t2:{2},H{3:X}\n{3:X}:t3:{4},{5},I1\n{6:X}:t2:{7},I1\n", pid, heap,
                        atom("$initial_call"), heap + 0x40, atom("put_fsm"), atom("init"), heap + 0x100, atom("state"));
    }
    return text + terms + "=atoms\nok\n=end\n";
}

struct Seen {
    std::string state, multitude;
    std::uint64_t looked = 0, in_it = 0;
    bool labelled = false;
};

Seen seen_in(const std::string& dump) {
    Facts facts{FactOptions{}};
    LoadPlan plan;
    facts.need(plan);
    const auto loaded = test::load(dump, plan);
    REQUIRE(loaded != nullptr);
    facts.bind(*loaded);
    Seen seen;
    for (const StateOfKind& each : facts.get<StateNames>().all)
        seen.state = each.name, seen.looked = each.looked, seen.in_it = each.in_it;
    for (const Finding& finding : run_rules(facts))
        if (finding.rule == "multitude") seen.multitude += present::plain_text(loaded->snapshot(), finding.title);
    for (const Process& process : loaded->snapshot().processes) seen.labelled |= process.label != TextId::none;
    return seen;
}

}  // namespace

TEST_CASE("the state that most of many state machines are in is told, of some that are looked at", "[machines]") {
    const Seen all = seen_in(of_machines(1'000, 100'000));
    CHECK(all.state == "finish");
    CHECK(all.looked == 16);
    CHECK(all.in_it == 15);  // the first is one of those
    CHECK(all.multitude.find("all have been idle since they began, of which 15 of 16 that were looked at are in their "
                             "state finish, and nobody else") != std::string::npos);
    CHECK_FALSE(all.labelled);  // the name of its state is no name of a process
    CHECK(seen_in(of_machines(47, 100'000)).looked == 0);
    const Seen mixed = seen_in(of_machines(1'000, 2));
    CHECK(mixed.multitude.find("in their state") == std::string::npos);
}
