// SPDX-License-Identifier: Apache-2.0
// busy-loop: one process, or some that are in the same place, do nearly all of the work.
//
// Theory. Reductions count what a process has done since it was spawned. One that is running, or ready to, with most of
// the reductions of all processes has kept a scheduler busy for all that time, and where no other reason is told it is
// what the node was doing: a loop that never ends, a computation that takes longer than somebody would wait, what a
// user typed into a shell. A process that has done as much and waits now is a server with a history, and is not meant;
// nor is whoever asks for the dump or stops the node.
//
// Loops in several processes share the work, and none of them has most of it: a wait that spins instead of receiving, a
// search through a whole table or list for each request. What all of them have in common is the place: the youngest
// function that is on the stacks of nearly all that work.
//
// Thresholds: half of all reductions and 20 million of them (a few tenths of a second of a core), or nine tenths and 4
// million, are medium, of one process or of several in one place. Nothing is wrong with work by itself, so it is never
// more. Where far more are ready than the schedulers can serve, run-queue tells the place. Of a node that was asked for
// its dump, and in which nothing else is found, also one that waits now is told, as info, where it has done nine tenths
// of all work and 50 million reductions and something tells that it goes on: it waits in the midst of its work, or a
// timer is set for it, as one does that tries something again and again, or connections that it makes for that have
// left their numbers: 10,000 ports and more were opened, and not one in a hundred of them is open. One that waits for
// its next request is a server with a history.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/shell_work.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses::rule {
namespace busy_loop_rule {
namespace {

constexpr std::uint64_t least_reductions = 20'000'000;
constexpr double least_percent = 50;
constexpr std::uint64_t least_of_nearly_all = 4'000'000;
constexpr double nearly_all_percent = 90;
constexpr std::uint64_t least_of_history = 50'000'000;
constexpr double together_percent = 15;  // that some have done more than the one of them that has done most
constexpr double in_place_percent = 90;  // of the work of all that work is done in what they have in common
constexpr std::size_t most_frames = 4'096,
                      most_functions = 24;  // of a stack, youngest first, which are looked through for that
constexpr double of_its_partner =
    90;  // who has done that part of its work, and waits where it works, takes turns with it

bool at_work(ProcessState state) {
    return state == ProcessState::running || state == ProcessState::runnable ||
           state == ProcessState::garbage_collecting;
}

// Whoever ends the node, and the processes that work while it starts.
bool excused(const Snapshot& s, const Process& process) {
    if (erlang::has_role(s.text(process.name), erlang::RegisteredRole::starts_node)) return true;
    for (const Frame& frame : s.stacks[process.stack].first(std::min<std::size_t>(3, s.stacks[process.stack].size()))) {
        if (has_role(s, frame.function, erlang::FunctionRole::halts)) return true;
    }
    return false;
}

// Loops of OTP's, in which all kinds of processes work.
bool tells_no_place(const Snapshot& s, FunctionId function) {
    return is_idle_function(s, function) || has_role(s, function, erlang::FunctionRole::runs_callbacks);
}

// Who works in one place.
struct InPlace {
    FunctionId function = FunctionId::none, caller = FunctionId::none;
    Sum reductions;
    std::vector<ProcId> members;  // most reductions first
};

// The functions on a process's stack, youngest first, each once: a recursion may fill most of it.
std::vector<FunctionId> functions_of(const Snapshot& s, const Process& process) {
    std::vector<FunctionId> here{process.current_function};
    for (const Frame& frame : s.stacks[process.stack].first(std::min(most_frames, s.stacks[process.stack].size()))) {
        if (frame.function == FunctionId::none || std::ranges::find(here, frame.function) != here.end()) continue;
        here.push_back(frame.function);
        if (here.size() == most_functions) break;
    }
    return here;
}

// The youngest of the functions that nearly all work is done within, and the next one behind it, which has called it.
InPlace common_place(const Snapshot& s, const std::vector<ProcId>& working) {
    struct Within {
        std::uint64_t reductions = 0, depth = 0;  // depth: the sum of where it is on each stack
        std::uint64_t stacks = 0;
    };
    std::map<std::uint32_t, Within> within;
    std::uint64_t all = 0;
    for (const ProcId id : working) {
        const std::vector<FunctionId> here = functions_of(s, s[id]);
        const std::uint64_t done = s[id].reductions.value_or(0);
        all = saturating_add(all, done);
        for (std::size_t i = 0; i < here.size(); ++i) {
            if (here[i] == FunctionId::none) continue;
            Within& function = within[index_of(here[i])];
            function.reductions = saturating_add(function.reductions, done);
            function.depth += i;
            ++function.stacks;
        }
    }
    std::vector<std::pair<double, FunctionId>> places;  // by their depth on average
    for (const auto& [function, each] : within)
        if (!tells_no_place(s, FunctionId{function}) &&
            percent_of(each.reductions, all).value_or(0) >= in_place_percent)
            places.emplace_back(static_cast<double>(each.depth) / static_cast<double>(each.stacks),
                                FunctionId{function});
    InPlace found;
    if (places.empty()) return found;
    std::ranges::sort(places);
    found.function = places[0].second;
    if (places.size() > 1) found.caller = places[1].second;
    for (const ProcId id : working) {
        const std::vector<FunctionId> here = functions_of(s, s[id]);
        if (std::ranges::find(here, found.function) == here.end()) continue;
        found.reductions.add(s[id].reductions);
        found.members.push_back(id);
    }
    std::ranges::stable_sort(found.members, std::ranges::greater(),
                             [&](ProcId id) { return s[id].reductions.value_or(0); });
    return found;
}

// How many ports were opened at least, by the highest number that one of those has that are open; 0: hardly more than
// are open.
std::uint64_t ports_opened(const Snapshot& s) {
    constexpr std::uint64_t least = 10'000, times = 100;
    std::uint64_t highest = 0;
    for (const Port& port : s.ports)
        if (port.port.node == 0) highest = std::max(highest, port.port.number);
    return highest >= least && highest / times >= s.ports.size() ? highest : 0;
}

// Connections that are made again and again.
void say_ports(const Snapshot& s, Finding& finding) {
    if (const std::uint64_t opened = ports_opened(s); opened != 0)
        finding.behind.say("The node has opened {}, and {} open", Counted{opened, "port", "ports"},
                           s.ports.size() == 1 ? Sentence(Ours("one is")) : sentence("{} are", number(s.ports.size())));
}

void about_one(const Facts& facts, ProcId id, double percent, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const Process& process = s[id];
    const ShellWork at_prompt = shell_work(s, process);
    Finding finding;
    about(facts, id, finding);
    finding.severity = FindingSeverity::medium;
    finding.count = process.reductions;
    finding.percent = percent;
    if (at_prompt.in_shell) finding.title.say("The shell works on what was typed into it: {}", id);
    else finding.title.say("{} is busy: it", id);
    finding.title.say(" {}", doing(facts, id));
    if (caller(s, process).empty()) finding.title.add(works_for(s, process));
    finding.title.say(", and has done {} of all work", Percent{percent});
    say_ports(s, finding);
    if (finding.behind.empty()) say_long_chain(s, finding);
    if (at_prompt.called != FunctionId::none)
        finding.evidence.push_back(fact("what the shell called", sentence("{}", at_prompt.called)));
    finding.evidence.push_back(figure("its reductions", process.reductions, AmountUnit::count));
    finding.evidence.push_back(
        figure("reductions of all processes", facts.get<Totals>().reductions.value(), AmountUnit::count));
    finding.evidence.push_back(figure("its memory", process_bytes(facts, process), AmountUnit::bytes));
    if (process.msgq_len.value_or(0) != 0)
        finding.evidence.push_back(figure("messages in its queue", process.msgq_len, AmountUnit::count));
    add_stack(facts, id, finding);
    finding.advise("See where it is, and with which data: {}", Command{"proc", process.pid});
    finding.advise(
        "A second dump or core image some seconds later tells whether it moves: the same function and arguments that "
        "do not shrink are a loop without end.");
    if (!at_prompt.in_shell)
        finding.advise("On a living node: process_info(Pid, [current_stacktrace, reductions]), some times over.");
    findings.push_back(std::move(finding));
}

void about_place(const Facts& facts, InPlace place, double percent, std::vector<Finding>& findings) {
    const ProcId example = place.members.front();
    Finding finding;
    finding.severity = FindingSeverity::medium;
    finding.subject = {SubjectKind::group, sentence("{}", place.function)};
    finding.count = place.members.size();
    finding.percent = percent;
    finding.title.say("{} are busy in {}", processes(place.members.size()), place.function);
    if (place.caller != FunctionId::none) finding.title.say(", called by {}", place.caller);
    finding.title.say(", and have done {} of all work", Percent{percent});
    finding.evidence = {
        figure("their reductions", place.reductions.value(), AmountUnit::count),
        figure("reductions of all processes", facts.get<Totals>().reductions.value(), AmountUnit::count),
        fact("who has done most", sentence("{}", example))};
    add_stack(facts, example, finding);
    say_long_chain(facts.snapshot(), finding);
    finding.advise("See where they are, and with which data: {}", Command{"proc", facts.snapshot()[example].pid});
    finding.advise(
        "Who looks again and again whether something has come is better told by a message; what goes through a whole "
        "table or list for each request wants a key, or an index.");
    finding.advise("A second dump or core image some seconds later tells whether they move.");
    finding.members = std::move(place.members);
    findings.push_back(std::move(finding));
}

// Of two that send to each other all the time one waits while the other works: the only one that waits where it works,
// and has done as much.
ProcId partner_of(const Snapshot& s, ProcId working) {
    const Process& one = s[working];
    ProcId partner = ProcId::none;
    for (const ProcId id : all_processes(s)) {
        if (id == working || s[id].state != ProcessState::waiting || s[id].current_function != one.current_function)
            continue;
        const double part = percent_of(std::min(s[id].reductions.value_or(0), one.reductions.value_or(0)),
                                       std::max(s[id].reductions.value_or(0), one.reductions.value_or(0)))
                                .value_or(0);
        if (part < of_its_partner) continue;
        if (partner != ProcId::none) return ProcId::none;
        partner = id;
    }
    return partner;
}

// Whether one that waits will go on by itself, with what it has done so far.
bool goes_on(const Snapshot& s, ProcId id) {
    return (s[id].current_function != FunctionId::none && !is_idle_function(s, s[id].current_function)) ||
           std::ranges::any_of(s.timers, [&](const Timer& timer) { return timer.receiver == s[id].pid; }) ||
           ports_opened(s) != 0;
}

// Who has done nearly all of the work, and waits.
void about_history(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const SloganKind kind = facts.get<Slogan>().kind;
    if (s.processes.empty() || (kind != SloganKind::none && kind != SloganKind::requested)) return;
    if (std::ranges::any_of(findings, [](const Finding& each) { return each.severity != FindingSeverity::info; }))
        return;
    const ProcId id = largest(s, all_processes(s), &Process::reductions, 1).front();
    const double percent = percent_of(s[id].reductions, facts.get<Totals>().reductions.value()).value_or(0);
    if (s[id].reductions.value_or(0) < least_of_history || percent < nearly_all_percent || excused(s, s[id]) ||
        has_role(s, s[id].initial_call, erlang::FunctionRole::frees_literals) || !goes_on(s, id))
        return;
    Finding finding;
    about(facts, id, finding);
    finding.leads = std::ranges::none_of(findings, &Finding::leads);
    finding.count = s[id].reductions;
    finding.percent = percent;
    finding.title.say("{} has done {} of all work; it {}", id, Percent{percent}, doing(facts, id));
    finding.title.add(works_for(s, s[id]));
    say_ports(s, finding);
    finding.evidence = {
        figure("its reductions", s[id].reductions, AmountUnit::count),
        figure("reductions of all processes", facts.get<Totals>().reductions.value(), AmountUnit::count),
        figure("messages in its queue", s[id].msgq_len, AmountUnit::count)};
    add_stack(facts, id, finding);
    finding.advise("See what it does, and for whom: {}", Command{"proc", s[id].pid});
    finding.advise(
        "A server with a history looks the same. Where it tries something again and again, let it wait in between, "
        "longer each time (`erlang:send_after/3`).");
    findings.push_back(std::move(finding));
}

// Who works now.
void about_work(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const Count all = facts.get<Totals>().reductions.value();
    std::vector<ProcId> working;
    for (const ProcId id : all_processes(s))
        if (at_work(s[id].state) && !excused(s, s[id])) working.push_back(id);
    if (working.empty()) return;
    const ProcId first = largest(s, working, &Process::reductions, 1).front();
    const double percent = percent_of(s[first].reductions, all).value_or(0);
    const auto is_much = [](Count reductions, double share) {
        return (reductions.value_or(0) >= least_reductions && share >= least_percent) ||
               (reductions.value_or(0) >= least_of_nearly_all && share >= nearly_all_percent);
    };
    if (const ProcId partner = partner_of(s, first); partner != ProcId::none) working.push_back(partner);
    if (working.size() > 1 &&
        std::ranges::find(findings, std::string_view("run-queue"), &Finding::rule) == findings.end()) {
        InPlace place = common_place(s, working);
        const double share = percent_of(place.reductions.value(), all).value_or(0);
        if (place.members.size() > 1 && is_much(place.reductions.value(), share) && share >= percent + together_percent)
            return about_place(facts, std::move(place), share, findings);
    }
    // Who was refused memory is told as that.
    if (facts.get<Slogan>().kind == SloganKind::out_of_memory && facts.get<Death>().process == first) return;
    if (is_much(s[first].reductions, percent)) about_one(facts, first, percent, findings);
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    if (is_failed_start(facts.get<Slogan>().kind)) return;
    const std::size_t before = findings.size();
    about_work(facts, findings);
    if (findings.size() == before) about_history(facts, findings);
}

}  // namespace
}  // namespace busy_loop_rule

Rule busy_loop() { return {"busy-loop", 138, busy_loop_rule::run}; }

}  // namespace beamheap::analyses::rule
