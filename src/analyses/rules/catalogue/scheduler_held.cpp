// SPDX-License-Identifier: Apache-2.0
// scheduler-held: a function in C that a scheduler called does not come back.
//
// Theory. A scheduler runs one process at a time, and hands over after some thousand reductions; a function in C hands
// over when it returns. One that waits in the kernel (a write to a pipe that nobody reads, a lock of a library, a file
// of a server that hangs) holds the scheduler for as long: the VM says "running" of its process, whatever waits in that
// scheduler's queue waits with it, and what needs all schedulers (loading code, a release upgrade, the end of the node)
// waits for ever. Of a VM that runs, the operating system tells it: the thread sleeps in one call, without having used
// CPU while it was looked at.
//
// Thresholds: one normal scheduler is high, all of them are critical; a dirty scheduler is there for such functions:
// medium.
#include <algorithm>

#include "analyses/base/sum.hpp"
#include "analyses/processes/answers.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace scheduler_held_rule {
namespace {

bool is_normal(const Scheduler* row) { return row->kind == Scheduler::Kind::normal; }

// "erlang:display/1, called by shop:show/1": the youngest function, and the youngest one below it.
Sentence where_it_is(const Snapshot& s, StackId stack) {
    Sentence text;
    std::size_t told = 0;
    FunctionId last = FunctionId::none;
    for (const Frame& frame : s.stacks[stack]) {
        if (frame.function == FunctionId::none || frame.function == last) continue;
        last = frame.function;
        if (told == 0) text.say("{}", frame.function);
        else text.say(", called by {}", frame.function);
        if (++told == 2) break;
    }
    return text;
}

void advise(const Snapshot& s, const Scheduler& row, Finding& finding) {
    if (s.text(row.held->in).find(" on standard ") != std::string_view::npos)
        finding.advise(
            "Whoever started the node does not read its output: let it do so (a log collector that hangs, a pager, `| "
            "head`), or start the node with its output going to a file.");
    else if (row.held->uninterruptible)
        finding.advise(
            "It waits in the kernel and can't be interrupted: look at the disk, or the file system of another "
            "machine.");
    finding.advise("See both halves of its stack, in C and in Erlang: {}", Command{"sample", {}, "--pstack"});
    if (row.kind == Scheduler::Kind::normal)
        finding.advise(
            "A function in C that may take more than a millisecond belongs on a dirty scheduler (a NIF: "
            "ERL_NIF_DIRTY_JOB_IO_BOUND), or into a program of its own behind a port.");
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    std::vector<const Scheduler*> held;
    std::uint64_t normal = 0;
    for (const Scheduler& row : s.schedulers) {
        normal += is_normal(&row);
        if (row.held) held.push_back(&row);
    }
    if (held.empty()) return;
    std::stable_partition(held.begin(), held.end(), is_normal);
    const Scheduler& first = *held.front();
    const auto held_normal = static_cast<std::uint64_t>(std::ranges::count_if(held, is_normal));
    Finding finding;
    finding.severity = held_normal == 0        ? FindingSeverity::medium
                       : held_normal == normal ? FindingSeverity::critical
                                               : FindingSeverity::high;
    const ProcId process = s.find(first.current_process);
    if (process != ProcId::none) about(facts, process, finding);
    else finding.subject = {SubjectKind::process, sentence("{}", first.current_process)};
    finding.count = held.size();
    finding.confidence = Confidence::lower_bound;  // who is held for less than the look is not seen
    if (held_normal == normal && normal > 1) finding.title.say("All {} schedulers are held; ", number(normal));
    else if (held_normal == 1 && normal == 1) finding.title.say("The only scheduler is held: ");
    finding.title.say("{} holds {}{} {}", AnyProcess{first.current_process},
                      is_normal(&first) ? Ours("") : Ours("dirty "), Ours("scheduler"),
                      Amount{first.id, AmountUnit::plain});
    finding.title.say(" in {}", call_that_holds(s, *first.held));
    if (const Sentence where = where_it_is(s, first.stack); !where.empty()) finding.title.say(", from {}", where);
    const Count waiting = queued_processes(first);
    if (is_normal(&first) && waiting.value_or(0) != 0)
        finding.title.say("; {} to run there",
                          *waiting == 1 ? sentence("1 process waits") : sentence("{} wait", processes(*waiting)));
    if (held.size() > 1)
        finding.title.say("; {} more {} held", number(held.size() - 1), held.size() == 2 ? Ours("is") : Ours("are"));
    finding.evidence.push_back(figure("its thread slept in that call for", first.held->least_ms,
                                      AmountUnit::milliseconds, Confidence::lower_bound));
    if (Sentence frames = frames_text(s, first.stack); !frames.empty())
        finding.evidence.push_back(fact("its stack", std::move(frames)));
    for (std::size_t i = 1; i < held.size() && i <= 3; ++i)
        finding.evidence.push_back(
            fact(sentence("{}", AnyProcess{held[i]->current_process}), call_that_holds(s, *held[i]->held)));
    advise(s, first, finding);
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace scheduler_held_rule

Rule scheduler_held() { return {"scheduler-held", 33, scheduler_held_rule::run}; }

}  // namespace beamheap::analyses::rule
