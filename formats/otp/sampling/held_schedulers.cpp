// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/sampling/held_schedulers.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "formats/otp/sampling/scheduler_sampler.hpp"

namespace beamheap::otp {
namespace {

constexpr std::size_t stack_bytes = 65536;  // of the thread's, for its way back to Erlang code

// The row of a scheduler; null where the table does not have it.
Scheduler* row_of(Snapshot& snapshot, Scheduler::Kind kind, Pid pid) {
    const auto at = std::ranges::find_if(
        snapshot.schedulers, [&](const Scheduler& row) { return row.kind == kind && row.current_process == pid; });
    return at == snapshot.schedulers.end() ? nullptr : &*at;
}

}  // namespace

std::vector<HeldThread> HeldThreads::look() const {
    std::vector<HeldThread> found;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
        const std::uint64_t in_hand = process_in_hand(reader_.vm, process_, threads_[i]);
        if (in_hand == 0) continue;
        if (auto wait = bytes::thread_wait(process_, threads_[i].thread.id))
            found.push_back({i, in_hand, std::move(*wait)});
    }
    return found;
}

std::vector<HeldThread> HeldThreads::still() const {
    std::vector<HeldThread> now = look();
    std::erase_if(now, [&](const HeldThread& each) {
        return std::ranges::none_of(before_, [&](const HeldThread& was) {
            return was.thread == each.thread && was.process == each.process && each.wait.goes_on_from(was.wait);
        });
    });
    return now;
}

bytes::ThreadSample HeldThreads::sample(const HeldThread& held, std::vector<std::byte>& buffer) const {
    bytes::ThreadSample sample;
    sample.thread = threads_[held.thread].thread.id;
    sample.time = monotonic_ns();
    sample.registers[static_cast<std::size_t>(bytes::X86::rsp)] = held.wait.stack_pointer;
    sample.registers[static_cast<std::size_t>(bytes::X86::rip)] = held.wait.program_counter;
    buffer.resize(stack_bytes);
    sample.stack = bytes::Bytes(buffer.data(), process_.read(held.wait.stack_pointer, buffer) & ~std::size_t{7});
    return sample;
}

void read_held_schedulers(Reader& reader, const bytes::RunningProcess& process) {
    Snapshot& snapshot = reader.snapshot;
    if (reader.at.scheduler_thread == absent ||
        std::ranges::none_of(snapshot.schedulers, [](const Scheduler& row) { return row.current_process.has(); }))
        return;
    const std::vector<SchedulerThread> threads = scheduler_threads(reader.vm, process, process.threads());
    const HeldThreads looks(reader, process, threads);
    if (!looks.any()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(held_look_ms));
    const std::vector<HeldThread> all = looks.still();
    if (all.empty()) return;
    std::unique_ptr<SchedulerSampler> sampler;
    if (auto made = SchedulerSampler::make({reader, process})) sampler = std::move(*made);
    std::vector<std::byte> buffer;
    for (const HeldThread& each : all) {
        std::byte id[8];
        if (process.read(each.process, id) != sizeof id) continue;
        Scheduler* row = row_of(snapshot, threads[each.thread].thread.kind, reader.pid(bytes::load<std::uint64_t>(id)));
        if (row == nullptr) continue;
        SchedulerHold& held = row->held.emplace();
        held.least_ms = held_look_ms;
        held.uninterruptible = each.wait.state == 'D';
        held.in = snapshot.texts.intern(each.wait.words());
        if (sampler == nullptr) continue;
        sampler->threads_stand(true);
        const ResolvedSample resolved = sampler->resolve_held(looks.sample(each, buffer), each.process);
        if (resolved.process.address == each.process) row->stack = sampler->stack(resolved.frames);
    }
}

}  // namespace beamheap::otp
