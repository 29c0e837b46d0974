// SPDX-License-Identifier: Apache-2.0
// wait-convoy: many processes wait for one.
//
// Theory. Calls to a process queue up behind each other: when it is slow or stuck, all of its callers are. A node whose
// logger hangs has hundreds of thousands of processes that do nothing but wait, and they hold the memory; what one
// sees first, many processes and much memory, is the consequence. So the one that is waited for is named, with what it
// is doing, and the waiters are counted as its victims. If it waits for somebody itself, the one at the end of that
// chain is to blame, and everybody who waits for it counts, through whomever. One that was suspended serves again when
// it is resumed. One that is idle has taken the requests and put the answers off: a pool whose members are all out
// looks so, and whom it watches has them; a state machine postpones them, and a disk log keeps them while somebody has
// blocked it.
//
// Thresholds: at least 10 waiters that are 5 % of all processes, or half of their own kind where the one they wait for
// is stuck or most of their requests still lie in its queue, or 100 whatever their share; those who wait for one of the
// callers count, too. Ten that wait for a process that somebody has suspended are high whatever their share: it will
// not answer. One in five processes waiting for the same one is high (a healthy node has none), so is half of a kind
// that waits for a stuck one; every second process, or a hundred that are half of their kind and wait for ever, are
// critical. Waiting for an idle one is less: it may be what it is for. Fewer than 20, and than one in five, who wait
// for one that is at work, by calls that end after a time, are info.
#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "analyses/processes/senders.hpp"
#include "analyses/rules/own_workers.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/functions.hpp"
#include "erlang/servers.hpp"

namespace beamheap::analyses::rule {
namespace wait_convoy_rule {
namespace {

constexpr std::size_t most_findings = 5;
constexpr std::size_t most_kinds = 32;
constexpr std::uint64_t large_table = 10'000;  // objects
constexpr std::size_t most_holders = 3;
constexpr double most_held_up_percent = 90;
constexpr std::uint64_t few_callers = 20;

Ours advice_for(const Facts& facts, const Process& target, FunctionId function) {
    const std::string_view name = facts.snapshot().text(target.name);
    if (const Ours advice = erlang::advice_of_server(name); !advice.empty()) return advice;
    if (has_role(facts.snapshot(), function, erlang::FunctionRole::manages_events))
        return "The handlers of an event manager run one after the other inside it: find the slow one, and let it drop "
               "or buffer under load (lager: async_threshold; logger: sync_mode_qlen, drop_mode_qlen, flush_qlen).";
    return "Take the slow work out of the one that is called (a pool, a task that replies later with "
           "`gen_server:reply/2`), or make the call a cast with a bound on what may be outstanding.";
}

// The call that most of the waiters are in.
FunctionId usual_call(const Facts& facts, const WaitFanIn& fan, std::uint64_t& count) {
    std::map<std::uint32_t, std::uint64_t> calls;
    for (const std::uint32_t edge : facts.get<Waits>().waiters_of(fan))
        ++calls[index_of(facts.get<Waits>().edges[edge].function)];
    const auto most = std::ranges::max_element(calls, {}, [](const auto& each) { return each.second; });
    count = most->second;
    return FunctionId{most->first};
}

// Those who wait for one process in the end, and the way there.
struct Convoy {
    const WaitFanIn* fan = nullptr;  // of the largest group of direct callers
    ProcId beyond = ProcId::none;    // for whom that one waits, most likely
    ProcId end = ProcId::none;       // at the end of its chain: the one to blame; none: the chain has no end here
    std::uint64_t waiters = 0;       // all who wait for that one, directly or through others
    double percent = 0;              // of all processes: these
    double of_kind = 0;              // of the callers' own kinds
    bool suspended = false, idle = false, stuck = false;
    bool queued = false;   // most requests still lie in its queue: it does not keep up
    bool output = false;   // it ends at a port, or at who writes to standard output: at somebody who does not read
    bool forever = false;  // most calls have no timeout
    bool young = false;    // all are calls of a library's that end by a timeout: nobody has waited for long
    bool working = false;  // whom they wait for is at work itself
    std::vector<ProcId> holders;  // of an idle one: whom it watches and who don't wait for it, or who has its tables
    bool circle = false;          // all of these wait for it themselves, through others
    bool by_table = false;
    Sentence over;                    // of an idle one that has one socket: it may wait for what that brings
    const PutOff* put_off = nullptr;  // of an idle one: why, in its own state
    std::vector<ProcId> workers;      // of one that keeps its callers: its own, where all of them are among these
    Pid ended;                        // who has what they want, and has ended (unanswered.hpp)
    bool explained() const { return put_off != nullptr || !holders.empty() || !over.empty(); }
};

double share_of_kind(const Facts& facts, const WaitFanIn& fan) {
    const Snapshot& s = facts.snapshot();
    std::vector<GroupKey> kinds;
    for (const std::uint32_t edge : facts.get<Waits>().waiters_of(fan)) {
        const GroupKey key = group_key(s[facts.get<Waits>().edges[edge].waiter]);
        if (std::ranges::find(kinds, key) == kinds.end()) kinds.push_back(key);
        if (kinds.size() > most_kinds) return 0;
    }
    std::uint64_t all = 0;
    for (const Process& process : s.processes) all += std::ranges::find(kinds, group_key(process)) != kinds.end();
    return percent_of(fan.waiters, all).value_or(0);
}

// The last process of a chain that ends outside of the process table; its first where that leads around.
ProcId last_process(const Waits& waits, ProcId first) {
    ProcId at = first;
    for (std::size_t steps = 0; steps <= waits.edges.size(); ++steps) {
        const WaitEdge* edge = waits.edge(at);
        if (edge == nullptr || edge->target.process == ProcId::none) return at;
        at = edge->target.process;
    }
    return first;
}

// Of a pool that hands its members out as tables (DBConnection, of Ecto): whoever owns one of them, which have the name
// of the module that the others wait in, has a connection.
std::vector<ProcId> owners_of_members(const Facts& facts, const WaitFanIn& fan) {
    const Snapshot& s = facts.snapshot();
    std::uint64_t count = 0;
    const FunctionId call = usual_call(facts, fan, count);
    std::vector<ProcId> owners;
    if (call == FunctionId::none) return owners;
    const TextId module = s.functions[call].module;
    for (const EtsTable& table : s.ets) {
        if (table.name != module) continue;
        const ProcId owner = s.find(table.owner);
        if (owner == ProcId::none || owner == fan.target.process || facts.get<Waits>().fan_in_of(owner) != nullptr)
            continue;
        if (std::ranges::find(owners, owner) == owners.end()) owners.push_back(owner);
    }
    return owners;
}

// An idle process at the end of a chain to which only an estimate leads, and that tells of nobody whose answer it has
// put off, is not to blame: the one before it sits in a receive of its own.
ProcId known_end(const Facts& facts, ProcId first, ProcId end) {
    const Snapshot& s = facts.snapshot();
    if (end == ProcId::none || end == first || !idle(facts, end) || s[end].msgq_len.value_or(0) != 0 ||
        facts.get<PutOffs>().of(end) != nullptr || !watched_by(facts, end).empty())
        return end;
    const Waits& waits = facts.get<Waits>();
    ProcId at = first;
    for (std::size_t steps = 0; steps <= waits.edges.size(); ++steps) {
        const WaitEdge* const edge = waits.edge(at);
        if (edge == nullptr || edge->target.process == ProcId::none) break;
        if (edge->target.process == end)
            return edge->confidence == Confidence::estimate && s[at].state == ProcessState::waiting ? at : end;
        at = edge->target.process;
    }
    return end;
}

Convoy convoy_of(const Facts& facts, const WaitFanIn& fan) {
    const Snapshot& s = facts.snapshot();
    Convoy convoy;
    convoy.fan = &fan;
    convoy.beyond = end_of_chain(facts.get<Waits>(), fan.target.process);
    convoy.end = known_end(facts, fan.target.process, convoy.beyond);
    if (convoy.beyond == convoy.end) convoy.beyond = ProcId::none;
    const WaitFanIn* const last_fan = convoy.end == ProcId::none ? nullptr : facts.get<Waits>().fan_in_of(convoy.end);
    convoy.waiters = std::max(fan.reaching, last_fan == nullptr ? 0 : last_fan->reaching);
    convoy.percent = percent_of(convoy.waiters, std::uint64_t{s.processes.size()}).value_or(0);
    convoy.of_kind = share_of_kind(facts, fan);
    std::uint64_t forever = 0, bounded = 0;
    for (const std::uint32_t at : facts.get<Waits>().waiters_of(fan)) {
        const WaitEdge& edge = facts.get<Waits>().edges[at];
        forever += edge.infinite;
        bounded += ends_by_timeout(s, edge);
    }
    convoy.forever = forever * 2 >= fan.waiters;
    convoy.young = bounded == fan.waiters;
    const ProcId last = last_process(facts.get<Waits>(), fan.target.process);
    const WaitEdge* edge = facts.get<Waits>().edge(last);
    convoy.output = (edge != nullptr && edge->target.port.has()) ||
                    has_role(s, s[last].current_function, erlang::FunctionRole::writes_terminal);
    convoy.stuck = convoy.output;
    if (edge != nullptr && edge->via == "by_hand" && edge->target.process == ProcId::none && !edge->target.remote())
        convoy.ended = edge->target.pid;
    if (convoy.end == ProcId::none) return convoy;
    const ProcessState state = s[convoy.end].state;
    convoy.suspended = state == ProcessState::suspended || suspended_by_sys(facts, convoy.end);
    convoy.idle = idle(facts, convoy.end) && s[convoy.end].msgq_len.value_or(0) == 0;
    convoy.stuck = convoy.output || convoy.suspended || (state == ProcessState::waiting && !idle(facts, convoy.end));
    convoy.working =
        state == ProcessState::running || state == ProcessState::runnable || state == ProcessState::garbage_collecting;
    convoy.queued = s[convoy.end].msgq_len.value_or(0) * 2 >= fan.waiters;
    if (convoy.idle) convoy.put_off = facts.get<PutOffs>().of(convoy.end);
    if (convoy.put_off != nullptr && convoy.put_off->why == PutOff::Why::tables && convoy.waiters > fan.waiters) {
        convoy.waiters -= fan.waiters;  // each who wants a table has a process of mnesia's wait for it
        convoy.percent = percent_of(convoy.waiters, std::uint64_t{s.processes.size()}).value_or(0);
    }
    if (convoy.put_off != nullptr && convoy.put_off->why != PutOff::Why::kept) return convoy;
    if (convoy.idle) convoy.holders = watched_by(facts, convoy.end);
    if (convoy.idle && convoy.holders.empty()) {
        convoy.holders = owners_of_members(facts, fan);
        convoy.by_table = !convoy.holders.empty();
    }
    // A pool keeps its callers too: who has what they wait for says more.
    if (!convoy.holders.empty()) convoy.put_off = nullptr;
    if (convoy.put_off != nullptr) convoy.workers = workers_who_ask(facts, convoy.put_off->server);
    convoy.circle = !convoy.holders.empty() && std::ranges::all_of(convoy.holders, [&](ProcId holder) {
        return holder != convoy.end && end_of_chain(facts.get<Waits>(), holder) == convoy.end;
    });
    return convoy;
}

FindingSeverity severity_of(const Convoy& convoy) {
    const bool kind = convoy.of_kind >= crowd::critical_percent;
    // Any server that is used has a few callers at some instant.
    if (convoy.working && convoy.young && convoy.waiters < few_callers && convoy.percent < crowd::high_percent)
        return FindingSeverity::info;
    // Who asks for work, and gets it when there is some, waits in this way as well: half of a small healthy node may.
    if (convoy.put_off != nullptr && convoy.put_off->why == PutOff::Why::kept) return FindingSeverity::medium;
    if (convoy.ended.has()) return FindingSeverity::medium;  // what it had is not known
    if (convoy.circle) return FindingSeverity::critical;
    if (convoy.percent >= crowd::critical_percent) return FindingSeverity::critical;
    if (convoy.suspended && !(kind && convoy.forever && convoy.fan->waiters >= crowd::many))
        return FindingSeverity::high;
    if (convoy.idle)
        return convoy.explained() && (kind || convoy.percent >= crowd::high_percent) ? FindingSeverity::high
                                                                                     : FindingSeverity::medium;
    if (convoy.stuck && kind && convoy.forever && convoy.fan->waiters >= crowd::many) return FindingSeverity::critical;
    return convoy.percent >= crowd::high_percent || (convoy.stuck && kind) ? FindingSeverity::high
                                                                           : FindingSeverity::medium;
}

// " in gen_server:call/3 for db <0.79.0>"; where that one waits itself: ", through prices <0.80.0>, for db <0.79.0>"
Sentence whom_they_wait_for(const Facts& facts, const Convoy& convoy, FunctionId call) {
    const WaitTarget& target = convoy.fan->target;
    Sentence text;
    if (convoy.put_off != nullptr && convoy.put_off->why == PutOff::Why::log_blocked)
        return sentence(" for the disk log {}", PrintedTerm{convoy.put_off->what, convoy.put_off->what->term()});
    if (convoy.put_off != nullptr && convoy.put_off->why == PutOff::Why::tables) return Ours(" for tables of mnesia");
    const WaitEdge* next = target.process == ProcId::none ? nullptr : facts.get<Waits>().edge(target.process);
    if (next != nullptr && !next->target.port.has() && convoy.end != target.process) {
        text.say(", through {}, for {}", target_text(facts.snapshot(), target),
                 convoy.end == ProcId::none ? target_text(facts.snapshot(), next->target) : sentence("{}", convoy.end));
    } else if (convoy.waiters == convoy.fan->waiters) {
        text.say(" in {} for {}", call, target_text(facts.snapshot(), target));
    } else {
        text.say(" for {}, {} of them in {}", target_text(facts.snapshot(), target), number(convoy.fan->waiters), call);
    }
    return text;
}

// "; it keeps 35 callers, among them its own 2 workers: <0.368.0> in shop:category/1 and <0.369.0> in shop:product/1"
Sentence kept_workers(const Facts& facts, const Convoy& convoy) {
    constexpr std::size_t most_named = 2;
    const Snapshot& s = facts.snapshot();
    Sentence text =
        sentence("; it keeps {}, among them its own {}: ", Counted{convoy.put_off->count, "caller", "callers"},
                 Counted{convoy.workers.size(), "worker", "workers"});
    for (std::size_t i = 0; i < std::min(convoy.workers.size(), most_named); ++i) {
        const FunctionId by = works_for_function(s, s[convoy.workers[i]]);
        text.say(i == 0 ? Form<1>("{}") : Form<1>(" and {}"), convoy.workers[i]);
        if (by != FunctionId::none) text.say(" in {}", by);
    }
    return text;
}

// "; it keeps 40 callers, and names <0.81.0>, which sits in my:query/1": in its State, as a part of the evidence says
Sentence kept_callers(const Facts& facts, const PutOff& put_off) {
    const Counted callers{put_off.count, "caller", "callers"};
    if (put_off.ended.has())
        return sentence("; it keeps {}, and beside them {}, which has ended", callers, AnyProcess{put_off.ended});
    if (put_off.caller_apart != ProcId::none)
        return sentence("; it keeps {}, one of whom, {}, most likely has what all of them want, and waits for it, too",
                        callers, put_off.caller_apart);
    // Whose turn it would be does not ask any more, and gives nothing back.
    if (put_off.ended_callers > put_off.count)
        return sentence("; it is idle, and keeps {} in its State{}, unanswered, and {} that have ended", callers,
                        put_off.where, number(put_off.ended_callers));
    const Sentence flag = put_off.flag ? sentence("{} is {}", put_off.flag->field,
                                                  PrintedTerm{put_off.flag->value, put_off.flag->value->term()})
                                       : Sentence();
    if (put_off.named.empty()) {
        Sentence text = sentence("; it is idle, and keeps {} in its State{}, unanswered", callers, put_off.where);
        if (!flag.empty()) text.say("; {}", flag);
        return text;
    }
    const ProcId example = put_off.named.front();
    if (put_off.flag_of == example) return sentence("; it keeps {}, and beside them {}: {}", callers, example, flag);
    if (!flag.empty()) return sentence("; it is idle, and keeps {} in its State; {}", callers, flag);
    if (put_off.named.size() == 1)
        return sentence("; it keeps {}, and beside them {}, which {}", callers, example, doing(facts, example));
    Sentence text = sentence("; it keeps {}, and beside them {} others", callers, number(put_off.named.size()));
    // Who has what the callers want, and waits for one process: that one is who holds up all.
    const ProcId end = end_of_chain(facts.get<Waits>(), example);
    const auto ends_there = [&](ProcId id) { return end_of_chain(facts.get<Waits>(), id) == end; };
    const auto alike = static_cast<std::size_t>(std::ranges::count_if(put_off.named, ends_there));
    if (end == ProcId::none || end == example || alike * 2 < put_off.named.size())
        text.say(", one in {}", facts.snapshot()[example].current_function);
    else if (alike == put_off.named.size()) text.say(", who wait for {}, which {}", end, doing(facts, end));
    else text.say(", {} of whom wait for {}, which {}", number(alike), end, doing(facts, end));
    return text;
}

// "; it is idle in its state closed, and has postponed 40 events"; "; log_rotator <0.79.0> has blocked it, and sits in
// timer:sleep/1"
Sentence why_put_off(const Facts& facts, const PutOff& put_off) {
    if (put_off.why == PutOff::Why::postponed)
        return sentence("; it is idle in its state {}, and has postponed {}",
                        PrintedTerm{put_off.what, put_off.what->term()}, Counted{put_off.count, "event", "events"});
    if (put_off.why == PutOff::Why::tables) return sentence("; {}", not_loaded(put_off));
    if (put_off.why == PutOff::Why::kept) return kept_callers(facts, put_off);
    if (put_off.why == PutOff::Why::forgotten)
        return Ours("; it is idle, and has forgotten them: neither its queue nor its State names any of them");
    if (put_off.by == ProcId::none) return Ours("; it was blocked, and was not unblocked");
    return sentence("; {} has blocked it, and {}", put_off.by, doing(facts, put_off.by));
}

// Where those who have something of a pool wait themselves in the end: the function of the program that nearly all are
// held up in, each by a process of its own or itself.
struct HeldUp {
    FunctionId in = FunctionId::none;
    ProcId example = ProcId::none;
    FunctionId at = FunctionId::none;  // the function of a library in which they wait for that, each itself
};

HeldUp held_up(const Facts& facts, const Convoy& convoy) {
    const Snapshot& s = facts.snapshot();
    struct Place {
        std::uint64_t count = 0;
        ProcId example = ProcId::none;
    };
    std::map<std::pair<FunctionId, FunctionId>, Place> places;
    if (!convoy.idle || convoy.holders.size() < 2) return {};
    for (const ProcId holder : convoy.holders) {
        const ProcId end = end_of_chain(facts.get<Waits>(), holder);
        if (end == ProcId::none || end == convoy.end || s[end].state != ProcessState::waiting || idle(facts, end))
            continue;
        const FunctionId at = end == holder ? s[end].current_function : FunctionId::none;
        const FunctionId own = end == holder ? works_for_function(s, s[end]) : caller_of(s, s[end]);
        if (own == FunctionId::none && at == FunctionId::none) continue;
        Place& place = own == FunctionId::none ? places[{at, own}] : places[{own, at}];
        if (place.count++ == 0) place.example = end;
    }
    for (const auto& [function, place] : places)
        if (percent_of(place.count, std::uint64_t{convoy.holders.size()}).value_or(0) >= most_held_up_percent)
            return {function.first, place.example, function.second};
    return {};
}

// "; it waits to send in my_sender:terminate/2; the peer at the other end of #Port<0.7> reads too slowly: 4.0 MiB are
// queued": where the chain ends at a port.
Sentence waits_outside(const Facts& facts, const Convoy& convoy) {
    const Snapshot& s = facts.snapshot();
    const ProcId last = last_process(facts.get<Waits>(), convoy.fan->target.process);
    const WaitEdge* const edge = facts.get<Waits>().edge(last);
    if (edge == nullptr || !edge->target.port.has()) return {};
    const FunctionId by = caller_of(s, s[last]);
    Sentence text = sentence(
        slow_reader(s, edge->target.port).empty() ? Form<1>("; it waits in {}") : Form<1>("; it waits to send in {}"),
        by == FunctionId::none ? edge->function : by);
    text.add(outside(facts, last));
    return text;
}

// "; it has 299 messages and sits in timer:sleep/1"
Sentence state_of_target(const Facts& facts, const Convoy& convoy) {
    const Snapshot& s = facts.snapshot();
    Sentence text;
    const ProcId last = convoy.end;
    if (convoy.ended.has()) return Ours(", which has ended");
    if (last == ProcId::none) return waits_outside(facts, convoy);
    if (!convoy.workers.empty()) return kept_workers(facts, convoy);
    if (convoy.put_off != nullptr) return why_put_off(facts, *convoy.put_off);
    const std::uint64_t queued = s[last].msgq_len.value_or(0);
    text.add(queued == 0 ? Sentence(Ours("; it ")) : sentence("; it has {} and ", messages(queued)));
    if (convoy.idle) text.add(Ours("is idle"));
    else if (suspended_by_sys(facts, last)) text.add(Sentence("was suspended by `sys:suspend/1`"));
    else if (convoy.output) text.say("writes to standard output, and waits until that is read");
    else if (s[last].state == ProcessState::suspended)
        text.say("is suspended in {}{}", s[last].current_function, suspended_by(facts, last));
    else if (const AllSchedulers held = all_schedulers(s);
             s[last].state == ProcessState::runnable && held.function != FunctionId::none)
        text.say("is ready, but all {} are in {}", Counted{held.schedulers, "scheduler", "schedulers"}, held.function);
    else if (const Ours asked = erlang::asked_by_server(s.text(s[last].name)); !asked.empty()) {
        text.say("has asked {}, which has not answered", asked);
        const ProcId asks = convoy.fan->target.process;
        const FunctionId by = asks == last ? FunctionId::none : works_for_function(s, s[asks]);
        if (by != FunctionId::none) text.say("; {} asks it in {}", asks, by);
    } else {
        text.add(doing(facts, last));
        if (convoy.beyond != ProcId::none)
            text.say(", most likely for {}{}", convoy.beyond, outside(facts, convoy.beyond));
        else if (s[last].state == ProcessState::waiting) text.add(outside(facts, last));
    }
    if (convoy.circle)
        text.say(" until {} gives something back, and {} for it, too, through others",
                 convoy.holders.size() == 1 ? sentence("{}", convoy.holders.front())
                                            : sentence("one of {}", processes(convoy.holders.size())),
                 convoy.holders.size() == 1 ? Ours("that one waits") : Ours("all of these wait"));
    else if (convoy.idle && convoy.holders.size() == 1)
        text.say(" until {} gives something back, which {}", convoy.holders.front(),
                 doing(facts, convoy.holders.front()));
    else if (const HeldUp held = held_up(facts, convoy); held.in != FunctionId::none)
        text.say(
            " until one of {} gives something back, all held up in {}", number(convoy.holders.size()),
            held.at == FunctionId::none ? sentence("{}", held.in) : sentence("{}, called by {}", held.at, held.in));
    else if (convoy.idle && !convoy.holders.empty())
        text.say(" until one of {} gives something back", processes(convoy.holders.size()));
    else if (convoy.idle && !convoy.over.empty()) text.add(convoy.over);
    else if (const ProcId works = convoy.idle ? only_busy_child(facts, last) : ProcId::none; works != ProcId::none)
        text.say(", its answers put off; {}, which it has started, {}", works, doing(facts, works));
    else if (convoy.idle) text.say(", its answers put off{}", waits_below(facts, last));
    return text;
}

// The program that a process has started, where it has one open: who is stuck may wait for that one's answer, of which
// no call tells.
const Port* only_program(const Snapshot& s, const Pid& pid) {
    const Port* found = nullptr;
    for (const Port& port : s.ports) {
        if (port.connected != pid || s.text(port.kind) != "external process") continue;
        if (found != nullptr) return nullptr;
        found = &port;
    }
    return found;
}

void add_proof(const Facts& facts, const Convoy& convoy, FunctionId call, std::uint64_t in_usual, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const WaitFanIn& fan = *convoy.fan;
    Sum held;
    std::uint64_t exact = 0, forever = 0;
    for (const std::uint32_t edge : facts.get<Waits>().waiters_of(fan)) {
        const WaitEdge& each = facts.get<Waits>().edges[edge];
        held.add(process_bytes(facts, s[each.waiter]));
        exact += each.confidence == Confidence::exact;
        forever += each.infinite;
        finding.members.push_back(each.waiter);
    }
    finding.bytes = held.value();
    finding.confidence = exact == fan.waiters ? Confidence::exact : Confidence::estimate;
    finding.evidence.push_back(
        figure("processes that wait for it", convoy.waiters, AmountUnit::count, finding.confidence));
    if (in_usual != convoy.waiters)
        finding.evidence.push_back(
            figure(sentence("of them in {} for {}", call, target_text(s, fan.target)), in_usual, AmountUnit::count));
    if (convoy.of_kind > convoy.percent)
        finding.evidence.push_back(share("of the processes of their kind", convoy.of_kind, finding.confidence));
    finding.evidence.push_back(figure("memory that the waiters hold", held.value(), AmountUnit::bytes));
    if (forever != 0) finding.evidence.push_back(figure("of the calls without a timeout", forever, AmountUnit::count));
    if (finding.process == ProcId::none) return;
    finding.evidence.push_back(figure("messages in its queue", s[finding.process].msgq_len, AmountUnit::count));
    finding.evidence.push_back(figure("its own memory", process_bytes(facts, s[finding.process]), AmountUnit::bytes));
    add_stack(facts, finding.process, finding);
    if (const Port* program = only_program(s, finding.pid); program != nullptr)
        finding.evidence.push_back(
            fact("its program", sentence("{} ({})", message(s.text(program->driver)), program->port)));
    if (convoy.put_off != nullptr && convoy.put_off->why == PutOff::Why::forgotten)
        finding.evidence.push_back(figure("callers whom it knows", std::uint64_t{0}, AmountUnit::count));
    if (convoy.put_off != nullptr && convoy.put_off->ended.has())
        finding.evidence.push_back(
            fact("whom its State names, and who has ended", sentence("{}", AnyProcess{convoy.put_off->ended})));
    if (convoy.put_off != nullptr && convoy.put_off->caller_apart != ProcId::none)
        finding.evidence.push_back(
            fact("which caller its State names once more, by itself",
                 sentence("{}: {}", convoy.put_off->caller_apart, frames_text(facts, convoy.put_off->caller_apart)),
                 Confidence::estimate));
    for (std::size_t i = 0; convoy.put_off != nullptr && i < std::min(convoy.put_off->named.size(), most_holders); ++i)
        finding.evidence.push_back(fact(sentence("{}, whom its State names", convoy.put_off->named[i]),
                                        doing(facts, convoy.put_off->named[i]), Confidence::estimate));
    if (const HeldUp users = held_up(facts, convoy); users.in != FunctionId::none)
        finding.evidence.push_back(fact("one that holds those up who have what the others want",
                                        sentence("{}: {}", users.example, frames_text(facts, users.example))));
    for (std::size_t i = 0; i < std::min(convoy.holders.size(), most_holders); ++i)
        finding.evidence.push_back(
            fact(sentence(convoy.by_table ? Form<1>("{}, who has one of its tables") : Form<1>("{}, whom it watches"),
                          convoy.holders[i]),
                 doing(facts, convoy.holders[i]), Confidence::estimate));
    if (const Suspender by = suspender_of(facts, finding.process); by.process != ProcId::none)
        finding.evidence.push_back(
            fact("suspended by", sentence("{}: {}", by.process, frames_text(facts, by.process)), by.confidence));
}

// Whether the one at the end was given what the others want by the server that these have asked, in messages of their
// own (unanswered.hpp).
bool has_what_is_wanted(const Facts& facts, const Convoy& convoy) {
    const WaitEdge* const edge =
        convoy.fan->target.process == ProcId::none ? nullptr : facts.get<Waits>().edge(convoy.fan->target.process);
    return edge != nullptr && edge->via == "by_hand" && convoy.end != ProcId::none &&
           edge->target.process == convoy.end && facts.snapshot()[convoy.fan->target.process].msgq_len.value_or(0) == 0;
}

void add_steps_of_put_off(const Snapshot& s, const Convoy& convoy, Finding& finding) {
    const PutOff& put_off = *convoy.put_off;
    if (put_off.why == PutOff::Why::postponed) {
        finding.advise(
            "It takes them when its state changes: see what it waits for, and give that state an end (`state_timeout`) "
            "at which callers are answered with an error: {}",
            Command{"proc", s[finding.process].pid});
    } else if (put_off.why == PutOff::Why::kept) {
        if (!convoy.workers.empty())
            finding.advise(
                "Look at what its workers call: one that needs, through the same server, what another one of them is "
                "to bring never ends. Get that without the server, or before it is asked: {}",
                Command{"proc", s[convoy.workers.front()].pid});
        if (!put_off.named.empty())
            finding.advise("Look at whom its State names: it may have what the others wait for, or be asked for it: {}",
                           Command{"proc", s[put_off.named.front()].pid});
        if (put_off.caller_apart != ProcId::none)
            finding.advise(
                "See what its State has of that one: a process that asks for what it has already (a lock, a turn) "
                "waits for itself; give it to that one again, or refuse it: {}",
                Command{"heap", s[finding.process].pid});
        if (put_off.ended.has())
            finding.advise(
                "What its State names has ended: where that had a lock or a connection, the server has to monitor who "
                "has it, and take it back at 'DOWN'. See its State: {}",
                Command{"heap", s[finding.process].pid});
        finding.advise(
            "It has taken their calls, to answer later with `gen_server:reply/2`, and waits for what makes it do so: "
            "an answer, a timer, a worker that may have ended: {}",
            Command{"proc", s[finding.process].pid});
        finding.advise(
            "Give what it keeps a time after which it answers with an error. Workers that ask for work in this way are "
            "at rest, and not stuck.");
    } else if (put_off.why == PutOff::Why::forgotten) {
        finding.advise(
            "Look for a callback that returns `noreply` and keeps `From` nowhere: an answer can only be sent by who "
            "has that. See its State: {}",
            Command{"heap", s[finding.process].pid});
        finding.advise(
            "Answer in each branch, with `{reply, ...}` or later with `gen_server:reply/2`; and give the calls a "
            "timeout, so that such a fault is seen.");
    } else if (put_off.why == PutOff::Why::tables) {
        finding.next_steps.emplace_back(tables_advice);
        finding.advise("See which nodes it knows and which are up, on the running node: `mnesia:info()`.");
    } else {
        finding.advise(
            "Let who has called `disk_log:block/1` call `disk_log:unblock/1`; it is also unblocked when that process "
            "ends: {}",
            Command{"proc", s[finding.process].pid});
    }
}

void add_steps(const Facts& facts, const Convoy& convoy, FunctionId call, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const bool given = has_what_is_wanted(facts, convoy);
    if (finding.process == ProcId::none) {
        finding.advise("Look for the one that it waits for: `beamheap waits DUMP`");
        return;
    }
    if (convoy.ended.has()) {
        finding.advise(
            "Look at what the server keeps: it names {}, and waits until that gives something back, which it can't any "
            "more: {}",
            AnyProcess{convoy.ended}, Command{"heap", s[finding.process].pid});
        finding.advise(
            "End the server, or let it give that to the next; and let it monitor whom it gives something "
            "(`erlang:monitor/2`), and take it back at 'DOWN'.");
    } else if (convoy.output) {
        finding.advise(
            "Look at who should read there, and does not: a terminal that is stopped, a pipe whose reader hangs, a log "
            "collector, the other side of a connection.");
    } else if (convoy.suspended) {
        advise_to_resume(facts, finding.process, finding);
    } else if (convoy.put_off != nullptr) {
        add_steps_of_put_off(s, convoy, finding);
    } else if (convoy.circle) {
        finding.advise(
            "Who has one of its members must not wait for others that need one: let these use the same one (in the "
            "same process, or by handing it on), or get all that is needed before any is held. A larger pool only "
            "needs more at once to stand still: {}",
            Command{"proc", s[convoy.holders.front()].pid});
    } else if (const HeldUp held = held_up(facts, convoy); held.in != FunctionId::none) {
        finding.advise("Look at what holds up those who have what the others want: {}",
                       Command{"proc", s[held.example].pid});
        finding.advise("Give what they do a time, and a checkout as well: more members are held up in the same way.");
    } else if (convoy.idle && !convoy.holders.empty()) {
        finding.advise("Look at what those do who have what the others wait for: {}",
                       Command{"proc", s[convoy.holders.front()].pid});
        finding.advise(
            "Make the pool larger, or what is done with its members shorter; give a checkout a timeout, and what was "
            "checked out a bound on its use.");
    } else if (given) {
        finding.advise(
            "Look at what it does: the server has answered it and keeps the others waiting until it gives back what it "
            "was given, a lock or a connection: {}",
            Command{"proc", s[finding.process].pid});
        finding.advise(
            "Let it do what is slow before it asks, or after it has given that back; let the server monitor who has "
            "it, and take it back after a time.");
    } else {
        finding.advise(
            "Find out why it does not answer; the waiters are victims, and longer timeouts only make more of them: {}",
            Command{"proc", s[finding.process].pid});
    }
    if (const Ours advice = erlang::advice_of_server(s.text(s[finding.process].name));
        !advice.empty() && finding.process != convoy.fan->target.process)
        finding.next_steps.emplace_back(advice);
    if (finding.process != convoy.fan->target.process)
        finding.advise("Follow the chain to its end: `beamheap waits DUMP`");
    if (!convoy.suspended && !convoy.explained() && !given)
        finding.next_steps.emplace_back(advice_for(facts, s[convoy.fan->target.process], call));
    finding.advise("See what is asked of it: {}", Command{"msgs", s[convoy.fan->target.process].pid, "--by shape"});
}

// What one who works, and does not wait, has to go through may be a table of its own.
void say_own_table(const Facts& facts, const Convoy& convoy, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const ProcId asked = convoy.fan->target.process;
    if (asked == ProcId::none || !finding.behind.empty() ||
        (s[asked].state != ProcessState::running && s[asked].state != ProcessState::runnable))
        return;
    const EtsTable* most = nullptr;
    for (const EtsTable& table : s.ets)
        if (table.owner == s[asked].pid && table.objects.value_or(0) >= large_table &&
            (most == nullptr || *table.objects > *most->objects))
            most = &table;
    if (most == nullptr) return;
    finding.behind.say("Its table {} has {}", Name{most->name != TextId::none ? most->name : most->id},
                       Counted{*most->objects, "object", "objects"});
    finding.advise(
        "See whether what it does goes through all of a large table, or has to be done for each object: "
        "`beamheap ets DUMP`");
}

Finding finding_of(const Facts& facts, const Convoy& convoy) {
    const Snapshot& s = facts.snapshot();
    const WaitFanIn& fan = *convoy.fan;
    Finding finding;
    finding.severity = severity_of(convoy);
    std::uint64_t in_usual = 0;
    const FunctionId call = usual_call(facts, fan, in_usual);
    const bool blamed = convoy.end != ProcId::none;
    const bool blocker = convoy.put_off != nullptr && convoy.put_off->by != ProcId::none;
    about(facts, blocker ? convoy.put_off->by : blamed ? convoy.end : fan.target.process, finding);
    finding.role = blamed || convoy.output ? FindingRole::cause : FindingRole::victim;
    finding.of_waiting = true;
    finding.count = convoy.waiters;
    finding.percent = convoy.percent;
    if (convoy.circle) finding.title.say("Deadlock through a pool: ");
    finding.title.say("{} of {} processes ({}) wait{}{}", number(convoy.waiters), number(s.processes.size()),
                      Percent{convoy.percent}, whom_they_wait_for(facts, convoy, call), state_of_target(facts, convoy));
    if (convoy.put_off != nullptr && convoy.put_off->why == PutOff::Why::tables) say_absent_nodes(facts, finding);
    if (!convoy.workers.empty())
        finding.behind = Ours(
            "Its workers most likely are to bring what all wait for, and wait for that themselves, or for each other");
    add_proof(facts, convoy, call, in_usual, finding);
    say_own_table(facts, convoy, finding);
    add_steps(facts, convoy, call, finding);
    return finding;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    std::vector<Convoy> convoys;
    for (const WaitFanIn& fan : facts.get<Waits>().fan_in) {
        if (fan.waiters < crowd::least) break;  // most waiters come first
        // Ports are slow-socket's, other nodes node-hung's, and an application that does not start start-blocked's.
        if (fan.target.process == ProcId::none || starts_block(facts, fan.target.process)) continue;
        const Convoy convoy = convoy_of(facts, fan);
        const double reaching = percent_of(fan.reaching, std::uint64_t{facts.snapshot().processes.size()}).value_or(0);
        const bool many = fan.waiters >= crowd::many || reaching >= crowd::least_percent || convoy.suspended ||
                          ((convoy.stuck || convoy.queued) && convoy.of_kind >= crowd::critical_percent);
        if (!many) continue;
        // Several groups may wait for the same one in the end: it is one story, told of the largest.
        const auto same = [&](const Convoy& each) { return each.end != ProcId::none && each.end == convoy.end; };
        if (std::ranges::any_of(convoys, same)) continue;
        convoys.push_back(convoy);
        if (convoys.size() == most_findings) break;
    }
    for (Convoy& convoy : convoys) {
        if (convoy.idle && !convoy.explained()) convoy.over = outside(facts, convoy.end);
        findings.push_back(finding_of(facts, convoy));
    }
}

}  // namespace
}  // namespace wait_convoy_rule

Rule wait_convoy() { return {"wait-convoy", 50, wait_convoy_rule::run}; }

}  // namespace beamheap::analyses::rule
