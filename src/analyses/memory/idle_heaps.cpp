// SPDX-License-Identifier: Apache-2.0
#include "analyses/memory/idle_heaps.hpp"

#include <algorithm>
#include <map>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/sum.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/waits.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t least_heap_bytes = 64u << 10;
constexpr std::uint64_t least_group_bytes = 8u << 20;
constexpr std::uint64_t least_share = 10;  // a tenth
constexpr std::size_t most_samples = 16;   // of one group
constexpr std::uint64_t alike_times = 4;

std::uint64_t heap_bytes(const Snapshot& snapshot, ProcId id) {
    return saturating_multiply(allocated_words(snapshot[id]), snapshot.source.word_size);
}

}  // namespace

std::vector<IdleGroup> idle_groups(const Snapshot& snapshot) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> index;
    std::vector<IdleGroup> groups;
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < snapshot.processes.size(); ++i) {
        const Process& process = snapshot.processes[i];
        const std::uint64_t bytes = saturating_multiply(allocated_words(process), snapshot.source.word_size);
        all = saturating_add(all, bytes);
        if (process.state != ProcessState::waiting || bytes < least_heap_bytes) continue;
        if (is_waiting_function(snapshot, process.current_function)) continue;  // blocked in a call, not idle
        if (process.sensitive.value_or(false) || process.registers_lost)
            continue;  // nobody knows how much of it is garbage
        const auto [entry, added] =
            index.try_emplace({index_of(process.initial_call), index_of(process.current_function)}, groups.size());
        if (added) groups.push_back({process.initial_call, process.current_function, {}, 0});
        IdleGroup& group = groups[entry->second];
        group.members.push_back(ProcId{i});
        group.heap_bytes = saturating_add(group.heap_bytes, bytes);
    }
    const std::uint64_t total = snapshot.memory_bytes("total").value_or(all);
    std::erase_if(groups, [&](const IdleGroup& g) {
        return g.heap_bytes < least_group_bytes || g.heap_bytes < total / least_share;
    });
    std::ranges::stable_sort(groups,
                             [](const IdleGroup& a, const IdleGroup& b) { return a.heap_bytes > b.heap_bytes; });
    return groups;
}

IdleGroup stood_for(const Snapshot& snapshot, IdleGroup group, const std::vector<ProcId>& looked) {
    std::uint64_t largest = 0;
    for (const ProcId id : looked) largest = std::max(largest, heap_bytes(snapshot, id));
    const std::uint64_t most = saturating_multiply(largest, alike_times);
    std::erase_if(group.members, [&](ProcId id) {
        if (heap_bytes(snapshot, id) <= most) return false;
        group.heap_bytes -= heap_bytes(snapshot, id);
        return true;
    });
    if (group.heap_bytes < least_group_bytes) group.members.clear();
    return group;
}

std::vector<ProcId> idle_samples(const Snapshot& snapshot, const std::vector<IdleGroup>& groups,
                                 std::uint64_t most_words) {
    std::vector<ProcId> samples;
    std::uint64_t words = 0;
    for (const IdleGroup& group : groups) {
        const std::size_t wanted = std::min(most_samples, group.members.size());
        for (std::size_t i = 0; i < wanted; ++i) {
            const ProcId id = group.members[i * group.members.size() / wanted];
            const std::uint64_t more = used_words(snapshot[id]).value_or(allocated_words(snapshot[id]));
            if (more > most_words - words) continue;
            words += more;
            samples.push_back(id);
        }
    }
    return samples;
}

}  // namespace beamheap::analyses
