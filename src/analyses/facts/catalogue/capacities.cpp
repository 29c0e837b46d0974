// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/capacities.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/links_of.hpp"
#include "analyses/facts/catalogue/waits.hpp"
#include "analyses/heaps/state_counts.hpp"
#include "analyses/processes/process_columns.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/servers.hpp"
#include "erlang/state_words.hpp"
#include "erlang/waiting_functions.hpp"

namespace beamheap::analyses {
namespace {

// Whose states are read.
constexpr std::size_t most_servers = 128;
constexpr std::uint64_t largest_server = 100'000;  // words
constexpr std::uint64_t all_servers = 600'000;     // words of all of them
constexpr std::uint64_t least_related = 5;
constexpr std::uint64_t of_times = 1'000;  // what times in milliseconds are counted in
constexpr std::uint64_t least_gone = 5, many_gone = 30;
constexpr std::uint64_t gone_of_crowd = 2;  // while so many wait that it can't be chance
constexpr std::size_t least_crowd = 10;
constexpr std::size_t least_at_one_place = 3;  // that wait at the same place
constexpr int strong = 3;
constexpr int generations = 2;

bool at_rest(const Snapshot& s, const Process& process) {
    return process.state == ProcessState::waiting && process.msgq_len.value_or(0) == 0 &&
           process.current_function != FunctionId::none &&
           (is_idle_function(s, process.current_function) || waits_on_behalf(s, process) == FunctionId::none);
}

bool is_called(const Snapshot& s, const Process& process) {
    return std::ranges::any_of(links_of(s, process), [&](const Link& link) {
        if (link.kind != LinkKind::monitored_by || !link.pid.has()) return false;
        const ProcId by = s.find(link.pid);
        return by != ProcId::none && s[by].current_function != FunctionId::none &&
               is_waiting_function(s, s[by].current_function);
    });
}

// Whether it is one of kernel's own, which every node has, or a child of such a one.
bool is_of_kernel(const Snapshot& s, ProcId id) {
    for (int i = 0; i < generations && id != ProcId::none; ++i) {
        if (s[id].name != TextId::none && erlang::is_kernel_server(s.text(s[id].name))) return true;
        id = s[id].parent.has() ? s.find(s[id].parent) : ProcId::none;
    }
    return false;
}

// Those that may have a limit: first those whom somebody waits for, then those with sockets, with names, with many
// relations.
std::vector<ProcId> servers(const Snapshot& s) {
    std::set<Pid> with_sockets;
    for (const Port& port : s.ports)
        if (port.connected.has() && port.driver != TextId::none && s.text(port.driver) == erlang::tcp_driver)
            with_sockets.insert(port.connected);
    std::array<std::vector<ProcId>, 4> ranks;
    for (const ProcId id : all_processes(s)) {
        const Process& process = s[id];
        const bool named = process.name != TextId::none;
        const bool related = process.link_range.count >= least_related;
        const bool socket = with_sockets.contains(process.pid);
        if ((!named && !related && !socket && process.link_range.count == 0) ||
            allocated_words(process) > largest_server || !at_rest(s, process))
            continue;
        if (is_of_kernel(s, id)) continue;
        if (is_called(s, process)) ranks[0].push_back(id);
        else if (socket && is_idle_function(s, process.current_function)) ranks[1].push_back(id);
        else if (named) ranks[2].push_back(id);
        else if (related) ranks[3].push_back(id);
    }
    std::vector<ProcId> found;
    std::uint64_t words = 0;
    // A node may have thousands of connections: others are looked at, too.
    if (ranks[1].size() > most_servers / 2) ranks[1].resize(most_servers / 2);
    for (const std::vector<ProcId>& rank : ranks)
        for (const ProcId id : rank) {
            if (found.size() == most_servers || words + allocated_words(s[id]) > all_servers) break;
            words += allocated_words(s[id]);
            found.push_back(id);
        }
    return found;
}

// Sockets that somebody accepts on. `all`: of one who does it is not known on which.
struct Accepting {
    std::set<PortName> ports;
    bool all = false;
};

Accepting accepting(const Snapshot& s) {
    Accepting found;
    std::vector<bool> accepts(s.functions.size());
    for (std::uint32_t i = 0; i < s.functions.size(); ++i) {
        const FunctionId id{i};
        accepts[i] = erlang::accepts_connections(module_of(s, id), s.text(s.functions[id].name));
    }
    std::set<std::uint32_t> who, known;
    for (const ProcId id : all_processes(s))
        if (s[id].current_function != FunctionId::none && accepts[index_of(s[id].current_function)])
            who.insert(index_of(id));
    if (who.empty()) return found;
    for (const StackSlot& slot : s.slots)
        if (slot.kind == StackSlot::Kind::port && who.contains(index_of(slot.process))) {
            found.ports.insert(slot.port);
            known.insert(index_of(slot.process));
        }
    found.all = known.size() < who.size();
    return found;
}

class Finder {
public:
    Finder(const Snapshot& snapshot, const Waits& waits)
        : s_(snapshot), waits_(waits), accepting_(accepting(snapshot)) {}

    std::optional<Capacity> find(ProcId id, TermSource& terms) const {
        if (waits_.edge(id) != nullptr) return std::nullopt;
        const std::optional<StateCounts> state = state_counts(s_, id, terms);
        if (!state) return std::nullopt;
        Capacity found;
        found.server = id;
        if (const WaitFanIn* const fan = waits_.fan_in_of(id))
            for (const std::uint32_t edge : waits_.waiters_of(*fan)) found.waiters.push_back(waits_.edges[edge].waiter);
        find_socket(id, *state, found);
        std::vector<const StateCount*> who_wait, who_have;
        for (const StateCount& count : state->counts)
            if (count.of == StateCount::Of::collection && count.named != 0)
                (waits(found, count) ? who_wait : who_have).push_back(&count);
        const int evidence = find_limit(id, *state, who_have, found);
        find_holders(who_have, found);
        add_waiters(who_have, state->counts, found);
        find_allowed(*state, found);
        find_linked(id, found);
        const bool proved = !found.waiters.empty() || found.listening.has();
        found.thin = !proved;
        if (evidence > 0 && (proved || (evidence >= strong && says_limit(*state, found)))) {
            find_given_back(who_have, *state, found);
            return found;
        }
        found.limit = 0;
        found.fields.clear();
        found.agrees.clear();
        const std::uint64_t least = found.waiters.empty()                 ? many_gone
                                    : found.waiters.size() >= least_crowd ? gone_of_crowd
                                                                          : least_gone;
        if (found.all_ended() && found.ended >= least) {
            found.listening = {};
            return found;
        }
        return std::nullopt;
    }

private:
    // Whether a collection is that of those who wait.
    static bool waits(const Capacity& found, const StateCount& count) {
        std::size_t those = 0;
        for (const ProcId id : count.alive) those += std::ranges::find(found.waiters, id) != found.waiters.end();
        return those != 0 && those * 2 >= count.alive.size();
    }

    const Port* port_of(PortName name) const {
        const auto found = std::ranges::find(s_.ports, name, &Port::port);
        return found == s_.ports.end() ? nullptr : &*found;
    }

    // A socket of its own, on which nothing was sent or read, and which others are near that have connections.
    void find_socket(ProcId id, const StateCounts& state, Capacity& found) const {
        if (accepting_.all) return;
        for (const PortName name : state.ports) {
            const Port* const port = port_of(name);
            if (port == nullptr || port->connected != s_[id].pid || port->driver == TextId::none ||
                s_.text(port->driver) != erlang::tcp_driver || port->input_bytes.value_or(0) != 0 ||
                port->output_bytes.value_or(0) != 0 || accepting_.ports.contains(name))
                continue;
            std::set<Pid> linked;
            for (const Link& link : links_of(s_, s_[id]))
                if (link.kind != LinkKind::monitored_by && link.pid.has()) linked.insert(link.pid);
            for (const Port& other : s_.ports) {
                const ProcId owner = other.driver != TextId::none && s_.text(other.driver) == erlang::tcp_driver
                                         ? s_.find(other.connected)
                                         : ProcId::none;
                if (owner == ProcId::none || owner == id || s_[id].parent == s_[owner].pid) continue;
                if (s_[owner].parent == s_[id].pid || linked.contains(s_[owner].pid)) found.serving.push_back(owner);
            }
            std::ranges::sort(found.serving);
            found.serving.erase(std::unique(found.serving.begin(), found.serving.end()), found.serving.end());
            if (!found.serving.empty()) found.listening = name;
            return;
        }
    }

    // The limit that most agrees with; how much that is.
    int find_limit(ProcId id, const StateCounts& state, const std::vector<const StateCount*>& who_have,
                   Capacity& found) const {
        const Process& process = s_[id];
        std::set<Pid> monitored, linked;
        for (const Link& link : links_of(s_, process)) {
            if (!link.pid.has() || link.pid == process.parent) continue;
            if (link.kind == LinkKind::monitors) monitored.insert(link.pid);
            if (link.kind == LinkKind::link) linked.insert(link.pid);
        }
        int most = 0;
        for (const StateCount& limit : state.counts) {
            if (limit.of != StateCount::Of::integer) continue;
            int evidence = 0;
            std::vector<Sentence> fields{limit.field}, agrees;
            bool counted = false, named = limit.has_name, says_so = limit.limit_word;
            for (const StateCount& other : state.counts) {
                if (&other == &limit || other.of != StateCount::Of::integer || other.value != limit.value ||
                    other.record != limit.record)
                    continue;
                fields.push_back(other.field);
                counted = true;
                named |= other.has_name;
                says_so |= other.limit_word;
            }
            // Fields that are equal say more the more wait for it: where their names say nothing of a limit a few wait
            // by chance, and what several fields have is mostly a constant of what it does.
            const std::size_t least = fields.size() > 2 ? least_crowd : named ? least_at_one_place : 2;
            if (counted && !says_so && found.waiters.size() < least && !found.listening.has()) counted = false;
            if (counted) evidence += limit.value % of_times == 0 && !limit.limit_word ? 0 : 1;
            const auto held =
                std::ranges::find(who_have, limit.value, [](const StateCount* each) { return each->value; });
            if (held != who_have.end()) {
                (*held)->record == limit.record ? fields.push_back((*held)->field) : agrees.push_back((*held)->place());
                evidence += 2;
            }
            for (const EtsTable& each : s_.ets)
                if (each.owner == process.pid && each.objects == limit.value) {
                    agrees.push_back(each.name == TextId::none
                                         ? Sentence(Ours("the objects of its table"))
                                         : sentence("the objects of its table {}", Name{each.name}));
                    ++evidence;
                    break;
                }
            // Of one who takes a little more than its limit, and lets those wait who brought it.
            const bool above = (monitored.size() == limit.value || linked.size() == limit.value) &&
                               a_little_less(state, found, limit.value).has_value();
            if (evidence != 0 || limit.limit_word || above) {
                if (monitored.size() == limit.value) {
                    agrees.push_back(Ours("the number of its monitors"));
                    ++evidence;
                }
                if (linked.size() == limit.value) {
                    agrees.push_back(Ours("the number of its links"));
                    ++evidence;
                }
            }
            if (evidence != 0 && limit.limit_word) ++evidence;
            if (evidence <= most) continue;
            most = evidence;
            found.limit = limit.value;
            found.limit_in = limit.in;
            found.fields = std::move(fields);
            found.agrees = std::move(agrees);
        }
        return most;
    }

    // Whether a field that is as large says that it is a limit.
    static bool says_limit(const StateCounts& state, const Capacity& found) {
        return std::ranges::any_of(state.counts, [&](const StateCount& each) {
            return each.of == StateCount::Of::integer && each.limit_word && each.value == found.limit;
        });
    }

    // Where somebody waits, and all that is kept is marked as given back; and what is counted beside it.
    static void find_given_back(const std::vector<const StateCount*>& who_have, const StateCounts& state,
                                Capacity& found) {
        if (found.waiters.empty()) return;
        const auto held = std::ranges::find_if(who_have, [&](const StateCount* each) {
            return each->value == found.limit && erlang::says_given_back(each->mark);
        });
        if (held == who_have.end()) return;
        found.given_back = (*held)->mark;
        const auto few = std::ranges::find_if(
            state.few, [&](const StateCount& each) { return each.value == 0 && each.in == found.limit_in; });
        if (few != state.few.end()) found.none_counted = sentence("{} of {} is 0", few->field, few->in);
    }

    // A listener may serve one more for each of its acceptors, which wait with it: the limit is less by these.
    static std::optional<std::uint64_t> a_little_less(const StateCounts& state, const Capacity& found,
                                                      std::uint64_t count) {
        std::set<std::uint64_t> less;
        for (const StateCount& each : state.counts)
            if (each.of == StateCount::Of::integer && each.value < count && each.value + found.waiters.size() >= count)
                less.insert(each.value);
        return less.size() == 1 ? std::optional(*less.begin()) : std::nullopt;
    }

    static void find_allowed(const StateCounts& state, Capacity& found) {
        found.allowed = found.limit;
        if (found.limit != 0 && !found.agrees.empty())
            found.allowed = a_little_less(state, found, found.limit).value_or(found.limit);
    }

    // No collection names who has something, but as many are linked to it.
    void find_linked(ProcId id, Capacity& found) const {
        if (found.limit == 0 || found.holders != 0 || found.waiters.empty()) return;
        std::vector<ProcId> linked;
        for (const Link& link : links_of(s_, s_[id]))
            if (link.kind == LinkKind::link && link.pid.has() && link.pid != s_[id].parent)
                if (const ProcId to = s_.find(link.pid); to != ProcId::none) linked.push_back(to);
        if (linked.size() != found.limit) return;
        found.holders_in = Ours("its links");
        found.holders = found.looked = linked.size();
        found.alive = std::move(linked);
    }

    // Who has what the others want: of the collection that is as large as the limit, else of that with most entries.
    void find_holders(const std::vector<const StateCount*>& who_have, Capacity& found) const {
        const StateCount* best = nullptr;
        const auto rank = [&](const StateCount& each) {
            return std::tuple(found.limit != 0 && each.value == found.limit, each.ended, each.named);
        };
        for (const StateCount* each : who_have)
            if (best == nullptr || rank(*each) > rank(*best)) best = each;
        if (best == nullptr) return;
        found.holders_in = best->place();
        found.holders = best->value;
        found.looked = best->named;
        found.ended = best->ended;
        found.gone = best->gone;
        found.alive = best->alive;
    }

    // Those who wait for a server whose calls are made by hand: it keeps them in another collection, and all of them
    // sit in the same function, which is no loop's.
    void add_waiters(const std::vector<const StateCount*>& who_have, const std::vector<StateCount>& counts,
                     Capacity& found) const {
        if (!found.waiters.empty() || found.limit == 0) return;
        const bool other =
            std::ranges::any_of(who_have, [&](const StateCount* each) { return each->value == found.limit; });
        for (const StateCount& each : counts) {
            if (each.of != StateCount::Of::collection || each.alive.size() < least_at_one_place || each.ended != 0 ||
                (other && each.place() == found.holders_in))
                continue;
            if (!other && each.requests < each.named) continue;
            const FunctionId in = s_[each.alive.front()].current_function;
            const bool alike =
                in != FunctionId::none && !is_idle_function(s_, in) && std::ranges::all_of(each.alive, [&](ProcId id) {
                    return s_[id].state == ProcessState::waiting && s_[id].current_function == in;
                });
            if (!alike) continue;
            found.waiters = each.alive;
            if (!other && each.place() == found.holders_in) {
                found.holders_in = {};
                found.holders = found.looked = found.ended = 0;
                found.alive.clear();
            }
            return;
        }
    }

    const Snapshot& s_;
    const Waits& waits_;
    Accepting accepting_;
};

}  // namespace

const Capacity* Capacities::of(ProcId server) const {
    const auto found = std::ranges::find(all, server, &Capacity::server);
    return found == all.end() ? nullptr : &*found;
}

Result<Capacities> find_fact(FactOf<Capacities>, const Facts& facts, Artifact& artifact) {
    const Snapshot& s = facts.snapshot();
    const Finder finder(s, facts.get<Waits>());
    Capacities found;
    for (const ProcId id : servers(s))
        if (const auto terms = artifact.terms(id))
            if (auto capacity = finder.find(id, **terms)) found.all.push_back(std::move(*capacity));
    std::ranges::stable_sort(found.all, std::ranges::greater(),
                             [](const Capacity& each) { return each.waiters.size(); });
    return found;
}

namespace fact {
void capacities(FactNeeds& needs) {
    needs.plan.tables = needs.plan.links = needs.plan.stacks = true;
    needs.terms_of(servers);
}
}  // namespace fact

}  // namespace beamheap::analyses
