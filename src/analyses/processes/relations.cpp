#include "analyses/processes/relations.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace beamheap::analyses {
namespace {

// Whom a monitor is on, to be counted by.
auto key_of(const Link& link) {
    return std::tuple(link.pid, link.port, index_of(link.name), index_of(link.node));
}

void count_targets(const Snapshot& s, const Process& process, Relations& row) {
    std::vector<const Link*> held;
    for (const Link& link : std::span(s.links).subspan(process.link_range.first, process.link_range.count))
        if (link.kind == LinkKind::monitors) held.push_back(&link);
    std::ranges::sort(held, {}, [](const Link* link) { return key_of(*link); });
    for (std::size_t i = 0; i < held.size();) {
        std::size_t end = i + 1;
        while (end < held.size() && key_of(*held[end]) == key_of(*held[i])) ++end;
        if (end - i > row.to_one) row.to_one = end - i, row.target = *held[i];
        i = end;
    }
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

std::vector<TimersOfOne> timer_crowds(const Snapshot& s, std::uint64_t least) {
    std::map<std::pair<Pid, std::uint32_t>, std::size_t> index;
    std::vector<TimersOfOne> rows;
    for (std::size_t i = 0; i < s.timers.size(); ++i) {
        const Timer& timer = s.timers[i];
        const auto [entry, added] =
            index.try_emplace(std::pair(timer.receiver, index_of(timer.receiver_name)), rows.size());
        if (added) {
            TimersOfOne row;
            row.pid = timer.receiver;
            row.name = timer.receiver_name;
            row.process = timer.receiver.has() ? s.find(timer.receiver) : s.find_registered(s.text(timer.receiver_name));
            row.example = i;
            rows.push_back(row);
        }
        TimersOfOne& row = rows[entry->second];
        ++row.timers;
        if (!timer.left_ms.has()) continue;
        if (!row.soonest_ms.has() || *timer.left_ms < *row.soonest_ms) row.soonest_ms = timer.left_ms;
        if (!row.latest_ms.has() || *timer.left_ms > *row.latest_ms) row.latest_ms = timer.left_ms, row.example = i;
    }
    std::erase_if(rows, [&](const TimersOfOne& row) { return row.timers < least; });
    std::ranges::stable_sort(rows, std::ranges::greater(), &TimersOfOne::timers);
    return rows;
}

}  // namespace beamheap::analyses
