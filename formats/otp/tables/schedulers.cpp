// SPDX-License-Identifier: Apache-2.0
// Schedulers and run queues (erl_process.h).
#include <algorithm>

#include "formats/otp/processes/process_table.hpp"
#include "formats/otp/tables/tables.hpp"

namespace beamheap::otp {
namespace {

using bytes::load;

constexpr const char* sleep_names[] = {"SLEEPING", "POLL_SLEEPING", "TSE_SLEEPING", "WAITING", "SUSPENDED", "MSB_EXEC"};

void run_queue(Reader& reader, std::uint64_t queue, Scheduler& row) {
    const Offsets& at = reader.at;
    const std::byte* p = queue == 0 ? nullptr : reader.memory.at(queue, at.run_queue_ports + 4);
    if (p == nullptr) return;
    for (std::size_t priority = 0; priority < 4; ++priority)
        row.run_queue[priority] = load<std::uint32_t>(p + at.run_queue_priorities + priority * at.run_queue_info_size);
    row.run_queue[4] = load<std::uint32_t>(p + at.run_queue_ports);
}

void add(Reader& reader, std::uint64_t address, Scheduler::Kind kind, std::uint32_t id) {
    const Offsets& at = reader.at;
    Scheduler row;
    row.kind = kind;
    row.id = id;
    const auto process = reader.memory.word(address + at.scheduler_process).value_or(0);
    if (process != 0) {
        for (const Process& known : reader.snapshot.processes) {
            if (known.offset != process) continue;
            row.current_process = known.pid;
            row.process_state = known.state;
            row.process_internal_state = known.internal_state;
            row.stack = known.stack;
            break;
        }
    }
    const auto port = reader.memory.word(address + at.scheduler_port).value_or(0);
    if (port != 0) row.current_port = reader.port(reader.memory.word(port).value_or(0));
    const auto sleep = reader.memory.word(address + at.scheduler_sleep).value_or(0);
    if (sleep != 0) {
        if (const auto flags = reader.memory.word32(sleep + at.sleep_flags)) {
            std::string text;
            for (std::size_t i = 0; i < std::size(sleep_names); ++i)
                if ((*flags >> i & 1) != 0) (text += text.empty() ? "" : " | ") += sleep_names[i];
            if (!text.empty()) row.sleep_flags = reader.snapshot.texts.intern(text);
        }
    }
    if (kind == Scheduler::Kind::normal)
        run_queue(reader, reader.memory.word(address + at.scheduler_run_queue).value_or(0), row);
    reader.snapshot.schedulers.push_back(row);
}

}  // namespace

void read_schedulers(Reader& reader) {
    struct Group {
        const std::vector<std::uint64_t>* list;
        Scheduler::Kind kind, queue;
    };
    const Group groups[] = {{&reader.vm.roots.schedulers, Scheduler::Kind::normal, Scheduler::Kind::normal},
                            {&reader.vm.roots.dirty_cpu, Scheduler::Kind::dirty_cpu, Scheduler::Kind::dirty_cpu_queue},
                            {&reader.vm.roots.dirty_io, Scheduler::Kind::dirty_io, Scheduler::Kind::dirty_io_queue}};
    std::uint32_t id = 0;  // goes on from kind to kind, as crash dumps number them
    for (const Group& group : groups) {
        for (const std::uint64_t address : *group.list) add(reader, address, group.kind, ++id);
        if (group.kind == Scheduler::Kind::normal || group.list->empty()) continue;
        // Dirty schedulers of a kind share one queue.
        Scheduler shared;
        shared.kind = group.queue;
        run_queue(reader, reader.memory.word(group.list->front() + reader.at.scheduler_run_queue).value_or(0), shared);
        reader.snapshot.schedulers.push_back(shared);
    }
}

}  // namespace beamheap::otp
