// SPDX-License-Identifier: Apache-2.0
// run-queue: more processes are ready to run than the schedulers can serve.
//
// Theory. A process that has something to do stands in the run queue of a scheduler until its turn. A healthy node has
// a few there; hundreds for each scheduler mean that everybody waits for a core, that timeouts run out and queues grow
// with nobody to blame for it. What most of them run tells the kind of work that is too much: so many requests, so many
// loops. The queues are counted for the instant of the crash, the states of the processes shortly after: the larger one
// counts.
// Where one process has done most of all work, and goes on, it is named: what it sends may make all others ready.
//
// Thresholds: 100, and 20 for each scheduler, are medium; 1,000, and 200 for each, are high. Where all schedulers are
// in the same function, ten and five for each are enough: that may be one in C that does not give them back (a NIF, a
// comparison of huge terms), which nobody is scheduled beside. The same where erlang:system_flag(multi_scheduling,
// block) has left one of the schedulers to work for all, and where as many as there are schedulers have a higher
// priority than the rest: both are high. In a core image native stacks tell that none of them is in Erlang code: one
// who waits is enough then.
#include <algorithm>
#include <map>
#include <set>

#include "analyses/base/sum.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace run_queue_rule {
namespace {

constexpr std::uint64_t least_ready = 100, least_each = 20;
constexpr std::uint64_t least_held = 10, least_held_each = 5;  // where all schedulers are in one function
constexpr std::uint64_t many_ready = 1'000, many_each = 200;

constexpr double most_work_percent = 50;  // of all reductions

// Who has done most of all work and has more to do: whoever is ready may be so by what that one sends.
ProcId does_most(const Snapshot& s) {
    std::uint64_t all = 0;
    ProcId most = ProcId::none;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const std::uint64_t here = s.processes[i].reductions.value_or(0);
        all = saturating_add(all, here);
        if (most == ProcId::none || here > s[most].reductions.value_or(0)) most = ProcId{i};
    }
    if (most == ProcId::none || percent_of(s[most].reductions, all).value_or(0) < most_work_percent)
        return ProcId::none;
    const ProcessState state = s[most].state;
    const bool works =
        state == ProcessState::running || state == ProcessState::runnable || state == ProcessState::garbage_collecting;
    return works ? most : ProcId::none;
}

struct Queues {
    std::uint64_t schedulers = 0, queued = 0, longest = 0;
    std::uint64_t dirty = 0;  // on dirty schedulers, or in the queues of these: listed as running or ready, too
};

Queues queues(const Snapshot& s) {
    Queues found;
    for (const Scheduler& scheduler : s.schedulers) {
        const std::uint64_t here = queued_processes(scheduler);
        if (scheduler.kind != Scheduler::Kind::normal) {
            found.dirty = saturating_add(found.dirty, saturating_add(here, scheduler.current_process.has() ? 1 : 0));
            continue;
        }
        ++found.schedulers;
        found.queued = saturating_add(found.queued, here);
        found.longest = std::max(found.longest, here);
    }
    return found;
}

struct Work {
    std::uint64_t ready = 0;  // running, or ready to
    FunctionId function = FunctionId::none;
    std::uint64_t in_function = 0;
    ProcId example = ProcId::none;
};

Work work(const Snapshot& s) {
    Work found;
    std::map<std::uint32_t, std::uint64_t> functions;
    for (const Process& process : s.processes) {
        if (process.state != ProcessState::running && process.state != ProcessState::runnable) continue;
        ++found.ready;
        if (process.current_function != FunctionId::none) ++functions[index_of(process.current_function)];
    }
    for (const auto& [function, count] : functions)
        if (count > found.in_function) found.in_function = count, found.function = FunctionId{function};
    for (std::uint32_t i = 0; i < s.processes.size() && found.example == ProcId::none; ++i)
        if (s.processes[i].current_function == found.function &&
            (s.processes[i].state == ProcessState::runnable || s.processes[i].state == ProcessState::running))
            found.example = ProcId{i};
    return found;
}

// How many schedulers stand still for somebody who has blocked multi-scheduling: one then has the flag of who executes
// meanwhile. (Those that are not online are suspended, too, without that.)
std::uint64_t blocked(const Snapshot& s) {
    std::uint64_t suspended = 0;
    bool executes = false;
    for (const Scheduler& scheduler : s.schedulers) {
        if (scheduler.kind != Scheduler::Kind::normal) continue;
        executes |= has_flag(s, scheduler.sleep_flags, "MSB_EXEC");
        suspended += has_flag(s, scheduler.sleep_flags, "SUSPENDED");
    }
    return executes ? suspended : 0;
}

// Those who are preferred, and have something to do: as long as one of them has, nobody of a lower priority runs on its
// scheduler.
struct Preferred {
    std::uint64_t count = 0;
    ProcId example = ProcId::none;  // who has done the most work
};

Preferred preferred(const Snapshot& s) {
    Preferred found;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const Process& process = s.processes[i];
        if (process.state != ProcessState::running && process.state != ProcessState::runnable) continue;
        if (!has_flag(s, process.internal_state, "ACT_PRIO_HIGH") &&
            !has_flag(s, process.internal_state, "ACT_PRIO_MAX"))
            continue;
        ++found.count;
        if (found.example == ProcId::none || process.reductions.value_or(0) > s[found.example].reductions.value_or(0))
            found.example = ProcId{i};
    }
    return found;
}

// "<0.283.0> (rate_sampler:run/1) in lists:seq/2, called by rate_sampler:sample/1"
Sentence preferred_text(const Snapshot& s, ProcId id) {
    const Process& process = s[id];
    const bool says_kind = process.name == TextId::none && first_call(process) == process.current_function;
    return sentence("{} in {}{}", says_kind ? sentence("{}", process.pid) : sentence("{}", id),
                    process.current_function, caller(s, process));
}

// The function that is on the stacks of the most schedulers that run something, of any kind.
struct OnSchedulers {
    FunctionId function = FunctionId::none;
    std::uint64_t in_it = 0, busy = 0;
};

OnSchedulers on_schedulers(const Snapshot& s) {
    OnSchedulers found;
    std::map<std::uint32_t, std::uint64_t> counts;
    for (const Scheduler& scheduler : s.schedulers) {
        const ProcId id = s.find(scheduler.current_process);
        StackId stack = scheduler.stack;
        if (stack == StackId::none && id != ProcId::none) stack = s[id].stack;
        std::set<std::uint32_t> here;
        for (const Frame& frame : s.stacks[stack])
            if (frame.function != FunctionId::none) here.insert(index_of(frame.function));
        found.busy += !here.empty();
        for (const std::uint32_t function : here) ++counts[function];
    }
    for (const auto& [function, count] : counts)
        if (count > found.in_it) found.in_it = count, found.function = FunctionId{function};
    return found;
}

constexpr Form<0> in_c =
    "Where that is a function in C (a NIF, a comparison or a hash of a huge term), it keeps its scheduler until it is "
    "done: run it on a dirty scheduler, or in pieces.";

// All schedulers are in C, for the same function; few wait, perhaps since whoever would make more of them waits, too.
Finding held_in_native(const Snapshot& s, const AllSchedulers& held, std::uint64_t queued) {
    Finding finding;
    finding.severity = FindingSeverity::medium;
    finding.subject = {SubjectKind::group, sentence("{}", held.function)};
    finding.count = queued;
    finding.confidence = Confidence::estimate;
    finding.title.say("All {} are in C code, called by {}, and {} for one of them",
                      Counted{held.schedulers, "scheduler", "schedulers"}, held.function,
                      queued == 1 ? sentence("1 process waits") : sentence("{} wait", processes(queued)));
    finding.evidence.push_back(figure("in the run queues", queued, AmountUnit::count));
    for (const Scheduler& scheduler : s.schedulers)
        if (const ProcId id = s.find(scheduler.current_process);
            scheduler.kind == Scheduler::Kind::normal && id != ProcId::none)
            finding.evidence.push_back(fact("one of those that run", sentence("{}", id)));
    finding.advise(
        "See which function in C it is: `beamheap schedulers DUMP`; a second image some seconds later tells whether it "
        "has come back.");
    finding.advise(in_c);
    return finding;
}

// Whether those who wait for a scheduler do the same as those who run, and have done as much: they take turns, so that
// none of them keeps its scheduler, and that all who run now are in C is chance.
bool take_turns(const Snapshot& s, FunctionId function) {
    constexpr std::uint64_t part = 4, much = 1'000'000;  // of the reductions of who runs; reductions
    std::uint64_t most = 0, least = ~0ull, waiting = 0;
    for (const Process& process : s.processes) {
        if (process.state == ProcessState::running) most = std::max(most, process.reductions.value_or(0));
        if (process.state != ProcessState::runnable) continue;
        ++waiting;
        least = std::min(least, process.reductions.value_or(0));
        const std::span<const Frame> stack = s.stacks[process.stack];
        if (process.current_function != function && std::ranges::find(stack, function, &Frame::function) == stack.end())
            return false;
    }
    return waiting != 0 && least >= std::max(much, most / part);
}

// Who has done most of all work, and on what.
void say_who_works(const Facts& facts, ProcId most, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    Sum all;
    for (const Process& process : s.processes) all.add(process.reductions);
    finding.title.say("; {}, one of them, has done {} of all work", most,
                      Percent{percent_of(s[most].reductions, all.value()).value_or(0)});
    const TermFacts* const seen = facts.get<SuspectTerms>().of(most);
    if (seen != nullptr && !seen->shapes.empty() && seen->shapes.front().percent >= most_work_percent)
        finding.behind.say("Messages in the queue of {} are {}", most, message(seen->shapes.front().text));
    finding.process = most;
    finding.pid = s[most].pid;
    finding.name = s[most].name;
    finding.advise("See what keeps that one at work; those that are ready may be so by what it sends: {}",
                   Command{"proc", s[most].pid});
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const Queues queued = queues(s);
    if (queued.schedulers == 0) return;
    const Work found = work(s);
    const std::uint64_t ready = std::max(queued.queued, found.ready - std::min(found.ready, queued.dirty));
    const AllSchedulers held = all_schedulers(s);
    const bool in_one = held.function != FunctionId::none && held.schedulers > 1;
    const std::uint64_t still = blocked(s);
    const Preferred first = preferred(s);
    const bool starved = first.count >= queued.schedulers && ready > first.count;
    const bool few = in_one || still != 0 || starved;
    if (ready < (few ? least_held : least_ready) || ready / queued.schedulers < (few ? least_held_each : least_each)) {
        if (in_one && facts.get<NativeHold>().held && queued.queued != 0 && !take_turns(s, held.function))
            findings.push_back(held_in_native(s, held, queued.queued));
        return;
    }
    // Where the process table is cut, what the schedulers were at tells more.
    const bool known = found.in_function >= ready / 2;
    const OnSchedulers there = on_schedulers(s);
    const FunctionId function = known ? found.function : there.function;
    Finding finding;
    finding.severity = still != 0 || starved || (ready >= many_ready && ready / queued.schedulers >= many_each)
                           ? FindingSeverity::high
                           : FindingSeverity::medium;
    finding.subject = {SubjectKind::group, sentence("{}", function)};
    finding.count = ready;
    finding.title.say("{} are ready to run on {}", processes(ready),
                      Counted{queued.schedulers, "scheduler", "schedulers"});
    if (still != 0)
        finding.title.say(", of which only {} works, since `erlang:system_flag/2` has blocked the others",
                          number(queued.schedulers - still));
    if (starved)
        finding.title.say("; {} of a higher priority go first, one of them {}", number(first.count),
                          preferred_text(s, first.example));
    if (known) finding.percent = percent_of(found.in_function, ready);
    if (known && !starved) {
        finding.title.say(", {} of them in {}", number(found.in_function), found.function);
        if (in_one && held.function != found.function) finding.title.say("; all that run now are in {}", held.function);
    } else if (!known && there.busy > 1 && there.in_it == there.busy) {
        finding.title.say("; all {} that run now are in {}", number(there.busy),
                          in_one ? held.function : there.function);
    }
    if (const ProcId most = does_most(s); most != ProcId::none && !starved && s[most].current_function != function)
        say_who_works(facts, most, finding);
    finding.evidence = {figure("in the run queues", queued.queued, AmountUnit::count),
                        figure("in the longest", queued.longest, AmountUnit::count),
                        figure("processes listed as running or ready to", found.ready, AmountUnit::count)};
    if (known) {
        finding.evidence.push_back(fact("one of them", sentence("{}", found.example)));
        add_stack(facts, found.example, finding);
        finding.advise("See what all of them do: `beamheap stacks DUMP --procs runnable`");
    }
    if (still != 0)
        finding.advise(
            "Somebody has called `erlang:system_flag(multi_scheduling, block)` and not `unblock`, or sits in what does "
            "(a tracer, a debugger, an old driver): `erlang:system_info(multi_scheduling_blockers)` of a running node "
            "names it; it ends with that process.");
    if (starved)
        finding.advise(
            "A process of priority high or max runs before all others for as long as it has something to do: leave "
            "`process_flag(priority, _)` to those that have little to do, or none: {}",
            Command{"proc", s[first.example].pid});
    finding.advise("See each scheduler's queue and what it runs: `beamheap schedulers DUMP`");
    if (in_one) finding.advise(in_c);
    finding.advise(
        "Bound how many may work at a time (a pool, a limit on what is accepted); more of them do not get more done.");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace run_queue_rule

Rule run_queue() { return {"run-queue", 55, run_queue_rule::run}; }

}  // namespace beamheap::analyses::rule
