// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/restarts.hpp"

#include <algorithm>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/sum.hpp"
#include "erlang/elixir_names.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/modules.hpp"
#include "erlang/term_reader.hpp"
#include "erlang/term_walks.hpp"

namespace beamheap::analyses {
namespace restarts_of {
namespace {

constexpr std::uint64_t largest_supervisor = 1'000'000, longest_queue = 200'000;  // words; messages
constexpr std::uint64_t most_words = 3'000'000;
constexpr std::size_t most_supervisors = 1'000;
constexpr std::size_t most_restarts = 100'000, most_children = 5'000;
// {state, Name, Strategy, Children, Dynamics, Intensity, Period, Restarts, ..., Module, Args}
constexpr std::size_t least_state = 11, strategy_at = 2, children_at = 3, dynamics_at = 4, intensity_at = 5,
                      period_at = 6, restarts_at = 7;
// {child, Pid, Id, {M, F, Args}, RestartType, ...}
constexpr std::size_t least_child = 8;
// erlang:monotonic_time/0 of a VM's start, -(1 << 59) nanoseconds (erl_time_sup.c)
constexpr std::int64_t clock_begins = -576'460'752;

bool older(const Pid& a, const Pid& b) { return a.serial != b.serial ? a.serial < b.serial : a.number < b.number; }

class Reading {
public:
    Reading(ProcId supervisor, TermSource& source) : source_(source), terms_(source) { found_.supervisor = supervisor; }

    // While it starts a child, younger frames have newer states: with one more restart, and without the child that is
    // started.
    std::optional<SupervisorRestarts> run() {
        const RootList& roots = source_.graph().roots();
        std::optional<SupervisorRestarts> newest;
        for (std::size_t i = 0; i < roots.size(); ++i) {
            const RootKind kind = roots[i].kind;
            if (kind != RootKind::stack && kind != RootKind::x_register) continue;
            const Element root = source_.root(i);
            take(root, newest);
            // One that hibernates, of 28 and later, has it among the arguments of gen_server:wake_hib, which are a
            // list.
            if (kind == RootKind::x_register)
                for (const Element& each : terms_.list(root, 8)) take(each, newest);
        }
        return newest;
    }

    std::optional<SupervisorRestarts> of(const Element& state) {
        std::optional<SupervisorRestarts> found;
        take(state, found);
        return found;
    }

private:
    void take(const Element& term, std::optional<SupervisorRestarts>& newest) {
        const ProcId id = found_.supervisor;
        if ((supervisor(term) || dynamic_supervisor(term)) && found_.restarts != 0) {
            if (!newest) {
                newest = found_;
            } else {
                SupervisorRestarts counts = found_.restarts > newest->restarts ? found_ : *newest;
                // Which child could not be started, the older one says.
                if (counts.restarting == 0 && found_.restarting + newest->restarting != 0) {
                    const SupervisorRestarts& whom = found_.restarting != 0 ? found_ : *newest;
                    counts.restarting = whom.restarting;
                    counts.children = whom.children;
                    counts.child = whom.child;
                    counts.child_id = whom.child_id;
                    counts.module = whom.module;
                    counts.function = whom.function;
                    counts.arity = whom.arity;
                }
                newest = std::move(counts);
            }
        }
        found_ = {};
        found_.supervisor = id;
    }

    bool supervisor(const Element& root) {
        const std::vector<Element> state = terms_.tuple(root);
        if (state.size() < least_state || !TermReader::is(state[0], "state") ||
            !TermReader::is_atom(state[strategy_at]) || !limits(state[intensity_at], state[period_at]) ||
            !terms_.is_list(state[restarts_at]))
            return false;
        count(state[restarts_at]);
        if (found_.restarts == 0) return true;
        found_.one_kind = TermReader::is(state[strategy_at], "simple_one_for_one");
        found_.rest_too = TermReader::is(state[strategy_at], "rest_for_one");
        running_.clear();
        // {Ids, #{Id => Child}}; a list of them up to R20
        const std::vector<Element> held = terms_.tuple(state[children_at], 2);
        if (!held.empty()) for_pairs(held[1], [&](const Pair& pair) { child(pair.value); });
        else
            for (const Element& each : terms_.list(state[children_at], most_children)) child(each);
        if (found_.rest_too) first_of_rest();
        if (found_.one_kind) {
            found_.children = 0;
            const std::vector<Element> dynamics = terms_.tuple(state[dynamics_at], 2);  // {maps, #{Pid => Args}}
            if (!dynamics.empty()) for_pairs(dynamics[1], [&](const Pair& pair) { started(pair.key); });
        }
        return true;
    }

    bool dynamic_supervisor(const Element& root) {
        if (!terms_.is_map(root) ||
            !TermReader::is(terms_.get(root, "__struct__"), erlang::struct_of_dynamic_supervisor))
            return false;
        if (!limits(terms_.get(root, "max_restarts"), terms_.get(root, "max_seconds"))) return false;
        count(terms_.get(root, "restarts"));
        if (found_.restarts == 0) return true;
        found_.one_kind = true;
        for_pairs(terms_.get(root, "children"), [&](const Pair& pair) {
            if (!started(pair.key)) return;
            const std::vector<Element> kept =
                terms_.tuple(pair.value);  // {{M, F, Args}, Restart, Shutdown, Type, Modules}
            if (!kept.empty()) start_function(kept[0]);
        });
        return true;
    }

    bool limits(const Element& intensity, const Element& period) {
        const auto most = terms_.number(intensity), seconds = terms_.number(period);
        if (!most || !seconds || *most < 0 || *seconds <= 0 || *seconds > 1'000'000'000) return false;
        found_.intensity = static_cast<std::uint64_t>(*most);
        found_.period_seconds = static_cast<std::uint64_t>(*seconds);
        return true;
    }

    void count(const Element& list) {
        std::optional<std::int64_t> last;
        std::int64_t first = 0;
        ListWalk cells(source_, list);
        for (Element cell; cells.next(cell);) {
            const auto time = terms_.number(cell);
            if (!time) break;
            if (!last) last = time;
            if (*time > *last ||
                static_cast<std::uint64_t>(*last) - static_cast<std::uint64_t>(*time) > found_.period_seconds)
                break;
            first = *time;
            if (++found_.restarts < most_restarts) continue;
            found_.more = true;
            break;
        }
        if (!last) return;
        found_.within_seconds = static_cast<std::uint64_t>(*last - first) + 1;
        constexpr std::int64_t longest = std::int64_t{10} * 366 * 86'400;  // no node is up for longer
        if (*last >= clock_begins && *last < clock_begins + longest)
            found_.last_at_seconds = static_cast<std::uint64_t>(*last - clock_begins);
    }

    template <class Function>
    void for_pairs(const Element& map, Function&& look) {
        if (!terms_.is_map(map)) return;
        MapWalk pairs(source_, map.id, source_.head(map.id));
        Pair pair;
        for (std::size_t seen = 0; seen < most_children && pairs.next(pair); ++seen) look(pair);
    }

    // Takes note of a child by what stands for its pid: whether it is the one to be told, up to now.
    bool started(const Element& place) {
        ++found_.children;
        const std::vector<Element> again = terms_.tagged(place, "restarting", 2);
        const Element& pid = again.empty() ? place : again[1];
        if (!again.empty()) ++found_.restarting;
        const bool better = !again.empty() ? found_.restarting == 1
                                           : found_.restarting == 0 && pid.kind == ElementKind::pid &&
                                                 (!found_.child.has() || older(found_.child, pid.pid));
        if (better) found_.child = pid.kind == ElementKind::pid ? pid.pid : Pid{};
        return better;
    }

    void child(const Element& term) {
        const std::vector<Element> record = terms_.tuple(term);
        if (record.size() < least_child || !TermReader::is(record[0], "child")) return;
        if (found_.one_kind) return start_function(record[3]);
        // A temporary child is never started again.
        if (TermReader::is(record[4], "temporary")) return;
        if (found_.rest_too && record[1].kind == ElementKind::pid) running_.push_back(record);
        if (started(record[1])) tell(record);
    }

    void tell(const std::vector<Element>& record) {
        found_.child_id = copy_term(source_, record[2], {.objects = 200, .bytes = 1024});
        start_function(record[3]);
    }

    // Where those behind the one that ended are restarted with it, it is the oldest of them: of pids that follow
    // closely upon each other.
    void first_of_rest() {
        constexpr std::uint64_t most_between = 16;  // pids that children give as they start
        if (found_.restarting != 0 || running_.empty()) return;
        std::ranges::sort(running_, [](const auto& a, const auto& b) { return older(a[1].pid, b[1].pid); });
        std::size_t first = running_.size() - 1;
        for (; first > 0; --first) {
            const Pid before = running_[first - 1][1].pid, behind = running_[first][1].pid;
            if (before.serial != behind.serial || behind.number - before.number > most_between) break;
        }
        found_.child = running_[first][1].pid;
        tell(running_[first]);
    }

    void start_function(const Element& term) {
        const std::vector<Element> call = terms_.tuple(term, 3);
        if (call.empty() || !TermReader::is_atom(call[0]) || !TermReader::is_atom(call[1])) return;
        found_.module = std::string(call[0].text);
        found_.function = std::string(call[1].text);
        found_.arity = terms_.is_list(call[2]) ? static_cast<std::uint32_t>(terms_.list(call[2], 255).size()) : 0;
    }

    TermSource& source_;
    TermReader terms_;
    SupervisorRestarts found_;
    std::vector<std::vector<Element>> running_;  // records of children that run, of rest_for_one
};

// Pids are given in turn (erl_ptab.c), within one serial by one more each.
void count_later_pids(const Snapshot& s, std::vector<SupervisorRestarts>& all) {
    Pid last;
    for (const Process& process : s.processes)
        if (!last.has() || older(last, process.pid)) last = process.pid;
    for (SupervisorRestarts& each : all)
        if (each.child.has() && last.has() && each.child.serial == last.serial)
            each.started_since = last.number - std::min(last.number, each.child.number);
}

}  // namespace
}  // namespace restarts_of

bool keeps_restarts(const Snapshot& s, ProcId id) {
    const Process& p = s[id];
    return p.real_initial_call != FunctionId::none &&
           module_of(s, p.real_initial_call) == erlang::module_of_supervisors &&
           allocated_words(p) <= restarts_of::largest_supervisor &&
           p.msgq_len.value_or(0) <= restarts_of::longest_queue;
}

std::optional<SupervisorRestarts> restarts_of_state(TermSource& terms, const Element& state) {
    return restarts_of::Reading(ProcId::none, terms).of(state);
}

std::vector<SupervisorRestarts> supervisor_restarts(Artifact& artifact) {
    const Snapshot& s = artifact.snapshot();
    std::vector<ProcId> supervisors;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i)
        if (keeps_restarts(s, ProcId{i})) supervisors.push_back(ProcId{i});
    std::ranges::stable_sort(supervisors, std::ranges::greater(),
                             [&](ProcId id) { return s[id].reductions.value_or(0); });
    if (supervisors.size() > restarts_of::most_supervisors) supervisors.resize(restarts_of::most_supervisors);
    std::vector<SupervisorRestarts> found;
    std::uint64_t words = 0;
    for (const ProcId id : supervisors) {
        if ((words = saturating_add(words, allocated_words(s[id]))) > restarts_of::most_words) break;
        if (const auto terms = artifact.terms(id, {.messages = 0}))
            if (auto one = restarts_of::Reading(id, **terms).run()) found.push_back(std::move(*one));
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &SupervisorRestarts::restarts);
    restarts_of::count_later_pids(s, found);
    return found;
}

}  // namespace beamheap::analyses
