// SPDX-License-Identifier: Apache-2.0
#include "analyses/rules/own_workers.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr unsigned most_steps = 3;
constexpr std::size_t least_members = 2;

bool is_below(const Snapshot& s, ProcId id, ProcId server) {
    for (unsigned step = 0; step < most_steps && id != ProcId::none; ++step) {
        id = s.find(s[id].parent);
        if (id == server) return true;
    }
    return false;
}

std::vector<ProcId> largest_kind_below(const Snapshot& s, ProcId server) {
    std::map<FunctionId, std::vector<ProcId>> kinds;
    for (const ProcId id : all_processes(s))
        if (id != server && is_below(s, id, server)) kinds[first_call(s[id])].push_back(id);
    const auto most = std::ranges::max_element(kinds, {}, [](const auto& kind) { return kind.second.size(); });
    return most == kinds.end() ? std::vector<ProcId>() : most->second;
}

}  // namespace

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

Sentence waits_below(const Facts& facts, ProcId server) {
    const Snapshot& s = facts.snapshot();
    const std::vector<ProcId> members = largest_kind_below(s, server);
    if (members.size() < least_members) return {};
    std::map<ProcId, std::uint64_t> waited_for;
    const auto target = [&](ProcId id) {
        const WaitEdge* const edge = facts.get<Waits>().edge(id);
        return edge == nullptr || edge->target.process == server ? ProcId::none : edge->target.process;
    };
    for (const ProcId id : members)
        if (target(id) != ProcId::none) ++waited_for[target(id)];
    const auto most = std::ranges::max_element(waited_for, {}, [](const auto& each) { return each.second; });
    if (most == waited_for.end() || most->second * 2 < members.size()) return {};
    const auto& [by, count] = *most;
    Sentence text = sentence("; {} of {} {} below it wait for {}", number(count), number(members.size()),
                             first_call(s[members.front()]), by);
    std::vector<ProcId> others;
    for (const ProcId id : members)
        if (target(id) != by && id != by && !idle(facts, id)) others.push_back(id);
    if (others.size() == 1) text.say(", and one, {}, {}", s[others.front()].pid, doing(facts, others.front()));
    else text.say(", which {}", doing(facts, by));
    return text;
}

}  // namespace beamheap::analyses::rule
