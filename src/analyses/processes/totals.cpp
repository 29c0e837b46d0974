// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/totals.hpp"

#include <bit>

namespace beamheap::analyses {
namespace {

Count area(const Snapshot& snapshot, std::string_view name) {
    for (const NamedBytes& entry : snapshot.areas)
        if (snapshot.text(entry.name) == name) return entry.bytes;
    return {};
}

// Slots of the process or port table. The newer tables are powers of two, which tells the two 64-bit layouts of a
// halfword emulator (32-bit terms, 64-bit pointers) from those of a 32-bit one.
Count table_slots(const Snapshot& snapshot, std::string_view name) {
    const Count bytes = area(snapshot, name);
    if (!bytes.has()) return {};
    const std::uint64_t word = snapshot.source.word_size == 4 ? 4 : 8;
    if (!area(snapshot, "port_table").has()) return *bytes / word;
    const std::uint64_t slots = *bytes / (word + 4);
    if (word == 4 && !std::has_single_bit(slots) && std::has_single_bit(*bytes / 12)) return *bytes / 12;
    return slots;
}

const VmTable* atom_table(const Snapshot& snapshot) {
    for (const VmTable& table : snapshot.vm_tables)
        if (table.index && snapshot.text(table.name) == "atom_tab") return &table;
    return nullptr;
}

Fill fill(Count used, Count limit) { return {used, limit, percent_of(used, limit)}; }

}  // namespace

Count process_limit(const Snapshot& snapshot) {
    return snapshot.node.process_limit.has() ? snapshot.node.process_limit : table_slots(snapshot, "process_table");
}

Count port_limit(const Snapshot& snapshot) {
    return snapshot.node.port_limit.has() ? snapshot.node.port_limit : table_slots(snapshot, "port_table");
}

Count atom_limit(const Snapshot& snapshot) {
    if (snapshot.node.atom_limit.has()) return snapshot.node.atom_limit;
    const VmTable* table = atom_table(snapshot);
    return table == nullptr ? Count() : table->limit;
}

Count atom_count(const Snapshot& snapshot) {
    const VmTable* table = atom_table(snapshot);
    return table != nullptr && table->entries.has() ? table->entries : snapshot.node.atoms;
}

Totals totals(const Snapshot& snapshot) {
    Totals totals;
    totals.processes = snapshot.processes.size();
    totals.ports = snapshot.ports.size();
    totals.ets_tables = snapshot.ets.size();
    totals.timers = snapshot.timers.size();
    if (!snapshot.modules.empty()) totals.modules = snapshot.modules.size();  // every node has some
    for (const Process& process : snapshot.processes) {
        totals.registered += process.name != TextId::none;
        totals.messages.add(process.msgq_len);
        totals.memory_bytes.add(process.memory_bytes);
        totals.heap_words.add(process.heap_words);
        totals.old_heap_words.add(process.old_heap_words);
        totals.fragment_words.add(process.fragment_words);
        totals.stack_words.add(process.stack_words);
        totals.reductions.add(process.reductions);
        ++totals.by_state[static_cast<std::size_t>(process.state)];
    }
    for (const EtsTable& table : snapshot.ets) {
        totals.ets_objects.add(table.objects);
        totals.ets_bytes.add(words_to_bytes(table.words, snapshot.source.word_size));
    }
    for (const Port& port : snapshot.ports) totals.port_queue_bytes.add(port.queue_bytes);
    totals.process_fill = fill(totals.processes, process_limit(snapshot));
    totals.port_fill = fill(totals.ports, port_limit(snapshot));
    totals.atom_fill = fill(atom_count(snapshot), atom_limit(snapshot));
    totals.lower_bounds = !snapshot.source.process_table_complete || snapshot.source.loss.any() ||
                          snapshot.anomalies.seen(Anomaly::count_mismatch);
    return totals;
}

Death death(const Snapshot& snapshot) {
    Death death;
    for (std::size_t i = 0; i < snapshot.processes.size(); ++i) {
        const ProcessState state = snapshot.processes[i].state;
        if (state == ProcessState::running) death.running.push_back(static_cast<ProcId>(i));
        if (state == ProcessState::garbage_collecting) death.collecting.push_back(static_cast<ProcId>(i));
    }
    const auto found = [&](DeathEvidence evidence, const Pid& pid, ProcessState state) {
        death.evidence = evidence;
        death.pid = pid;
        death.process = snapshot.find(pid);
        death.state = state;
        if (state == ProcessState::unknown && death.process != ProcId::none)
            death.state = snapshot[death.process].state;
    };
    const auto found_on = [&](DeathEvidence evidence, std::size_t index) {
        death.scheduler = index;
        const Scheduler& scheduler = snapshot.schedulers[index];
        if (scheduler.current_process.has()) found(evidence, scheduler.current_process, scheduler.process_state);
    };

    const std::optional<CallingScheduler>& calling = snapshot.node.calling_scheduler;
    if (calling && calling->kind) {
        for (std::size_t i = 0; i < snapshot.schedulers.size(); ++i) {
            const Scheduler& scheduler = snapshot.schedulers[i];
            if (scheduler.kind != *calling->kind || scheduler.id != calling->id) continue;
            found_on(DeathEvidence::calling_thread, i);
            return death;
        }
    }
    if (calling && !calling->kind) {
        std::vector<std::size_t> busy, collecting;
        for (std::size_t i = 0; i < snapshot.schedulers.size(); ++i) {
            const Scheduler& scheduler = snapshot.schedulers[i];
            const bool dirty =
                scheduler.kind == Scheduler::Kind::dirty_cpu || scheduler.kind == Scheduler::Kind::dirty_io;
            if (!dirty || !scheduler.current_process.has()) continue;
            busy.push_back(i);
            if (scheduler.process_state == ProcessState::garbage_collecting) collecting.push_back(i);
        }
        const std::vector<std::size_t>& candidates = collecting.empty() ? busy : collecting;
        if (candidates.size() == 1) {
            found_on(DeathEvidence::dirty_scheduler, candidates[0]);
            return death;
        }
        if (candidates.size() > 1) {
            death.evidence = DeathEvidence::one_of_several;
            death.candidates = candidates;
            return death;
        }
    }
    // A thread that is no scheduler (a signal's, a driver's) runs no process.
    if (!snapshot.node.calling_thread.empty() && !calling) return death;
    if (death.collecting.size() == 1) {
        found(DeathEvidence::only_collecting, snapshot[death.collecting[0]].pid, ProcessState::garbage_collecting);
    } else if (death.collecting.empty() && death.running.size() == 1 && !(calling && calling->kind)) {
        found(DeathEvidence::only_running, snapshot[death.running[0]].pid, ProcessState::running);
    }
    return death;
}

}  // namespace beamheap::analyses
