// SPDX-License-Identifier: Apache-2.0
// few-waiters: nothing is loud, and some processes wait for one that is stuck itself.
//
// Theory. A server that hangs within a callback holds up whoever calls it: too few to stand out on a large node, or on
// one that hardly works for want of it. Where no other rule tells of anything, this is what somebody who looks by hand
// finds next: a process that others wait for, and that waits, not in its loop, but on behalf of a function that has
// called what it sits in. The same for a single file operation that has not come back.
//
// Tables of mnesia that are not loaded are waited for by few as well: by whoever sets a node up, once. Nothing of it is
// in the midst of its work, and nothing goes on.
//
// Thresholds: who waits for tables is medium; of others three who wait are medium, fewer only info, as is the operation
// on a file: a call that is under way looks the same; so do fewer than ten, all in calls that end after a time. Who
// reads from a terminal is waited for by whoever wants a line, and is not meant.
#include <algorithm>
#include <array>
#include <string_view>

#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/senders.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"

namespace beamheap::analyses::rule {
namespace few_waiters_rule {
namespace {

constexpr std::uint64_t medium_waiters = 3;

// Whether a process waits in the midst of its work.
bool is_stuck(const Facts& facts, ProcId id) {
    const Snapshot& s = facts.snapshot();
    const Process& process = s[id];
    if (process.state != ProcessState::waiting || process.current_function == FunctionId::none) return false;
    if (const WaitEdge* edge = facts.get<Waits>().edge(id); edge != nullptr) return edge->target.port.has();
    return !idle(facts, id) && !starts_block(facts, id) &&
           !has_role(s, process.current_function, erlang::FunctionRole::of_terminal) &&
           waits_on_behalf(s, process) != FunctionId::none;
}

// The one that most wait for.
const WaitFanIn* largest_stuck(const Facts& facts) {
    const WaitFanIn* most = nullptr;
    for (const WaitFanIn& fan : facts.get<Waits>().fan_in)
        if (fan.target.process != ProcId::none && is_stuck(facts, fan.target.process) &&
            (most == nullptr || fan.reaching > most->reaching))
            most = &fan;
    return most;
}

// Whether nobody has waited for long: few, in calls that end after a time, before a queue that is theirs.
bool will_end(const Facts& facts, const WaitFanIn& fan) {
    const Waits& waits = facts.get<Waits>();
    return fan.reaching < crowd::least && facts.snapshot()[fan.target.process].msgq_len.value_or(0) <= fan.waiters &&
           std::ranges::all_of(waits.waiters_of(fan), [&](std::uint32_t edge) {
               return ends_by_timeout(facts.snapshot(), waits.edges[edge]);
           });
}

void about_server(const Facts& facts, const WaitFanIn& fan, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const ProcId id = fan.target.process;
    const WaitEdge& example = facts.get<Waits>().edges[facts.get<Waits>().waiters_of(fan).front()];
    Finding finding;
    about(facts, id, finding);
    finding.leads = true;
    finding.severity =
        fan.reaching >= medium_waiters && !will_end(facts, fan) ? FindingSeverity::medium : FindingSeverity::info;
    finding.count = fan.reaching;
    finding.percent = percent_of(fan.reaching, std::uint64_t{s.processes.size()});
    finding.confidence = Confidence::estimate;
    const std::uint64_t queued = s[id].msgq_len.value_or(0);
    finding.title.say(fan.reaching == 1 ? Form<3>("{} of {} processes waits for {}; it")
                                        : Form<3>("{} of {} processes wait for {}; it"),
                      number(fan.reaching), number(s.processes.size()), id);
    if (queued != 0) finding.title.say(" has {} and", messages(queued));
    const FunctionId by = caller_of(s, s[id]);
    finding.title.say(" {}", doing_for(facts, id, by == s[id].current_function ? FunctionId::none : by));
    finding.title.add(outside(facts, id));
    finding.evidence = {
        figure("processes that wait for it themselves", fan.waiters, AmountUnit::count),
        figure("messages in its queue", s[id].msgq_len, AmountUnit::count),
        fact("one of those who wait", sentence("{}: {}", example.waiter, frames_text(facts, example.waiter)))};
    add_stack(facts, id, finding);
    finding.advise("See what it waits for in the midst of its work: {}", Command{"proc", s[id].pid});
    finding.advise("See who waits for whom: `beamheap waits DUMP`");
    finding.advise(
        "A second dump or core image some seconds later tells whether it has come further: a call that is under way "
        "looks the same.");
    findings.push_back(std::move(finding));
}

// Who waits for tables of mnesia, by way of a process of the library's each.
bool about_tables(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const auto tables = std::ranges::find(facts.get<PutOffs>().servers, PutOff::Why::tables, &PutOff::why);
    const WaitFanIn* const fan =
        tables == facts.get<PutOffs>().servers.end() ? nullptr : facts.get<Waits>().fan_in_of(tables->server);
    if (fan == nullptr) return false;
    std::vector<ProcId> waiters;
    for (const WaitEdge& edge : facts.get<Waits>().edges) {
        const WaitEdge* const next =
            edge.target.process == ProcId::none ? nullptr : facts.get<Waits>().edge(edge.target.process);
        if (next != nullptr && next->target.process == tables->server) waiters.push_back(edge.waiter);
    }
    if (waiters.empty()) return false;
    const ProcId id = waiters.front();
    Finding finding;
    about(facts, id, finding);
    finding.leads = true;
    finding.severity = FindingSeverity::medium;
    finding.count = waiters.size();
    finding.confidence = Confidence::estimate;
    if (waiters.size() == 1) finding.title.say("{} waits for tables of mnesia; {}", id, not_loaded(*tables));
    else
        finding.title.say("{} of {} processes wait for tables of mnesia; {}", number(waiters.size()),
                          number(s.processes.size()), not_loaded(*tables));
    say_absent_nodes(facts, finding);
    add_stack(facts, id, finding);
    finding.advise("See what waits for them: {}", Command{"proc", s[id].pid});
    finding.next_steps.emplace_back(tables_advice);
    finding.advise("See which nodes it knows and which are up, on the running node: `mnesia:info()`.");
    findings.push_back(std::move(finding));
    return true;
}

// For whom the modules of files work.
FunctionId opener(const Snapshot& s, const Process& process) {
    for (const Frame& frame : s.stacks[process.stack]) {
        if (frame.function == FunctionId::none) break;
        if (!has_role(s, frame.function, erlang::FunctionRole::between_files)) return frame.function;
    }
    return FunctionId::none;
}

// Who is in an operation on a file, which one of the VM's own threads does for it.
void about_file(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    for (const ProcId id : all_processes(s)) {
        if (s[id].state != ProcessState::running ||
            !has_role(s, s[id].current_function, erlang::FunctionRole::uses_file))
            continue;
        Finding finding;
        about(facts, id, finding);
        finding.leads = true;
        finding.severity = FindingSeverity::info;
        finding.count = 1;
        finding.confidence = Confidence::estimate;
        finding.title.say("{} {}", id, doing_for(facts, id, opener(s, s[id])));
        add_stack(facts, id, finding);
        finding.advise(
            "Look at which file it is: one on a file system of another machine, a pipe that nobody writes to, or a "
            "device may never come back: {}",
            Command{"proc", s[id].pid});
        finding.advise("A second dump or core image some seconds later tells whether it has come back.");
        findings.push_back(std::move(finding));
        return;
    }
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    if (is_failed_start(facts.get<Slogan>().kind)) return;
    const bool asked = facts.get<Slogan>().kind == SloganKind::requested ||
                       facts.get<Slogan>().kind == SloganKind::unknown || facts.get<Slogan>().kind == SloganKind::none;
    if (!asked ||
        std::ranges::any_of(findings, [](const Finding& each) { return each.severity != FindingSeverity::info; }))
        return;
    if (about_tables(facts, findings)) return;
    if (const WaitFanIn* const fan = largest_stuck(facts); fan != nullptr) about_server(facts, *fan, findings);
    else about_file(facts, findings);
}

}  // namespace
}  // namespace few_waiters_rule

// Behind all others: it is for where these tell of nothing.
Rule few_waiters() { return {"few-waiters", 180, few_waiters_rule::run}; }

}  // namespace beamheap::analyses::rule
