// SPDX-License-Identifier: Apache-2.0
#include "analyses/rules/own_workers.hpp"

#include <algorithm>

#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {

std::vector<ProcId> workers_who_ask(const Facts& facts, ProcId server) {
    const Snapshot& s = facts.snapshot();
    const WaitFanIn* const fan = facts.get<Waits>().fan_in_of(server);
    std::vector<ProcId> workers;
    if (fan == nullptr) return workers;
    for (const std::uint32_t at : facts.get<Waits>().waiters_of(*fan))
        if (const ProcId waiter = facts.get<Waits>().edges[at].waiter; s[waiter].parent == s[server].pid)
            workers.push_back(waiter);
    const auto children = static_cast<std::size_t>(
        std::ranges::count_if(s.processes, [&](const Process& p) { return p.parent == s[server].pid; }));
    if (workers.size() < children || workers.size() >= fan->waiters) workers.clear();
    return workers;
}

ProcId only_busy_child(const Facts& facts, ProcId id) {
    const Snapshot& s = facts.snapshot();
    ProcId found = ProcId::none;
    for (const ProcId each : all_processes(s)) {
        if (s[each].parent != s[id].pid || idle(facts, each)) continue;
        if (found != ProcId::none) return ProcId::none;
        found = each;
    }
    return found;
}

}  // namespace beamheap::analyses::rule
