// SPDX-License-Identifier: Apache-2.0
#include "beamheap/snapshot.hpp"

#include <algorithm>

namespace beamheap {

std::string_view name_of(RowReading reading) {
    switch (reading) {
        case RowReading::stable: return "stable";
        case RowReading::moving: return "moving";
        case RowReading::running: return "running";
        case RowReading::whole: break;
    }
    return {};
}

std::string_view name_of(VmHalt halt) {
    switch (halt) {
        case VmHalt::stopped: return "stopped";
        case VmHalt::traced: return "traced";
        case VmHalt::frozen: return "frozen";
        case VmHalt::none: break;
    }
    return {};
}

std::string_view name_of(ProcessState state) {
    switch (state) {
        case ProcessState::waiting: return "waiting";
        case ProcessState::running: return "running";
        case ProcessState::runnable: return "runnable";
        case ProcessState::suspended: return "suspended";
        case ProcessState::garbage_collecting: return "garbage_collecting";
        case ProcessState::exiting: return "exiting";
        case ProcessState::free: return "free";
        case ProcessState::unknown: break;
    }
    return "unknown";
}

bool Snapshot::index_process(ProcId id) {
    if ((pid_count_ + 1) * 2 > pid_slots_.size()) {
        std::vector<std::uint32_t> fresh(std::max<std::size_t>(1024, pid_slots_.size() * 2), 0);
        for (const std::uint32_t entry : pid_slots_) {
            if (entry == 0) continue;
            std::size_t slot = PidHash{}(processes[entry - 1].pid) >> 16 & (fresh.size() - 1);
            while (fresh[slot] != 0) slot = (slot + 1) & (fresh.size() - 1);
            fresh[slot] = entry;
        }
        pid_slots_ = std::move(fresh);
    }
    const Pid pid = processes[index_of(id)].pid;
    std::size_t slot = PidHash{}(pid) >> 16 & (pid_slots_.size() - 1);
    while (pid_slots_[slot] != 0) {
        if (processes[pid_slots_[slot] - 1].pid == pid) return false;
        slot = (slot + 1) & (pid_slots_.size() - 1);
    }
    pid_slots_[slot] = index_of(id) + 1;
    ++pid_count_;
    return true;
}

ProcId Snapshot::find(Pid pid) const {
    if (pid_slots_.empty()) return ProcId::none;
    std::size_t slot = PidHash{}(pid) >> 16 & (pid_slots_.size() - 1);
    while (pid_slots_[slot] != 0) {
        if (processes[pid_slots_[slot] - 1].pid == pid) return static_cast<ProcId>(pid_slots_[slot] - 1);
        slot = (slot + 1) & (pid_slots_.size() - 1);
    }
    return ProcId::none;
}

ProcId Snapshot::find_registered(std::string_view name) const {
    const TextId id = texts.find(name);
    if (id == TextId::none) return ProcId::none;
    const auto found = by_name_.find(index_of(id));
    return found == by_name_.end() ? ProcId::none : found->second;
}

Count Snapshot::memory_bytes(std::string_view key) const {
    for (const NamedBytes& entry : memory)
        if (text(entry.name) == key) return entry.bytes;
    return {};
}

TextId Snapshot::node_name(std::uint32_t channel) const {
    if (channel == 0) return node.name;
    const auto found = channel_names.find(channel);
    return found == channel_names.end() ? TextId::none : found->second;
}

void Snapshot::seal() {
    by_name_.clear();
    for (std::size_t i = 0; i < processes.size(); ++i)
        if (processes[i].name != TextId::none) by_name_.emplace(index_of(processes[i].name), static_cast<ProcId>(i));
    for (const DistNode& peer : nodes)
        if (peer.name != TextId::none) channel_names.emplace(peer.channel, peer.name);
}

}  // namespace beamheap
