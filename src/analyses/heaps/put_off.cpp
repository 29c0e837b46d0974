// SPDX-License-Identifier: Apache-2.0
#include "analyses/heaps/put_off.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/links_of.hpp"
#include "analyses/heaps/loop_state.hpp"
#include "analyses/heaps/pid_fields.hpp"
#include "analyses/processes/groups.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/registered.hpp"
#include "erlang/term_reader.hpp"
#include "erlang/term_walks.hpp"

namespace beamheap::analyses {

namespace {

constexpr std::size_t least_callers = 10;
constexpr std::uint64_t largest_server = 16'000'000;  // words
constexpr std::size_t most_events = 1'000'000;        // of a heap of that size
constexpr std::size_t most_objects = 400'000;         // of a state, that are looked at for callers
constexpr std::size_t most_kinds = 8;                 // of callers
constexpr std::size_t most_table_waiters = 200;       // that are asked which table

// Processes that monitor this one and are in a call of OTP's.
std::set<Pid> callers_of(const Snapshot& s, const Process& process) {
    std::set<Pid> callers;
    for (const Link& link : links_of(s, process)) {
        if (link.kind != LinkKind::monitored_by || !link.pid.has()) continue;
        const ProcId caller = s.find(link.pid);
        if (caller != ProcId::none && has_role(s, s[caller].current_function, erlang::FunctionRole::in_call))
            callers.insert(link.pid);
    }
    return callers;
}

// The pid of {Pid, Tag}, of one who called: the tag is a reference, or since 24 [alias | Reference].
Pid caller_in(const TermReader& reader, const Element& term) {
    const std::vector<Element> pair = reader.tuple(term, 2);
    if (pair.empty() || pair[0].kind != ElementKind::pid) return {};
    if (reader.is_kind(pair[1], TermKind::reference)) return pair[0].pid;
    const std::vector<Element> tag = reader.list(pair[1], 1);
    return !tag.empty() && TermReader::is(tag[0], "alias") ? pair[0].pid : Pid{};
}

// What a term within a state stands in: the nearest key of a map that is an atom, or the nearest record.
struct Within {
    std::string name;  // empty: the state itself
    bool record = false;
    friend auto operator<=>(const Within&, const Within&) = default;
};

// A server's callers, as they are looked for in its state.
class KeptCallers {
public:
    KeptCallers(const Snapshot& snapshot, TermSource& terms, const std::set<Pid>& who_call)
        : s_(snapshot), terms_(terms), reader_(terms), who_call_(who_call), left_(who_call) {}

    void look_through(const Element& state) {
        add({state, {}, 0});
        while (!todo_.empty() && seen_.size() < most_objects) {
            const Place place = std::move(todo_.back());
            todo_.pop_back();
            look_at(place);
        }
    }
    /// How many of them are kept, to be answered.
    std::uint64_t kept() const { return who_call_.size() - left_.size(); }
    /// Others that are kept as if they were to be answered, and are not there any more.
    std::uint64_t ended() const { return s_.source.all_processes_known() ? ended_ : 0; }
    /// All pids that stand there; of those who call where they stand outside of what is kept to answer them.
    const std::set<Pid>& named() const { return named_; }
    /// Whether one of them is kept in the same field of the state as most are: whose turn it is is kept in its own.
    bool with_most(const Pid& caller) const {
        std::map<std::uint32_t, std::uint64_t> counts;
        for (const auto& [each, field] : fields_) ++counts[field];
        const auto most = std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
        const auto own = fields_.find(caller);
        return most != counts.end() && own != fields_.end() && own->second == most->first;
    }
    /// What nearly all that are kept stand in: " > key waiters", " > {channel, ...}"; empty: they do not.
    Sentence where() const {
        const auto most = std::ranges::max_element(places_, {}, [](const auto& each) { return each.second; });
        if (most == places_.end() || most->first.name.empty() || most->second * 10 < kept() * 9) return {};
        const Atom name{most->first.name};
        return most->first.record ? sentence(" > #{}", Atom{most->first.name, false}) : sentence(" > key {}", name);
    }

private:
    struct Place {
        Element term;
        Within within;
        std::uint32_t field = 0;  // of the state, from 1 on
    };

    void add(Place place) {
        const bool leads = place.term.kind == ElementKind::object || place.term.kind == ElementKind::pid;
        if (leads && todo_.size() < most_objects) todo_.push_back(std::move(place));
    }

    void look_at(const Place& place) {
        const Element& term = place.term;
        if (term.kind == ElementKind::pid) named_.insert(term.pid);
        if (term.kind != ElementKind::object || !seen_.emplace(term.id.space, term.id.number).second) return;
        if (const Pid caller = caller_in(reader_, term); caller.has()) {
            if (left_.erase(caller) != 0) {
                ++places_[place.within];
                fields_[caller] = place.field;
            }
            if (who_call_.contains(caller)) return;
            ended_ += caller.node == 0 && s_.find(caller) == ProcId::none;
        }
        const bool state = seen_.size() == 1;
        std::uint32_t next = 0;
        const auto field = [&] { return state ? ++next : place.field; };
        const ObjectHead head = terms_.head(term.id);
        if (head.kind == TermKind::flat_map) {
            MapWalk walk(terms_, term.id, head);
            for (Pair pair; walk.next(pair);) {
                const std::uint32_t in = field();
                add({pair.key, place.within, in});
                const bool named = TermReader::is_atom(pair.key);
                add({pair.value, named ? Within{std::string(pair.key.text), false} : place.within, in});
            }
            return;
        }
        ElementCursor cursor = terms_.elements(term.id);
        Within inner = place.within;
        bool first = true;
        for (Element element; terms_.next(cursor, element); first = false) {
            if (first && !state && head.kind == TermKind::tuple && head.elements > 2 && TermReader::is_atom(element))
                inner = {std::string(element.text), true};
            add({element, inner, field()});
        }
    }

    const Snapshot& s_;
    TermSource& terms_;
    TermReader reader_;
    const std::set<Pid>& who_call_;
    std::set<Pid> left_, named_;
    std::uint64_t ended_ = 0;
    std::set<std::pair<ObjectId::Space, std::uint32_t>> seen_;
    std::vector<Place> todo_;
    std::map<Within, std::uint64_t> places_;
    std::map<Pid, std::uint32_t> fields_;
};

// Whether an entry of a dictionary is what OTP and Elixir keep of where a process comes from: {'$ancestors', Pids}.
bool is_of_otp(TermSource& terms, const Element& entry) {
    const std::vector<Element> pair = TermReader(terms).tuple(entry, 2);
    return !pair.empty() && TermReader::is_atom(pair[0]) && pair[0].text.starts_with('$');
}

// Whether a server has anybody's pid but those of itself and who has started it, in whatever it has; what is too large
// to be looked at as a whole may have.
bool names_anybody(const Snapshot& s, TermSource& terms, const Process& server) {
    std::set<std::pair<ObjectId::Space, std::uint32_t>> seen;
    std::vector<Element> left;
    const RootList& roots = terms.graph().roots();
    for (std::size_t i = 0; i < roots.size(); ++i)
        if (roots[i].kind != RootKind::dictionary || !is_of_otp(terms, terms.root(i))) left.push_back(terms.root(i));
    while (!left.empty()) {
        const Element term = left.back();
        left.pop_back();
        if (term.kind == ElementKind::pid && term.pid != server.pid && term.pid != server.parent &&
            (term.pid.node != 0 || s.find(term.pid) != ProcId::none))
            return true;
        if (term.kind != ElementKind::object || !seen.emplace(term.id.space, term.id.number).second) continue;
        if (seen.size() >= most_objects) return true;
        ElementCursor cursor = terms.elements(term.id);
        for (Element element; terms.next(cursor, element);) {
            if (left.size() >= most_objects) return true;
            if (element.kind == ElementKind::object || element.kind == ElementKind::pid) left.push_back(element);
        }
    }
    return false;
}

// Whether others may answer for a server: whom it has started, is linked to or monitors. A port, a connection above
// all, answers nobody.
bool has_helpers(const Snapshot& s, const Process& server) {
    const auto helps = [&](const Link& link) {
        return (link.kind == LinkKind::link || link.kind == LinkKind::monitors) && !link.port.has() &&
               link.pid != server.parent;
    };
    return std::ranges::any_of(links_of(s, server), helps) ||
           std::ranges::any_of(s.processes, [&](const Process& other) { return other.parent == server.pid; }) ||
           std::ranges::any_of(s.ets, [&](const EtsTable& table) { return table.owner == server.pid; });
}

// Whom else a server's state names: who may have what its callers want.
void add_named(const Snapshot& s, TermSource& terms, const Element& state, const std::set<Pid>& callers,
               const std::set<Pid>& pids, PutOff& why) {
    const Process& server = s[why.server];
    const auto is_other = [&](const Pid& pid) {
        return pid.node == 0 && pid != server.pid && pid != server.parent && !callers.contains(pid);
    };
    std::vector<GroupKey> kinds;
    for (const Pid& caller : callers) {
        const GroupKey kind = group_key(s[s.find(caller)]);
        if (std::ranges::find(kinds, kind) == kinds.end() && kinds.size() < most_kinds) kinds.push_back(kind);
    }
    for (const Pid& pid : pids) {
        const ProcId id = is_other(pid) ? s.find(pid) : ProcId::none;
        if (id != ProcId::none && std::ranges::find(kinds, group_key(s[id])) != kinds.end()) why.named.push_back(id);
    }
    if (!why.named.empty()) return;
    std::set<Pid> fields = pid_fields(terms, {state});
    std::erase_if(fields, [&](const Pid& pid) { return !is_other(pid); });
    if (fields.empty()) {
        std::vector<ProcId> apart;
        for (const Pid& pid : pids)
            if (callers.contains(pid)) apart.push_back(s.find(pid));
        if (apart.size() == 1) why.caller_apart = apart.front();
    }
    if (fields.size() != 1) return;
    const ProcId only = s.find(*fields.begin());
    if (only != ProcId::none) why.named.push_back(only);
    else if (s.source.all_processes_known()) why.ended = *fields.begin();
}

// A server's callers that it has taken, and not answered: events of a state machine that it has postponed, or whom its
// state keeps.
std::optional<PutOff> taken(const Snapshot& s, ProcId process, TermSource& terms) {
    const std::optional<LoopState> loop = loop_state(s, process, terms);
    if (!loop) return std::nullopt;
    if (loop->loop == LoopState::Loop::state_machine) {
        PutOff found{PutOff::Why::postponed, process, {}, TermReader(terms).list(loop->postponed, most_events).size(),
                     ProcId::none,           {},      {}};
        if (found.count != 0) {
            found.what = copy_term(terms, loop->state_name);
            return found;
        }
    }
    const std::set<Pid> callers = callers_of(s, s[process]);
    if (callers.size() < least_callers) return std::nullopt;
    KeptCallers kept(s, terms, callers);
    kept.look_through(loop->term);
    PutOff found{PutOff::Why::kept, process, {}, kept.kept(), ProcId::none, {}, {}};
    found.where = kept.where();
    found.ended_callers = kept.ended();
    if (found.count == 0 && s[process].msgq_len == Count(0) && !has_helpers(s, s[process]) &&
        !names_anybody(s, terms, s[process])) {
        found.why = PutOff::Why::forgotten;
        found.count = callers.size();
        return found;
    }
    if (found.count * 2 < callers.size()) return std::nullopt;
    add_named(s, terms, loop->term, callers, kept.named(), found);
    if (found.caller_apart != ProcId::none && !kept.with_most(s[found.caller_apart].pid))
        found.caller_apart = ProcId::none;
    return found;
}

std::optional<PutOff> blocked_log(const Snapshot& s, ProcId process, TermSource& terms) {
    const TermReader reader(terms);
    const RootList& roots = terms.graph().roots();
    for (std::size_t i = 0; i < roots.size(); ++i) {
        if (roots[i].kind != RootKind::dictionary) continue;
        const std::vector<Element> pair = reader.tuple(terms.root(i), 2);
        if (pair.empty() || !TermReader::is(pair[0], "log")) continue;
        const std::vector<Element> log = reader.tuple(pair[1]);
        if (log.size() < 4 || !TermReader::is(log[0], "log") || reader.tagged(log[1], "blocked", 2).empty())
            return std::nullopt;
        return PutOff{PutOff::Why::log_blocked,
                      process,
                      copy_term(terms, log[2]),
                      0,
                      log[3].kind == ElementKind::pid ? s.find(log[3].pid) : ProcId::none,
                      {},
                      {}};
    }
    return std::nullopt;
}

bool waits_for_table(const Snapshot& s, const Process& process) {
    return has_role(s, process.current_function, erlang::FunctionRole::awaits_tables);
}

bool loads_tables(const Snapshot& s, const Process& process) {
    return s.text(process.name) == erlang::registered::table_loader && process.state == ProcessState::waiting &&
           allocated_words(process) <= largest_server;
}

// The tables that processes wait for, by the frames of these.
void add_tables(Artifact& artifact, std::vector<PutOff>& found) {
    const Snapshot& s = artifact.snapshot();
    const ProcId controller = s.find_registered(erlang::registered::table_loader);
    std::set<std::string> names;
    PutOff why{PutOff::Why::tables, controller, {}, 0, ProcId::none, {}, {}};
    std::size_t left = most_table_waiters;
    for (std::uint32_t i = 0; i < s.processes.size() && left > 0 && controller != ProcId::none; ++i) {
        if (!waits_for_table(s, s.processes[i])) continue;
        --left;
        const auto terms = artifact.terms(ProcId{i});
        if (!terms) continue;
        const RootList& roots = (*terms)->graph().roots();
        for (std::size_t root = 0; root < roots.size(); ++root) {
            if (roots[root].kind != RootKind::stack || roots[root].frame != 0) continue;
            const Element term = (*terms)->root(root);
            if (!TermReader::is_atom(term) || !names.emplace(term.text).second) continue;
            if (why.what == nullptr) why.what = copy_term(**terms, term);
        }
    }
    if (why.what == nullptr) return;
    // Each waits for one after the other; the controller keeps all that it was asked for in its dictionary, {sync_tab,
    // Table}.
    if (const auto terms = artifact.terms(controller)) {
        const TermReader reader(**terms);
        const RootList& roots = (*terms)->graph().roots();
        for (std::size_t i = 0; i < roots.size(); ++i) {
            if (roots[i].kind != RootKind::dictionary) continue;
            const std::vector<Element> pair = reader.tuple((*terms)->root(i), 2);
            const std::vector<Element> key = pair.empty() ? pair : reader.tagged(pair[0], "sync_tab", 2);
            if (!key.empty() && TermReader::is_atom(key[1])) names.emplace(key[1].text);
        }
    }
    why.count = names.size();
    found.push_back(std::move(why));
}

// What its state says, or else that of the only one whom it names.
void add_flag(Artifact& artifact, PutOff& why) {
    const Snapshot& s = artifact.snapshot();
    std::vector<ProcId> whose{why.server};
    if (why.named.size() == 1) whose.insert(whose.begin(), why.named.front());
    for (const ProcId id : whose) {
        if (allocated_words(s[id]) > largest_server) continue;
        const auto terms = artifact.terms(id);
        if (terms) why.flag = state_flag(s, id, **terms);
        if (!why.flag) continue;
        why.flag_of = id;
        return;
    }
}

}  // namespace

bool MayPutOff::operator()(const Snapshot& s, ProcId id) {
    const Process& process = s[id];
    if (awaits_tables_(s, process.current_function) || loads_tables(s, process)) return true;
    if (process.link_range.count < least_callers) return false;  // nearly all: before names are looked at
    if (!has_role(s, process.current_function, erlang::FunctionRole::may_put_off)) return false;
    if (process.state != ProcessState::waiting || allocated_words(process) > largest_server) return false;
    const auto by =
        static_cast<std::size_t>(std::ranges::count(links_of(s, process), LinkKind::monitored_by, &Link::kind));
    return by >= least_callers && (!has_role(s, process.current_function, erlang::FunctionRole::of_server) ||
                                   callers_of(s, process).size() >= least_callers);
}

std::vector<PutOff> put_off(Artifact& artifact) {
    const Snapshot& s = artifact.snapshot();
    std::vector<PutOff> found;
    add_tables(artifact, found);
    MayPutOff may;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        if (!may(s, ProcId{i}) || waits_for_table(s, s.processes[i]) || loads_tables(s, s.processes[i])) continue;
        const auto terms = artifact.terms(ProcId{i});
        if (!terms) continue;
        const bool log = has_role(s, s.processes[i].current_function, erlang::FunctionRole::of_disk_log);
        if (auto why = log ? blocked_log(s, ProcId{i}, **terms) : taken(s, ProcId{i}, **terms))
            found.push_back(std::move(*why));
    }
    for (PutOff& each : found)
        if (each.why == PutOff::Why::kept) add_flag(artifact, each);
    return found;
}

}  // namespace beamheap::analyses
