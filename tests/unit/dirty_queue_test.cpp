// SPDX-License-Identifier: Apache-2.0
// Who is in the queue of busy dirty schedulers, and who waits for such a one.
#include <catch2/catch.hpp>
#include <string>

#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::analyses;

namespace {

struct Queued : test::MadeNode {
    /// The process that was added last is in a call of another one: it monitors that, and the reference is on its
    /// stack.
    void waits_for(std::uint32_t target) {
        Link link;
        link.kind = LinkKind::monitors;
        link.pid = {0, target, 0};
        link.ref = {1, 2, static_cast<std::uint32_t>(s.links.size())};
        s.processes.back().link_range = {static_cast<std::uint32_t>(s.links.size()), 1};
        s.links.push_back(link);
        StackSlot held;
        held.kind = StackSlot::Kind::reference;
        held.words = 3;
        held.ref = link.ref;
        held.process = static_cast<ProcId>(s.processes.size() - 1);
        s.slots.push_back(held);
    }
    void scheduler(Scheduler::Kind kind, std::uint32_t running, std::uint64_t queued) {
        Scheduler& one = s.schedulers.emplace_back();
        one.kind = kind;
        one.id = static_cast<std::uint32_t>(s.schedulers.size());
        if (running != 0) one.current_process = {0, running, 0};
        one.run_queue = {0, 0, queued, 0, 0};
    }
};

/// "high: All 2 dirty ...": code_server is in the queue, with such flags, and so many are in a call of it.
std::string behind(std::uint32_t callers, std::string_view flags) {
    Queued made;
    for (std::uint32_t i = 0; i < 2; ++i) {
        made.at(10 + i, {made.function("prim_file", "open", 2), made.function("shop", "loads", 1)}, "");
        made.scheduler(Scheduler::Kind::dirty_io, 10 + i, 0);
    }
    made.scheduler(Scheduler::Kind::dirty_io_queue, 0, 1);
    Process& queued = made.at(20, {made.function("prim_file", "read", 1)}, "code_server");
    queued.state = ProcessState::runnable;
    queued.internal_state = made.text(flags);
    for (std::uint32_t i = 0; i < callers; ++i) {
        made.at(30 + i, {made.function("code_server", "call", 1), made.function("shop", "loads", 1)}, "");
        made.waits_for(20);
    }
    const auto found = test::of(made.told(), "dirty-schedulers");
    return found.empty() ? "" : std::string(name_of(found[0].severity)) + ": " + found[0].title_alone();
}

}  // namespace

TEST_CASE("who waits for one that waits for a dirty scheduler waits with it", "[dirty]") {
    CHECK(behind(85, "ACT_PRIO_NORMAL | IN_RUNQ | DIRTY_IO_PROC") ==
          "high: All 2 dirty I/O schedulers are busy, all in prim_file:open/2, called by shop:loads/1; code_server "
          "<0.20.0> waits for one, and 85 processes wait for that one");
    CHECK(behind(1, "IN_RUNQ | DIRTY_IO_PROC").starts_with("medium: "));
    CHECK(behind(85, "IN_RUNQ | DIRTY_CPU_PROC").empty());
    CHECK(behind(0, "IN_RUNQ | DIRTY_IO_PROC").empty());
}
