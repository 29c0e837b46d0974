// SPDX-License-Identifier: Apache-2.0
// lock-held: many processes want a lock that one does not give back.
//
// Theory. See locks.hpp: who waits for a lock of mnesia or global sleeps in the library, so that neither queues nor
// calls point at the holder. It is among those in a function that runs under such a lock and who don't wait for one:
// where there is one only, it is the holder; a core image also has the table of locks, which says who has which.
//
// A deadlock goes through such a lock where all who may hold it wait, along their calls, for one process that wants it:
// a server that takes the lock in a callback, and is called by those who hold it. No cycle of calls shows that.
//
// Thresholds: five who wait are medium, ten are high if they are half of those who use such locks and somebody inside
// is held up in other code: a lock that everybody wants and that goes round is contention, as one does that nobody
// holds at this instant, and no other node may. A deadlock is high. Half of all processes is critical.
#include <algorithm>

#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace lock_held_rule {
namespace {

constexpr std::size_t least_waiters = 5;
constexpr std::size_t many_waiters = 10;
constexpr double high_percent = 50;
constexpr double critical_percent = 50;
constexpr std::size_t most_named = 3;
constexpr std::size_t most_steps = 16;  // of a chain of waiting processes

// Not running, nor in the library itself.
bool held_up(const Facts& facts, ProcId process) {
    const ProcessState state = facts.snapshot()[process].state;
    return state == ProcessState::waiting || state == ProcessState::suspended;
}

// Holders by the table of locks where it was read, else those who are inside.
std::vector<ProcId> holders_of(const Facts& facts, const LockQueue& queue) {
    std::vector<ProcId> found;
    for (const HeldLock& lock : queue.held)
        if (const ProcId id = facts.snapshot().find(lock.holder); id != ProcId::none) found.push_back(id);
    return found.empty() ? queue.inside : found;
}

// Who is asked for the lock, too, and may hang: the connected node from which nothing has come for longest; where
// nothing is known of that, the only one.
struct OtherNode {
    TextId node = TextId::none;
    std::uint64_t silent = 0;  // milliseconds
    bool any = false;          // there is one that is connected
};

OtherNode other_node(const Facts& facts) {
    OtherNode found;
    std::size_t others = 0;
    TextId last = TextId::none;
    for (const DistNode& node : facts.snapshot().nodes) {
        if (node.kind != DistNode::Kind::visible) continue;
        ++others;
        last = node.name;
        if (const std::uint64_t silent = silent_ms(facts, node.name).value_or(0); silent > found.silent)
            found = {node.name, silent};
    }
    if (found.node == TextId::none && others == 1) found.node = last;
    found.any = others != 0;
    return found;
}

void say_other_node(const Facts& facts, Finding& finding) {
    const OtherNode other = other_node(facts);
    if (!other.any) {
        finding.title.say("; nobody is in a function that runs under one: they take turns");
        finding.advise(
            "What all of them write (a counter, one record) wants one process that owns it, "
            "`mnesia:dirty_update_counter/3`, or a record for each.");
        return;
    }
    finding.title.say("; nobody here is in a function that runs under one: look at ");
    if (other.node == TextId::none) finding.title.say("the other nodes");
    else if (other.silent == 0) finding.title.say("node {}", Name{other.node});
    else finding.title.say("node {}, silent for {}", Name{other.node}, Amount{other.silent, AmountUnit::milliseconds});
    if (other.silent == 0) return;
    finding.evidence.push_back(figure(sentence("nothing has come from node {} for at least", Name{other.node}),
                                      other.silent, AmountUnit::milliseconds, Confidence::lower_bound));
    finding.advise(
        "Locks are asked of all nodes that share them, and each has to answer: see whether that node hangs, or the way "
        "to it; it is given up after net_ticktime, and the locks are asked for anew.");
}

// Whom a process waits for in the end, of those who want the lock; none: nobody.
ProcId wanter_behind(const Facts& facts, const std::vector<bool>& wants, ProcId process) {
    const Waits& waits = facts.get<Waits>();
    for (std::size_t steps = 0; steps < most_steps; ++steps) {
        const WaitEdge* const edge = waits.edge(process);
        if (edge == nullptr || edge->target.process == ProcId::none) return ProcId::none;
        process = edge->target.process;
        if (wants[index_of(process)]) return process;
    }
    return ProcId::none;
}

// The one who wants the lock and for whom all wait who may hold it.
ProcId closes_circle(const Facts& facts, const LockQueue& queue, const std::vector<ProcId>& holders) {
    std::vector<bool> wants(facts.snapshot().processes.size());
    for (const ProcId id : queue.waiters) wants[index_of(id)] = true;
    ProcId found = ProcId::none;
    for (const ProcId holder : holders) {
        const ProcId wanter = wanter_behind(facts, wants, holder);
        if (wanter == ProcId::none || (found != ProcId::none && wanter != found)) return ProcId::none;
        found = wanter;
    }
    return found;
}

// "; that is a deadlock: fx_desk <0.98.0>, which wants it, sits in timer:sleep/1, called by fx_desk:exposure/1, and all
// 122 processes that may hold it wait for fx_desk"
void say_circle(const Facts& facts, const LockQueue& queue, const std::vector<ProcId>& holders, ProcId wanter,
                Finding& finding) {
    about(facts, wanter, finding);
    finding.title.say("; that is a deadlock: {} wants it and {}; ", wanter, doing(facts, wanter));
    if (holders.size() > 1) finding.title.say("the {} that may hold it all wait for that", processes(holders.size()));
    else if (queue.held.empty())
        finding.title.say("{} is the only one who can hold it, and waits for that", holders[0]);
    else finding.title.say("{} holds it, and waits for that", holders[0]);
    finding.advise(
        "Who holds a lock may not call a server that takes the same lock: make the call before the lock is taken, or "
        "let the server do without it, and give both a timeout.");
}

void say_holder(const Facts& facts, const LockQueue& queue, const std::vector<ProcId>& holders, Finding& finding) {
    if (holders.empty()) {
        say_other_node(facts, finding);
        return;
    }
    about(facts, holders.front(), finding);
    const auto lock = std::ranges::find(queue.held, facts.snapshot()[holders.front()].pid, &HeldLock::holder);
    if (lock != queue.held.end())
        finding.title.say("; {} holds that on {}, and it {}", holders.front(),
                          PrintedTerm{lock->what, lock->what->term()}, doing(facts, holders.front()));
    else if (holders.size() == 1)
        finding.title.say("; {} is the only one who can hold it, and it {}", holders.front(),
                          doing(facts, holders.front()));
    else
        finding.title.say("; one of {} holds it, as {}, which {}", processes(holders.size()), holders.front(),
                          doing(facts, holders.front()));
}

// Those who want the lock, and behind them all who wait for one of those in the end; also by way of an idle process
// with callers that watches such ones: a pool whose members are all held up.
std::vector<ProcId> held_up_by(const Facts& facts, const LockQueue& queue) {
    const Snapshot& s = facts.snapshot();
    std::vector<bool> behind(s.processes.size());
    std::vector<ProcId> found = queue.waiters;
    for (const ProcId id : found) behind[index_of(id)] = true;
    const auto add = [&](ProcId id) {
        if (id == ProcId::none || behind[index_of(id)]) return false;
        behind[index_of(id)] = true;
        found.push_back(id);
        return true;
    };
    bool more = true;
    for (std::size_t steps = 0; more && steps < most_steps; ++steps) {
        more = false;
        for (const WaitFanIn& fan : facts.get<Waits>().fan_in) {
            const ProcId target = fan.target.process;
            if (target == ProcId::none) continue;
            const auto is_behind = [&](ProcId id) { return behind[index_of(id)]; };
            if (!behind[index_of(target)] && idle(facts, target)) {
                const std::vector<ProcId> members = watched_by(facts, target);
                if (!members.empty() && std::ranges::all_of(members, is_behind)) more = add(target) || more;
            }
            if (behind[index_of(target)])
                for (const std::uint32_t edge : facts.get<Waits>().waiters_of(fan))
                    more = add(facts.get<Waits>().edges[edge].waiter) || more;
        }
    }
    return found;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    for (const LockQueue& queue : facts.get<Locks>().queues) {
        const std::vector<ProcId> everybody = held_up_by(facts, queue);
        if (everybody.size() < least_waiters) continue;
        std::vector<ProcId> holders = holders_of(facts, queue);
        std::stable_partition(holders.begin(), holders.end(), [&](ProcId id) { return held_up(facts, id); });
        const bool stuck = holders.empty() || held_up(facts, holders.front());
        const double percent =
            percent_of(std::uint64_t{everybody.size()}, std::uint64_t{s.processes.size()}).value_or(0);
        const double of_users =
            percent_of(std::uint64_t{queue.waiters.size()}, std::uint64_t{queue.waiters.size() + queue.inside.size()})
                .value_or(0);
        Finding finding;
        finding.severity = FindingSeverity::medium;
        const bool turns = holders.empty() && !other_node(facts).any;
        // Taking turns is what a lock is for, until many of the node's processes do nothing else.
        if (turns && percent < crowd::high_percent) finding.severity = FindingSeverity::info;
        if (stuck && !turns && everybody.size() >= many_waiters && of_users >= high_percent)
            finding.severity = percent >= critical_percent ? FindingSeverity::critical : FindingSeverity::high;
        const ProcId circle = closes_circle(facts, queue, holders);
        if (circle != ProcId::none && finding.severity != FindingSeverity::critical)
            finding.severity = percent >= critical_percent ? FindingSeverity::critical : FindingSeverity::high;
        finding.subject = {SubjectKind::group, queue.kind->what};
        finding.count = everybody.size();
        finding.percent = percent;
        finding.confidence = queue.held.empty() ? Confidence::estimate : Confidence::exact;
        finding.members = everybody;
        finding.title.say("{} of {} processes ({}) wait for {}", number(everybody.size()), number(s.processes.size()),
                          Percent{percent}, queue.kind->what);
        if (circle != ProcId::none) say_circle(facts, queue, holders, circle, finding);
        else say_holder(facts, queue, holders, finding);
        Sum memory;
        for (const ProcId id : everybody) memory.add(process_bytes(facts, s[id]));
        finding.bytes = memory.value();
        finding.evidence.push_back(figure("processes that want it", queue.waiters.size(), AmountUnit::count));
        if (everybody.size() > queue.waiters.size())
            finding.evidence.push_back(
                figure("processes that wait for those", everybody.size() - queue.waiters.size(), AmountUnit::count));
        finding.evidence.push_back(
            figure("in functions that run under such a lock", queue.inside.size(), AmountUnit::count));
        finding.evidence.push_back(figure("memory that the waiters hold", memory.value(), AmountUnit::bytes));
        finding.evidence.push_back(fact("one who waits", frames_text(facts, queue.waiters.front())));
        for (std::size_t i = 0; i < std::min(holders.size(), most_named); ++i)
            finding.evidence.push_back(
                fact(sentence("{}", holders[i]), frames_text(facts, holders[i]), finding.confidence));
        if (!holders.empty())
            finding.advise("Look at what it does under the lock: {}", Command{"proc", s[holders.front()].pid});
        finding.next_steps.emplace_back(queue.kind->advice);
        if (!queue.table_read)
            finding.advise(
                "Which lock it is stands in a table: a core image tells it, or on a running node `ets:tab2list/1`.");
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace lock_held_rule

Rule lock_held() { return {"lock-held", 44, lock_held_rule::run}; }

}  // namespace beamheap::analyses::rule
