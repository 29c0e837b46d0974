// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/relations.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/base/links_of.hpp"
#include "erlang/functions.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses {
namespace {

// Whom a monitor is on, to be counted by.
auto key_of(const Link& link) { return std::tuple(link.pid, link.port, index_of(link.name), index_of(link.node)); }

// For each that a process monitors: one of the monitors, and how many there are.
template <class Each>
void for_targets(const Snapshot& s, const Process& process, const Each& each) {
    std::vector<const Link*> held;
    for (const Link& link : links_of(s, process))
        if (link.kind == LinkKind::monitors) held.push_back(&link);
    std::ranges::sort(held, {}, [](const Link* link) { return key_of(*link); });
    for (std::size_t i = 0; i < held.size();) {
        std::size_t end = i + 1;
        while (end < held.size() && key_of(*held[end]) == key_of(*held[i])) ++end;
        each(*held[i], std::uint64_t{end - i});
        i = end;
    }
}

void count_targets(const Snapshot& s, const Process& process, Relations& row) {
    for_targets(s, process, [&](const Link& target, std::uint64_t count) {
        if (count > 1) row.again += count, ++row.whom_again;
        if (count > row.to_one) row.to_one = count, row.target = target;
    });
}

// Where a timer sends to; none: a process that is gone, or a name that nobody has.
ProcId receiver_of(const Snapshot& s, const Timer& timer) {
    return timer.receiver.has() ? s.find(timer.receiver) : s.find_registered(s.text(timer.receiver_name));
}

// Who has set the repeated timer that a process of the module timer is; nullptr: it is none.
const Link* repeated_for(const Snapshot& s, ProcId process) {
    if (process == ProcId::none || s[process].current_function == FunctionId::none) return nullptr;
    if (!has_role(s, s[process].current_function, erlang::FunctionRole::repeats_timer)) return nullptr;
    const ProcId server = s.find_registered(erlang::registered::timer_server);
    for (const Link& link : links_of(s, s[process]))
        if (link.kind == LinkKind::monitors && (server == ProcId::none || link.pid != s[server].pid)) return &link;
    return nullptr;
}

}  // namespace

std::vector<Relations> relation_crowds(const Snapshot& s, std::uint64_t least) {
    std::vector<Relations> found;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const Process& process = s.processes[i];
        if (process.monitors < least && process.links < least) continue;
        Relations row;
        row.process = ProcId{i};
        row.monitors = process.monitors;
        row.links = process.links;
        count_targets(s, process, row);
        found.push_back(row);
    }
    std::ranges::stable_sort(found, std::ranges::greater(),
                             [](const Relations& row) { return row.monitors + row.links; });
    return found;
}

std::vector<Monitored> monitored_crowds(const Snapshot& s, std::uint64_t least) {
    std::map<decltype(key_of(Link{})), Monitored> targets;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        if (s.processes[i].link_range.count < 2) continue;
        for_targets(s, s.processes[i], [&](const Link& target, std::uint64_t count) {
            if (count < 2) return;
            Monitored& row = targets[key_of(target)];
            row.target = target;
            row.monitors += count;
            row.holders.push_back(ProcId{i});
            if (count > row.by_most) row.by_most = count, row.most = ProcId{i};
        });
    }
    std::vector<Monitored> found;
    for (auto& [key, row] : targets)
        if (row.monitors >= least) found.push_back(std::move(row));
    std::ranges::stable_sort(found, std::ranges::greater(), &Monitored::monitors);
    return found;
}

std::vector<TimersOfOne> timer_crowds(const Snapshot& s, std::uint64_t least) {
    std::map<std::pair<Pid, std::uint32_t>, std::size_t> index;
    std::vector<TimersOfOne> rows;
    for (std::size_t i = 0; i < s.timers.size(); ++i) {
        const Timer& timer = s.timers[i];
        TimersOfOne of{.pid = timer.receiver, .name = timer.receiver_name, .example = i};
        of.process = receiver_of(s, timer);
        const Link* const repeated = repeated_for(s, of.process);
        if (repeated != nullptr) {
            of.pid = repeated->pid;
            of.name = repeated->pid.has() ? TextId::none : repeated->name;
            of.process = of.pid.has() ? s.find(of.pid) : s.find_registered(s.text(of.name));
        }
        const auto [entry, added] = index.try_emplace(std::pair(of.pid, index_of(of.name)), rows.size());
        if (added) rows.push_back(of);
        TimersOfOne& row = rows[entry->second];
        ++row.timers;
        row.repeated += repeated != nullptr ? 1 : 0;
        if (!timer.left_ms.has()) continue;
        if (!row.soonest_ms.has() || *timer.left_ms < *row.soonest_ms) row.soonest_ms = timer.left_ms;
        if (!row.latest_ms.has() || *timer.left_ms > *row.latest_ms) row.latest_ms = timer.left_ms, row.example = i;
    }
    std::erase_if(rows, [&](const TimersOfOne& row) { return row.timers < least; });
    std::ranges::stable_sort(rows, std::ranges::greater(), &TimersOfOne::timers);
    return rows;
}

std::uint64_t timers_for(const Snapshot& s, ProcId process) {
    std::uint64_t timers = 0;
    for (const Timer& timer : s.timers) {
        const ProcId receiver = receiver_of(s, timer);
        const Link* const repeated = receiver == process ? nullptr : repeated_for(s, receiver);
        timers += receiver == process || (repeated != nullptr && repeated->pid == s[process].pid);
    }
    // Up to 25 the server of the module has them, once each.
    const ProcId server = s.find_registered(erlang::registered::timer_server);
    if (server == ProcId::none || server == process) return timers;
    for (const Link& link : links_of(s, s[server]))
        timers += link.kind == LinkKind::monitors && link.pid == s[process].pid;
    return timers;
}

}  // namespace beamheap::analyses
