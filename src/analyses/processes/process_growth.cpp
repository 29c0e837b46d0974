// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/process_growth.hpp"

namespace beamheap::analyses {
namespace {

std::optional<std::int64_t> more(Count before, Count after) {
    if (!before.has() || !after.has()) return std::nullopt;
    return static_cast<std::int64_t>(*after) - static_cast<std::int64_t>(*before);
}

}  // namespace

std::vector<ProcessGrowth> process_growth(const Snapshot& before, const Snapshot& after,
                                          std::span<const ProcId> processes) {
    std::vector<ProcessGrowth> all;
    all.reserve(processes.size());
    for (const ProcId id : processes) {
        const Process& now = after[id];
        const ProcId earlier = before.find(now.pid);
        // Reductions never get fewer: where they did, the pid is another process's by now.
        const bool there = earlier != ProcId::none && more(before[earlier].reductions, now.reductions).value_or(0) >= 0;
        static const Process none = [] {
            Process process;
            process.reductions = 0, process.memory_bytes = 0, process.msgq_len = 0;
            return process;
        }();
        const Process& then = there ? before[earlier] : none;
        all.push_back({id, !there, more(then.reductions, now.reductions), more(then.memory_bytes, now.memory_bytes),
                       more(then.msgq_len, now.msgq_len)});
    }
    return all;
}

}  // namespace beamheap::analyses
