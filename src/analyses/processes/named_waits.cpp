// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/named_waits.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "analyses/base/links_of.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/waiting_functions.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t few = 10;  // a crowd is told by where it is, not by whom it names
constexpr std::uint32_t no_candidate = 0xFFFFFFFFu;

bool has_edge(const Waits& waits, ProcId id) { return waits.edge_of[index_of(id)] != Waits::no_edge; }

void take(const WaitEdge& edge, Waits& waits) {
    waits.edge_of[index_of(edge.waiter)] = static_cast<std::uint32_t>(waits.edges.size());
    waits.edges.push_back(edge);
}

// Where somebody waits for an answer: not for the time, nor for what comes from outside.
bool awaits_answer(const Snapshot& s, FunctionId in) {
    using erlang::FunctionRole;
    return std::ranges::none_of(std::initializer_list<FunctionRole>{FunctionRole::sleeps, FunctionRole::hibernates,
                                                                    FunctionRole::awaits_peer, FunctionRole::of_vm,
                                                                    FunctionRole::of_terminal},
                                [&](FunctionRole role) { return has_role(s, in, role); }) &&
           !has_role(s, in, erlang::ModuleRole::no_process);
}

// Whether a process knows another one in any case.
bool related(const Snapshot& s, const Process& process, const Process& other) {
    bool linked = process.parent == other.pid || other.parent == process.pid;
    for (const Link& link : links_of(s, process)) {
        if (link.pid != other.pid) continue;
        if (link.kind == LinkKind::monitors) return false;
        linked |= link.kind == LinkKind::link;
    }
    return linked;
}

class Circles {
public:
    Circles(std::span<const WaitEdge> candidates, Waits& waits)
        : candidates_(candidates),
          waits_(waits),
          candidate_of_(waits.edge_of.size(), no_candidate),
          met_(waits.edge_of.size()) {
        for (std::uint32_t i = 0; i < candidates.size(); ++i) candidate_of_[index_of(candidates[i].waiter)] = i;
    }

    void close() {
        for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
            ProcId at = candidates_[i].waiter;
            while (at != ProcId::none && met_[index_of(at)] == 0) {
                met_[index_of(at)] = i + 1;
                at = next(at);
            }
            if (at != ProcId::none && met_[index_of(at)] == i + 1) take_circle(at);
        }
    }

private:
    ProcId next(ProcId id) const {
        if (const WaitEdge* edge = waits_.edge(id); edge != nullptr) return edge->target.process;
        const std::uint32_t candidate = candidate_of_[index_of(id)];
        return candidate == no_candidate ? ProcId::none : candidates_[candidate].target.process;
    }
    // A circle of nothing but guesses is none.
    void take_circle(ProcId first) {
        std::vector<ProcId> guessed;
        bool proved = false;
        ProcId at = first;
        do {
            if (has_edge(waits_, at)) proved = true;
            else guessed.push_back(at);
            at = next(at);
        } while (at != first);
        if (!proved) return;
        for (const ProcId id : guessed) take(candidates_[candidate_of_[index_of(id)]], waits_);
    }

    std::span<const WaitEdge> candidates_;
    Waits& waits_;
    std::vector<std::uint32_t> candidate_of_;  // by ProcId
    std::vector<std::uint32_t> met_;           // by ProcId: on the walk from which candidate; 0: on none
};

}  // namespace

std::vector<ProcId> only_named(const Snapshot& s) {
    std::vector<ProcId> found(s.processes.size(), ProcId::none);
    std::vector<bool> several(s.processes.size());
    for (const StackSlot& slot : s.slots) {
        const std::size_t process = index_of(slot.process);
        if (slot.frame != 0 || slot.kind != StackSlot::Kind::pid || process >= found.size()) continue;
        const ProcId named = s.find(slot.pid);
        if (named == ProcId::none || named == slot.process) continue;
        if (found[process] != ProcId::none && found[process] != named) several[process] = true;
        found[process] = named;
    }
    for (std::size_t i = 0; i < found.size(); ++i)
        if (several[i]) found[i] = ProcId::none;
    return found;
}

std::vector<Pid> only_named_ended(const Snapshot& s) {
    std::vector<Pid> found(s.processes.size());
    if (!s.source.all_processes_known()) return found;
    std::vector<bool> several(s.processes.size());
    for (const StackSlot& slot : s.slots) {
        const std::size_t process = index_of(slot.process);
        if (slot.frame != 0 || slot.kind != StackSlot::Kind::pid || process >= found.size()) continue;
        if (!slot.pid.local() || slot.pid == s.processes[process].pid) continue;
        if (found[process].has() && found[process] != slot.pid) several[process] = true;
        found[process] = slot.pid;
    }
    for (std::size_t i = 0; i < found.size(); ++i)
        if (several[i] || (found[i].has() && s.find(found[i]) != ProcId::none)) found[i] = Pid{};
    return found;
}

void add_named(const Snapshot& s, std::span<const WaitEdge> candidates, Waits& waits) {
    std::vector<WaitEdge> possible;
    std::vector<std::uint64_t> naming(s.processes.size()), waiting(s.functions.size());
    for (const WaitEdge& edge : candidates) {
        const Process& process = s[edge.waiter];
        if (has_edge(waits, edge.waiter) || edge.target.process == ProcId::none ||
            s[edge.target.process].state == ProcessState::suspended || !awaits_answer(s, process.current_function) ||
            waits_on_behalf(s, process) == FunctionId::none)
            continue;
        possible.push_back(edge);
        ++naming[index_of(edge.target.process)];
        ++waiting[index_of(process.current_function)];
    }
    if (possible.empty()) return;
    Circles(possible, waits).close();
    for (const WaitEdge& edge : possible) {
        const Process& process = s[edge.waiter];
        if (!has_edge(waits, edge.waiter) && naming[index_of(edge.target.process)] < few &&
            waiting[index_of(process.current_function)] < few &&
            !erlang::is_loop_name(s.text(s.functions[process.current_function].name)) &&
            !related(s, process, s[edge.target.process]))
            take(edge, waits);
    }
}

}  // namespace beamheap::analyses
