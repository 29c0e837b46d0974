// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/groups.hpp"

#include <algorithm>
#include <unordered_map>

#include "analyses/processes/process_columns.hpp"
#include "erlang/erlang_syntax.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t packed(std::uint8_t kind, std::uint32_t id) {
    return static_cast<std::uint64_t>(kind) << 32 | id;
}

// Groups by a 64-bit key; describe(group, process) writes what the group is called.
template <class KeyOf, class Describe>
ProcessGroups group_by(const Snapshot& snapshot, std::span<const ProcId> processes, KeyOf&& key_of,
                       Describe&& describe) {
    const std::uint32_t word = snapshot.source.word_size;
    ProcessGroups result;
    std::vector<ProcessGroup>& groups = result.groups;
    std::unordered_map<std::uint64_t, std::uint32_t> by_key;
    std::vector<std::uint32_t> group_of(processes.size());
    std::vector<ProcId> first_member;
    std::vector<Count> most_bytes;  // of one member
    std::uint64_t last_key = 0;     // processes of a kind stand together: mostly it is the group of the one before
    for (std::size_t i = 0; i < processes.size(); ++i) {
        const Process& process = snapshot[processes[i]];
        const std::uint64_t key = key_of(process);
        if (i != 0 && key == last_key) {
            group_of[i] = group_of[i - 1];
        } else {
            const auto [place, fresh] = by_key.try_emplace(key, static_cast<std::uint32_t>(groups.size()));
            if (fresh) {
                describe(groups.emplace_back(), process);
                first_member.push_back(processes[i]);
                most_bytes.emplace_back();
            }
            group_of[i] = place->second;
            last_key = key;
        }
        ProcessGroup& group = groups[group_of[i]];
        const Count bytes = process_bytes(process, word);
        ++group.count;
        group.memory_bytes.add(process.memory_bytes);
        group.size_bytes.add(bytes);
        group.msgq_len.add(process.msgq_len);
        group.reductions.add(process.reductions);
        if (group.example == ProcId::none || bytes > most_bytes[group_of[i]]) {
            group.example = processes[i];
            most_bytes[group_of[i]] = bytes;
        }
    }
    std::vector<std::uint32_t> order(groups.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        if (groups[a].count != groups[b].count) return groups[a].count > groups[b].count;
        const Count size_a = groups[a].size_bytes.value(), size_b = groups[b].size_bytes.value();
        return size_a != size_b ? size_a > size_b : first_member[a] < first_member[b];
    });
    std::vector<ProcessGroup> sorted;
    sorted.reserve(groups.size());
    std::vector<std::uint32_t> next(groups.size());  // where the next member of each old group goes
    std::uint32_t first = 0;
    for (const std::uint32_t old : order) {
        ProcessGroup& group = sorted.emplace_back(groups[old]);
        group.percent = 100.0 * static_cast<double>(group.count) / static_cast<double>(processes.size());
        group.first = next[old] = first;
        first += static_cast<std::uint32_t>(group.count);
    }
    result.members.resize(processes.size());
    for (std::size_t i = 0; i < processes.size(); ++i) result.members[next[group_of[i]]++] = processes[i];
    groups = std::move(sorted);
    return result;
}

}  // namespace

FunctionId first_call(const Process& process) {
    return process.real_initial_call != FunctionId::none ? process.real_initial_call : process.initial_call;
}

ProcessGroups group_alike(const Snapshot& snapshot, std::span<const ProcId> processes) {
    enum : std::uint8_t { named, unnamed };
    std::unordered_map<std::uint64_t, std::uint32_t> kinds;  // by the two functions
    std::uint64_t last = 0;                                  // what was looked for, and found: neighbours are alike
    std::uint32_t kind_of_last = 0;
    ProcessGroups result = group_by(
        snapshot, processes,
        [&](const Process& p) {
            if (p.name != TextId::none)
                return packed(named, static_cast<std::uint32_t>(&p - snapshot.processes.data()));
            const std::uint64_t both = std::uint64_t{index_of(first_call(p))} << 32 | index_of(p.current_function);
            if (both != last || kinds.empty()) {
                last = both;
                kind_of_last = kinds.try_emplace(both, static_cast<std::uint32_t>(kinds.size())).first->second;
            }
            return packed(unnamed, kind_of_last);
        },
        [](ProcessGroup& group, const Process& p) { group.function = first_call(p); });
    std::ranges::stable_sort(result.groups, [](const ProcessGroup& a, const ProcessGroup& b) {
        return a.size_bytes.value() > b.size_bytes.value();
    });
    return result;
}

GroupKey group_key(const Process& process) {
    using Kind = GroupKey::Kind;
    if (process.application != TextId::none) return {Kind::ancestor, process.application, FunctionId::none};
    if (process.label != TextId::none && !process.label_concluded)
        return {Kind::label, process.label, FunctionId::none};
    if (process.real_initial_call != FunctionId::none)
        return {Kind::initial_call, TextId::none, process.real_initial_call};
    if (process.initial_call != FunctionId::none) return {Kind::spawned_as, TextId::none, process.initial_call};
    return {};
}

std::string group_text(const Snapshot& snapshot, const GroupKey& key) {
    switch (key.kind) {
        case GroupKey::Kind::ancestor: return atom_text(snapshot.text(key.text));
        case GroupKey::Kind::label: return std::string(snapshot.text(key.text));
        case GroupKey::Kind::initial_call:
        case GroupKey::Kind::spawned_as: return function_text(snapshot, key.function);
        case GroupKey::Kind::none: break;
    }
    return {};
}

ProcessGroups group_by_stack(const Snapshot& snapshot, std::span<const ProcId> processes) {
    return group_by(
        snapshot, processes, [](const Process& p) { return packed(0, index_of(p.stack)); },
        [](ProcessGroup& group, const Process& p) { group.stack = p.stack; });
}

ProcessGroups group_by_initial_call(const Snapshot& snapshot, std::span<const ProcId> processes) {
    return group_by(
        snapshot, processes, [](const Process& p) { return packed(0, index_of(first_call(p))); },
        [](ProcessGroup& group, const Process& p) { group.function = first_call(p); });
}

ProcessGroups group_by_key(const Snapshot& snapshot, std::span<const ProcId> processes) {
    return group_by(
        snapshot, processes,
        [](const Process& p) {
            const GroupKey key = group_key(p);
            const std::uint32_t id = key.text != TextId::none ? index_of(key.text) : index_of(key.function);
            return packed(static_cast<std::uint8_t>(key.kind), id);
        },
        [](ProcessGroup& group, const Process& p) { group.key = group_key(p); });
}

}  // namespace beamheap::analyses
