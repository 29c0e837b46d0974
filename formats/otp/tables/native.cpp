// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/tables/native.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "bytes/unwinder.hpp"

namespace beamheap::otp {
namespace {

constexpr std::uint64_t largest_thread_structure = 8192;  // bytes; threads are further apart, by their stacks

// The JIT writes into anonymous memory, or into a memory file that is mapped twice (asmjit's dual mapping).
bool written_by_jit(Reader& reader, std::uint64_t address) {
    const Image& image = *reader.vm.image;
    if (!image.build().jit) return false;
    if (reader.vm.code.holds(address)) return true;
    const bytes::CoreFile* file = image.notes().file_at(address);
    return file == nullptr || file->path.starts_with("/memfd:");
}

}  // namespace

ThreadRoles::ThreadRoles(const Vm& vm, bytes::MemoryReader& memory) : vm_(vm) {
    struct Pool {
        const std::vector<std::uint64_t>& schedulers;
        Scheduler::Kind kind;
        std::string_view name;
    };
    const Pool pools[] = {{vm.roots.schedulers, Scheduler::Kind::normal, "scheduler"},
                          {vm.roots.dirty_cpu, Scheduler::Kind::dirty_cpu, "dirty_cpu_scheduler"},
                          {vm.roots.dirty_io, Scheduler::Kind::dirty_io, "dirty_io_scheduler"}};
    std::uint32_t number = 0;  // as in the table of schedulers
    for (const Pool& pool : pools)
        for (const std::uint64_t scheduler : pool.schedulers) {
            const auto handle = memory.word(scheduler + vm.layout.at.scheduler_thread);
            if (++number; handle && *handle != 0)
                entries_.push_back(
                    {*handle,
                     {fmt::format("{}:{}", pool.name, number), scheduler, CallingScheduler{pool.kind, number}}});
        }
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.handle < b.handle; });
    std::unordered_map<std::uint64_t, std::size_t> votes;
    for (const bytes::CoreThread& thread : vm.image->notes().threads)
        for (const Entry& entry : entries_)
            if (thread.thread_pointer && *thread.thread_pointer - entry.handle <= largest_thread_structure)
                ++votes[*thread.thread_pointer - entry.handle];
    std::size_t most = 0;
    for (const auto& [distance, count] : votes) {
        if (count < most || (count == most && distance > distance_)) continue;
        most = count;
        distance_ = distance;
    }
}

ThreadRole ThreadRoles::of(const bytes::CoreThread& thread) const {
    if (thread.thread_pointer) {
        for (const Entry& entry : entries_)
            if (entry.handle + distance_ == *thread.thread_pointer) return entry.role;
        return {};
    }
    // The first structure above the stack pointer, if it is in the same mapping.
    const auto above =
        std::upper_bound(entries_.begin(), entries_.end(), thread.stack_pointer,
                         [](std::uint64_t address, const Entry& entry) { return address < entry.handle; });
    if (above == entries_.end()) return {};
    if (vm_.image->core() == nullptr) return {};
    for (const bytes::ElfSegment& segment : vm_.image->core()->segments())
        if (segment.type == bytes::elf::segment_load && segment.address <= thread.stack_pointer &&
            above->handle >= segment.address && above->handle - segment.address < segment.memory_size)
            return above->role;
    return {};
}

NativeThreads read_native_threads(Reader& reader) {
    const Image& image = *reader.vm.image;
    bytes::Unwinder unwinder(image.notes(), image.space(), image.executable(), image.bias());
    const ThreadRoles roles(reader.vm, reader.memory);
    std::unordered_map<std::uint64_t, ProcId> process_at;
    for (std::uint32_t i = 0; i < reader.snapshot.processes.size(); ++i)
        process_at.emplace(reader.snapshot.processes[i].offset, static_cast<ProcId>(i));

    NativeThreads result;
    for (std::size_t i = 0; i < image.notes().threads.size(); ++i) {
        const bytes::CoreThread& core = image.notes().threads[i];
        NativeThread& thread = result.threads.emplace_back();
        thread.id = core.id;
        thread.signal = core.signal;
        const ThreadRole role = roles.of(core);
        thread.role = role.name;
        if (role.scheduler != 0)
            if (const auto process = reader.memory.word(role.scheduler + reader.at.scheduler_process))
                if (const auto known = process_at.find(*process); known != process_at.end())
                    thread.process = known->second;
        bytes::NativeStack stack = unwinder.stack(i);
        for (bytes::NativeFrame& frame : stack.frames) {
            NativeFrame& row = thread.frames.emplace_back();
            row.address = frame.address;
            row.offset = frame.offset;
            row.function = std::move(frame.function);
            row.file = std::move(frame.file);
            if (!row.file.empty() || !written_by_jit(reader, row.address)) continue;
            row.jit = true;
            stack.end.clear();
            const auto place = reader.vm.code.find(reader.memory, row.address);
            if (place) row.erlang = reader.function(place->mfa);
        }
        thread.end = std::move(stack.end);
    }
    result.missing = unwinder.missing();
    return result;
}

}  // namespace beamheap::otp
