// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "analyses/processes/totals.hpp"
#include "support/made_snapshot.hpp"

using namespace beamheap;
using namespace beamheap::analyses;
using test::MadeSnapshot;

namespace {

void area(MadeSnapshot& m, std::string_view name, std::uint64_t bytes) {
    m.s.areas.push_back({m.text(name), bytes, Count()});
}
Scheduler& scheduler(MadeSnapshot& m, Scheduler::Kind kind, std::uint32_t id) {
    Scheduler scheduler;
    scheduler.kind = kind;
    scheduler.id = id;
    m.s.schedulers.push_back(scheduler);
    return m.s.schedulers.back();
}

}  // namespace

TEST_CASE("an empty snapshot has totals", "[totals]") {
    const Totals all = totals(Snapshot{});
    CHECK(all.processes == 0);
    CHECK(all.messages.value() == Count(0));
    CHECK(!all.process_fill.limit.has());
    CHECK(!all.process_fill.percent);
    CHECK(!all.atom_fill.used.has());
    CHECK(death(Snapshot{}).evidence == DeathEvidence::none);
}

TEST_CASE("totals add up and say where they are lower bounds", "[totals]") {
    MadeSnapshot m;
    m.process(1, "a").msgq_len = 3;
    m.process(2).msgq_len = 4;
    m.process(3).msgq_len = Count();
    m.s.processes[0].memory_bytes = 10;
    m.s.processes[1].state = ProcessState::exiting;
    m.s.ets.emplace_back().words = 100;
    m.s.ets.emplace_back().words = std::numeric_limits<std::uint64_t>::max() - 1;
    m.s.source.process_table_complete = false;
    const Totals all = totals(m.seal());
    CHECK(all.processes == 3);
    CHECK(all.registered == 1);
    CHECK(all.messages.value() == Count(7));
    CHECK(all.messages.missing() == 1);
    CHECK(all.memory_bytes.value() == Count(10));
    CHECK(all.memory_bytes.missing() == 2);
    CHECK(!all.heap_words.value().has());
    CHECK(all.by_state[static_cast<std::size_t>(ProcessState::waiting)] == 2);
    CHECK(all.by_state[static_cast<std::size_t>(ProcessState::exiting)] == 1);
    CHECK(all.ets_bytes.value() == Count(std::numeric_limits<std::uint64_t>::max() - 1));
    CHECK(all.lower_bounds);
}

TEST_CASE("limits come from the tables' sizes", "[totals]") {
    const auto limits = [](std::uint32_t word, std::uint64_t processes, std::uint64_t ports) {
        MadeSnapshot m;
        m.s.source.word_size = word;
        area(m, "process_table", processes);
        if (ports != 0) area(m, "port_table", ports);
        return std::pair(process_limit(m.s), port_limit(m.s));
    };
    // Observed: OTP 25 and 27 on 64-bit, R16B01 on 32-bit, R15B on 64-bit and 32-bit (no port table).
    CHECK(limits(8, 3145728, 786432) == std::pair(Count(262144), Count(65536)));
    CHECK(limits(8, 12582912, 98304) == std::pair(Count(1048576), Count(8192)));
    CHECK(limits(4, 2097152, 524288) == std::pair(Count(262144), Count(65536)));
    CHECK(limits(8, 262144, 0) == std::pair(Count(32768), Count()));
    CHECK(limits(4, 131072, 0) == std::pair(Count(32768), Count()));
    // A halfword emulator: 4-byte terms, 8-byte pointers.
    CHECK(limits(4, 3145728, 786432) == std::pair(Count(262144), Count(65536)));

    MadeSnapshot m;
    area(m, "process_table", 3145728);
    m.s.node.process_limit = 7;
    CHECK(process_limit(m.s) == Count(7));
    m.s.node.atoms = 9000;
    CHECK(atom_count(m.s) == Count(9000));
    VmTable hash;
    hash.name = m.text("atom_tab");
    hash.limit = 1;
    VmTable table = hash;
    table.index = true;
    table.limit = 8500;
    table.entries = 9216;
    m.s.vm_tables = {hash, table};
    CHECK(atom_limit(m.s) == Count(8500));
    const Totals all = totals(m.seal());
    CHECK(all.atom_fill.used == Count(9216));
    CHECK(*all.atom_fill.percent == Approx(108.42).epsilon(0.001));
}

TEST_CASE("who died: the calling thread's process", "[totals]") {
    MadeSnapshot m;
    m.process(1).state = ProcessState::running;
    m.process(2).state = ProcessState::garbage_collecting;
    m.process(3).state = ProcessState::running;
    scheduler(m, Scheduler::Kind::normal, 1).current_process = {0, 1, 0};
    Scheduler& second = scheduler(m, Scheduler::Kind::normal, 2);
    second.current_process = {0, 2, 0};
    second.process_state = ProcessState::garbage_collecting;
    scheduler(m, Scheduler::Kind::normal, 3);
    m.s.node.calling_thread = "scheduler:2";
    m.s.node.calling_scheduler = CallingScheduler{Scheduler::Kind::normal, 2};
    const Snapshot& s = m.seal();
    Death d = death(s);
    CHECK(d.evidence == DeathEvidence::calling_thread);
    CHECK(d.pid == Pid{0, 2, 0});
    CHECK(s[d.process].pid.number == 2);
    CHECK(d.state == ProcessState::garbage_collecting);
    CHECK(d.scheduler == 1u);
    CHECK(d.running.size() == 2);
    CHECK(d.collecting.size() == 1);
    // A scheduler without a process: nobody, whoever collects elsewhere.
    m.s.node.calling_scheduler = CallingScheduler{Scheduler::Kind::normal, 3};
    d = death(m.s);
    CHECK(d.evidence == DeathEvidence::none);
    CHECK(d.scheduler == 2u);
    // A process that is no longer in the table still has its pid and the scheduler's word for its state.
    m.s.schedulers[2].current_process = {0, 99, 0};
    m.s.schedulers[2].process_state = ProcessState::exiting;
    d = death(m.s);
    CHECK(d.evidence == DeathEvidence::calling_thread);
    CHECK(d.process == ProcId::none);
    CHECK(d.state == ProcessState::exiting);
    // A thread that is no scheduler.
    m.s.node.calling_thread = "sys_sig_dispatcher";
    m.s.node.calling_scheduler.reset();
    CHECK(death(m.s).evidence == DeathEvidence::none);
    // No word of the thread (before 18): the only one that was collecting.
    m.s.node.calling_thread.clear();
    d = death(m.s);
    CHECK(d.evidence == DeathEvidence::only_collecting);
    CHECK(d.pid.number == 2);
}

TEST_CASE("who died: a dirty scheduler", "[totals]") {
    MadeSnapshot m;
    m.process(1).state = ProcessState::running;
    m.process(2).state = ProcessState::garbage_collecting;
    scheduler(m, Scheduler::Kind::normal, 1);
    Scheduler& dirty = scheduler(m, Scheduler::Kind::dirty_cpu, 2);
    dirty.current_process = {0, 2, 0};
    dirty.process_state = ProcessState::garbage_collecting;
    m.s.node.calling_thread = "scheduler:0";
    m.s.node.calling_scheduler = CallingScheduler{};
    m.seal();
    CHECK(death(m.s).evidence == DeathEvidence::dirty_scheduler);
    CHECK(death(m.s).pid.number == 2);
    // Two dirty ones that are busy: the one that collects garbage.
    scheduler(m, Scheduler::Kind::dirty_io, 3).current_process = {0, 1, 0};
    CHECK(death(m.s).pid.number == 2);
    // Nothing tells two that collect apart (seen in a dump of OTP 25), nor two that run.
    m.s.schedulers[2].process_state = ProcessState::garbage_collecting;
    CHECK(death(m.s).evidence == DeathEvidence::one_of_several);
    CHECK(death(m.s).candidates == std::vector<std::size_t>{1, 2});
    CHECK(!death(m.s).pid.has());
    m.s.schedulers[1].process_state = m.s.schedulers[2].process_state = ProcessState::running;
    CHECK(death(m.s).evidence == DeathEvidence::one_of_several);
    // No dirty scheduler has a process: the only one that collects garbage.
    m.s.schedulers[1].current_process = m.s.schedulers[2].current_process = Pid();
    CHECK(death(m.s).evidence == DeathEvidence::only_collecting);
    m.s.processes[1].state = ProcessState::running;
    CHECK(death(m.s).evidence == DeathEvidence::none);
}
