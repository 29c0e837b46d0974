// SPDX-License-Identifier: Apache-2.0
// A VM that runs and does nothing: schedulers held by functions in C, and a VM that was stopped from outside.
#include <array>
#include <catch2/catch.hpp>

#include "analyses/processes/answers.hpp"
#include "analyses/processes/inventory.hpp"
#include "support/made_findings.hpp"

using namespace beamheap;
using namespace beamheap::test;

namespace {

struct Held : MadeNode {
    Held() {
        s.source.kind = live_kind;
        s.source.live.emplace().pid = 4711;
    }
    /// A scheduler that has the process of this number in hand; `call` empty: it runs.
    void scheduler(std::uint32_t id, std::uint32_t pid, std::string_view call = {},
                   Scheduler::Kind kind = Scheduler::Kind::normal) {
        Scheduler& row = s.schedulers.emplace_back();
        row.kind = kind;
        row.id = id;
        row.current_process = {0, pid, 0};
        row.run_queue[2] = Count(3);
        if (call.empty()) return;
        row.held = SchedulerHold{100, false, text(call)};
        const std::array<Frame, 1> frames{{{.function = function("shop", "show", 1)}}};
        row.stack = s.stacks.intern(frames);
    }
};

}  // namespace

TEST_CASE("a held scheduler is told with its call, what that is on, and who waits there", "[rules][live]") {
    Held node;
    node.process(7);
    node.process(8);
    node.scheduler(1, 8);
    node.scheduler(2, 7, "write() on standard output, a pipe");
    const auto found = of(node.told(), "scheduler-held");
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == analyses::FindingSeverity::high);
    CHECK(found[0].words.find("holds scheduler 2 in write() on standard output, a pipe, from shop:show/1; 3 processes "
                              "wait to run there") != std::string::npos);
    CHECK(found[0].words.find("does not read its output") != std::string::npos);
    const std::string answer =
        present::plain_text(node.s, analyses::schedulers_answer(node.s, analyses::schedulers(node.s)));
    CHECK(answer.find("scheduler 2 is held by") != std::string::npos);
}

TEST_CASE("all schedulers held are critical, a dirty one is medium, one that works is nothing", "[rules][live]") {
    Held all;
    all.process(7);
    all.process(8);
    all.scheduler(1, 7, "futex()");
    all.scheduler(2, 8, "");
    CHECK(of(all.told(), "scheduler-held").at(0).severity == analyses::FindingSeverity::high);
    all.s.schedulers[1].held = SchedulerHold{100, false, all.text("a call of the system")};
    const auto found = of(all.told(), "scheduler-held");
    CHECK(found.at(0).severity == analyses::FindingSeverity::critical);
    CHECK(found.at(0).words.find("All 2 schedulers are held") != std::string::npos);
    CHECK(found.at(0).words.find("a call of the system") != std::string::npos);

    Held dirty;
    dirty.process(7);
    dirty.process(9);
    dirty.scheduler(1, 9);
    dirty.scheduler(5, 7, "openat() on /srv/fifo", Scheduler::Kind::dirty_io);
    const auto one = of(dirty.told(), "scheduler-held");
    CHECK(one.at(0).severity == analyses::FindingSeverity::medium);
    CHECK(one.at(0).words.find("holds dirty scheduler 5 in openat() on /srv/fifo") != std::string::npos);
    dirty.s.schedulers[1].held.reset();
    CHECK(of(dirty.told(), "scheduler-held").empty());
}

TEST_CASE("a VM that was stopped is told first, by what stopped it", "[rules][live]") {
    for (const auto& [halt, words] :
         {std::pair{VmHalt::stopped, "stopped by a signal"}, std::pair{VmHalt::traced, "held by a debugger"},
          std::pair{VmHalt::frozen, "frozen with its control group"}}) {
        Held node;
        node.process(7);
        node.scheduler(1, 7, "write");
        node.s.source.live->halt = halt;
        const auto found = node.told();
        REQUIRE_FALSE(found.empty());
        CHECK(found.front().rule == "node-halted");
        CHECK(found.front().severity == analyses::FindingSeverity::critical);
        CHECK(found.front().words.find(words) != std::string::npos);
        CHECK(found.front().words.find("4711") != std::string::npos);
    }
    Held runs;
    runs.process(7);
    CHECK(of(runs.told(), "node-halted").empty());
}
