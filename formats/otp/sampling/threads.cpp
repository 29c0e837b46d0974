// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/sampling/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace beamheap::otp {
namespace {

constexpr std::size_t searched = 2048;  // bytes of the C library's structure

struct Handle {
    SchedulerThread row;
    std::vector<std::byte> structure;
};

}  // namespace

std::vector<SchedulerThread> scheduler_threads(const Vm& vm, const bytes::LiveMemory& memory,
                                               std::span<const bytes::TaskOfProcess> threads) {
    std::map<std::uint32_t, std::uint32_t> ids;  // by what they call themselves
    for (const bytes::TaskOfProcess& each : threads) ids.emplace(each.own_id, each.id);
    std::vector<Handle> handles;
    std::uint32_t number = 0;  // as in the table of schedulers
    const auto add = [&](const std::vector<std::uint64_t>& schedulers, Scheduler::Kind kind, std::string_view name) {
        for (const std::uint64_t scheduler : schedulers) {
            ++number;
            std::byte word[8];
            if (memory.read(scheduler + vm.layout.at.scheduler_thread, word) != sizeof word) continue;
            Handle handle{{{0, fmt::format("{}:{}", name, number), kind}, scheduler}, std::vector<std::byte>(searched)};
            handle.structure.resize(memory.read(bytes::load<std::uint64_t>(word), handle.structure) & ~std::size_t{3});
            handles.push_back(std::move(handle));
        }
    };
    add(vm.roots.schedulers, Scheduler::Kind::normal, "scheduler");
    add(vm.roots.dirty_cpu, Scheduler::Kind::dirty_cpu, "dirty_cpu_scheduler");
    add(vm.roots.dirty_io, Scheduler::Kind::dirty_io, "dirty_io_scheduler");

    std::size_t best = 0, most = 0;
    for (std::size_t offset = 0; offset < searched; offset += 4) {
        std::set<std::uint32_t> found;
        for (const Handle& handle : handles)
            if (offset < handle.structure.size())
                if (const auto id = bytes::load<std::uint32_t>(handle.structure.data() + offset); ids.contains(id))
                    found.insert(id);
        if (found.size() > most) most = found.size(), best = offset;
    }
    std::vector<SchedulerThread> rows;
    for (Handle& handle : handles) {
        if (best >= handle.structure.size()) continue;
        const auto known = ids.find(bytes::load<std::uint32_t>(handle.structure.data() + best));
        if (known == ids.end()) continue;
        handle.row.thread.id = known->second;
        rows.push_back(std::move(handle.row));
    }
    return rows;
}

std::uint64_t process_in_hand(const Vm& vm, const bytes::LiveMemory& memory, const SchedulerThread& thread) {
    std::byte word[8];
    const std::size_t got = memory.read(thread.scheduler + vm.layout.at.scheduler_process, word);
    return got == sizeof word ? bytes::load<std::uint64_t>(word) : 0;
}

}  // namespace beamheap::otp
