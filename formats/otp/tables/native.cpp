#include "formats/otp/tables/native.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "bytes/unwinder.hpp"

namespace beamheap::otp {

namespace {

// The JIT writes into anonymous memory, or into a memory file that is mapped twice (asmjit's dual mapping).
bool written_by_jit(Reader& reader, std::uint64_t address) {
    const Image& image = *reader.vm.image;
    if (!image.build().jit) return false;
    if (reader.vm.code.holds(address)) return true;
    const bytes::CoreFile* file = image.notes().file_at(address);
    return file == nullptr || file->path.starts_with("/memfd:");
}

}  // namespace

ThreadRole thread_role(Reader& reader, const bytes::CoreThread& thread) {
    const Roots& roots = reader.vm.roots;
    const std::pair<const std::vector<std::uint64_t>*, std::string_view> kinds[] = {
        {&roots.schedulers, "scheduler"},
        {&roots.dirty_cpu, "dirty_cpu_scheduler"},
        {&roots.dirty_io, "dirty_io_scheduler"}};
    for (const auto& kind : kinds)
        for (std::size_t i = 0; i < kind.first->size(); ++i)
            if (reader.memory.word((*kind.first)[i] + reader.at.scheduler_thread) == thread[bytes::Register::fs_base])
                return {fmt::format("{}:{}", kind.second, i + 1), (*kind.first)[i]};
    return {};
}

NativeThreads read_native_threads(Reader& reader) {
    const Image& image = *reader.vm.image;
    bytes::Unwinder unwinder(image.notes(), image.space(), image.executable(), image.bias());
    std::unordered_map<std::uint64_t, ProcId> process_at;
    for (std::uint32_t i = 0; i < reader.snapshot.processes.size(); ++i)
        process_at.emplace(reader.snapshot.processes[i].offset, static_cast<ProcId>(i));

    NativeThreads result;
    for (std::size_t i = 0; i < image.notes().threads.size(); ++i) {
        const bytes::CoreThread& core = image.notes().threads[i];
        NativeThread& thread = result.threads.emplace_back();
        thread.id = core.id;
        thread.signal = core.signal;
        const ThreadRole role = thread_role(reader, core);
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
