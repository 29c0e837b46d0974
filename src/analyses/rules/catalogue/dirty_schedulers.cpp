// SPDX-License-Identifier: Apache-2.0
// dirty-schedulers: all schedulers of a dirty kind are taken, and others wait for one.
//
// Theory. Functions in C that block or compute for long run on schedulers of their own: as many for computing as there
// are cores, ten for input and output (+SDcpu, +SDio). Where each of them is in a function that does not come back (a
// file of a server that hangs, a pipe that nobody opens at its other end, a key that is derived), whoever needs one
// waits in the queue that they share. Such a process is listed as running or ready to run, and not as waiting for
// anybody, while the normal schedulers sleep. Nothing ends it from inside: a process in such a function can't be
// killed, and not even code can be loaded, which files are read for.
//
// Who is in that queue has flags that say so, and whoever waits for such a one waits with it.
//
// Thresholds: all of a kind are taken and as many wait, with those that wait for these; twice as many, and ten, are
// high.
#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "analyses/base/sum.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace dirty_schedulers_rule {
namespace {

constexpr std::uint64_t many_waiting = 10;

struct Kind {
    Scheduler::Kind scheduler, queue;
    std::string_view name;  // of one
    std::string_view flag;  // of a process that is to run there
};
constexpr std::array<Kind, 2> kinds{
    {{Scheduler::Kind::dirty_cpu, Scheduler::Kind::dirty_cpu_queue, "dirty CPU scheduler", "DIRTY_CPU_PROC"},
     {Scheduler::Kind::dirty_io, Scheduler::Kind::dirty_io_queue, "dirty I/O scheduler", "DIRTY_IO_PROC"}}};

struct Taken {
    std::uint64_t schedulers = 0, busy = 0, waiting = 0;
    std::vector<ProcId> by;       // those whose process is in the table
    ProcId first = ProcId::none;  // of those in the queue, for whom the most others wait
    std::uint64_t for_first = 0;  // how many these are
    std::uint64_t behind = 0;     // processes that wait for one in the queue
};

// Who is in the queue, and who waits for these.
void find_behind(const Facts& facts, const Kind& kind, Taken& found) {
    const Snapshot& s = facts.snapshot();
    for (const ProcId id : all_processes(s)) {
        if (s[id].state != ProcessState::runnable || !has_flag(s, s[id].internal_state, kind.flag) ||
            !has_flag(s, s[id].internal_state, "IN_RUNQ"))
            continue;
        const WaitFanIn* const fan = facts.get<Waits>().fan_in_of(id);
        const std::uint64_t behind = fan == nullptr ? 0 : fan->reaching;
        found.behind = saturating_add(found.behind, behind);
        if (found.first != ProcId::none && behind <= found.for_first) continue;
        found.first = id;
        found.for_first = behind;
    }
}

Taken taken(const Snapshot& s, const Kind& kind) {
    Taken found;
    for (const Scheduler& scheduler : s.schedulers) {
        if (scheduler.kind == kind.queue) found.waiting = saturating_add(found.waiting, queued_processes(scheduler));
        if (scheduler.kind != kind.scheduler) continue;
        ++found.schedulers;
        if (!scheduler.current_process.has()) continue;
        ++found.busy;
        if (const ProcId id = s.find(scheduler.current_process); id != ProcId::none) found.by.push_back(id);
    }
    return found;
}

// The youngest function that is on the stacks of most of them: what they are all in, or what has called it; of the
// program's own where that is asked for.
struct Common {
    FunctionId function = FunctionId::none;
    std::uint64_t in_it = 0;
};

Common common(const Snapshot& s, const std::vector<ProcId>& processes, bool of_programs = false) {
    struct Seen {
        std::uint64_t count = 0;
        std::size_t depth = 0, last = ~std::size_t{0};  // the sum of depths; the process that was counted last
    };
    std::map<std::uint32_t, Seen> functions;
    for (std::size_t i = 0; i < processes.size(); ++i) {
        std::size_t depth = 0;
        const auto see = [&](FunctionId function) {
            if (function == FunctionId::none || (of_programs && is_of_library(s, function))) return;
            Seen& seen = functions[index_of(function)];
            if (std::exchange(seen.last, i) == i) return;
            ++seen.count;
            seen.depth += depth++;
        };
        see(s[processes[i]].current_function);
        for (const Frame& frame : s.stacks[s[processes[i]].stack]) see(frame.function);
    }
    Common found;
    std::size_t depth = 0;
    for (const auto& [function, seen] : functions) {
        if (seen.count < found.in_it || (seen.count == found.in_it && seen.depth >= depth)) continue;
        found = {FunctionId{function}, seen.count};
        depth = seen.depth;
    }
    return found;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    for (const Kind& kind : kinds) {
        Taken found = taken(s, kind);
        if (found.schedulers == 0 || found.busy < found.schedulers || found.waiting == 0) continue;
        find_behind(facts, kind, found);
        const std::uint64_t held_up = saturating_add(found.waiting, found.behind);
        if (held_up < found.schedulers) continue;
        const Common there = common(s, found.by);
        const bool told = there.in_it * 2 > found.busy;  // else each does something else
        const std::string schedulers = std::string(kind.name) + "s";
        Finding finding;
        finding.severity = held_up >= many_waiting && held_up / 2 >= found.schedulers ? FindingSeverity::high
                                                                                      : FindingSeverity::medium;
        finding.subject = {SubjectKind::group,
                           told ? sentence("{}", there.function) : sentence("{}", of_vm(schedulers))};
        finding.count = held_up;
        if (found.schedulers == 1) finding.title.say("The only {} is busy", of_vm(kind.name));
        else finding.title.say("All {} {} are busy", number(found.schedulers), of_vm(schedulers));
        if (told && found.schedulers == 1) finding.title.say(", in {}", there.function);
        if (told && found.schedulers > 1 && there.in_it == found.busy) finding.title.say(", all in {}", there.function);
        if (told && there.in_it == found.busy && is_of_library(s, there.function))
            if (const Common own = common(s, found.by, true); own.in_it == found.busy)
                finding.title.say(", called by {}", own.function);
        if (told && there.in_it < found.busy)
            finding.title.say(", {} of them in {}", number(there.in_it), there.function);
        if (found.waiting == 1 && found.first != ProcId::none) finding.title.say("; {} waits for one", found.first);
        else
            finding.title.say("; {} for one", found.waiting == 1 ? sentence("1 process waits")
                                                                 : sentence("{} wait", processes(found.waiting)));
        if (found.for_first != 0)
            finding.title.say(
                ", and {} for {}",
                found.for_first == 1 ? sentence("1 process waits") : sentence("{} wait", processes(found.for_first)),
                found.waiting == 1 ? Sentence(Ours("that one")) : sentence("{}", found.first));
        finding.evidence.push_back(figure("in their queue", found.waiting, AmountUnit::count));
        if (found.behind != 0)
            finding.evidence.push_back(figure("that wait for those in the queue", found.behind, AmountUnit::count));
        if (!found.by.empty()) {
            finding.evidence.push_back(fact("one of those that run", sentence("{}", found.by.front())));
            add_stack(facts, found.by.front(), finding);
        }
        finding.advise("See what each of them runs: `beamheap schedulers DUMP`");
        if (kind.scheduler == Scheduler::Kind::dirty_io)
            finding.advise(
                "Look for what does not answer: a file system of another machine, a pipe, a device. Who is in such a "
                "function can't be killed; it ends when that answers, or with the node.");
        else finding.advise("Bound how many such computations may run at a time (a pool), and how long one may take.");
        finding.advise(
            "More of them (`+SDio`, `+SDcpu`) put off the stand-still where some always come back, and don't help "
            "where none does.");
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace dirty_schedulers_rule

Rule dirty_schedulers() { return {"dirty-schedulers", 54, dirty_schedulers_rule::run}; }

}  // namespace beamheap::analyses::rule
