// SPDX-License-Identifier: Apache-2.0
// start-blocked: an application has not finished its start, and others wait for that.
//
// Theory. See application_starts.hpp: whoever starts or stops an application waits for an application controller that
// is idle; the one to blame is in the start function, or is started by it and does not get ready. A node that still
// boots when somebody asks it for a dump is in the same state: what it was starting is the answer to "why is it not
// up". So is one whose boot script, or what -s, -run or -eval called, does not end though no application is starting.
//
// Thresholds: none where nothing else is told of a failed start. Ten who wait for the controller, or a boot that waits
// for it, are high: the node does not do what it is for. Else medium: a start takes its time. A call of -s, -run or
// -eval that waits for nobody is `info`: programs are run so.
#include <algorithm>

#include "analyses/facts/catalogue/application_circle.hpp"
#include "analyses/facts/catalogue/locks.hpp"
#include "analyses/processes/halting.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses::rule {
namespace start_blocked_rule {
namespace {

constexpr std::uint64_t many_waiters = 10;
constexpr std::size_t most_frames = 8;

// Whether the process that starts the node waits, through whomever, for the application controller.
bool boots(const Facts& facts, const BootWork& boot, ProcId controller) {
    ProcId at = boot.process;
    for (std::size_t steps = 0; steps <= facts.get<Waits>().edges.size() && at != ProcId::none; ++steps) {
        if (at == controller) return true;
        const WaitEdge* edge = facts.get<Waits>().edge(at);
        at = edge == nullptr ? ProcId::none : edge->target.process;
    }
    return false;
}

// The youngest function on a stack that is not of OTP, Elixir or a library.
FunctionId own_function(const Snapshot& s, const Process& process) {
    if (process.stack == StackId::none) return FunctionId::none;
    for (const Frame& frame : s.stacks[process.stack])
        if (frame.function != FunctionId::none && !is_of_library(s, frame.function) &&
            !erlang::is_of_otp(module_of(s, frame.function)))
            return frame.function;
    return FunctionId::none;
}

// What a process does in a library, for which function of the program.
Sentence doing_for_program(const Facts& facts, ProcId id) {
    const FunctionId own = own_function(facts.snapshot(), facts.snapshot()[id]);
    return doing_for(facts, id, own == facts.snapshot()[id].current_function ? FunctionId::none : own);
}

// Behind that, who has the lock that it wants.
void say_lock(const Facts& facts, ProcId id, Finding& finding) {
    for (const LockQueue& queue : facts.get<Locks>().queues) {
        if (std::ranges::find(queue.waiters, id) == queue.waiters.end()) continue;
        if (queue.inside.size() != 1) {
            finding.title.say("; it wants {}, and has not been given it", queue.kind->what);
            continue;
        }
        finding.title.say("; {} is the only one who can hold {}", queue.inside.front(), queue.kind->what);
        finding.evidence.push_back(
            fact(sentence("{}", queue.inside.front()), frames_text(facts, queue.inside.front())));
    }
}

// " sits in F", or " waits, through X, for Y, which sits in F". Gives whom to look at.
// `through` is left out where it is what it always is, the application's supervisors.
ProcId say_what_holds_up(const Facts& facts, ProcId starter, bool through, Finding& finding) {
    const WaitEdge* edge = facts.get<Waits>().edge(starter);
    const ProcId end = end_of_chain(facts.get<Waits>(), starter);
    const Snapshot& s = facts.snapshot();
    if (edge != nullptr && end != ProcId::none &&
        has_role(s, s[end].current_function, erlang::FunctionRole::reads_input)) {
        finding.title.say(" waits for input on standard input, which nobody gives");
        // Who asks: the last but one of the chain.
        ProcId asks = starter;
        for (std::size_t i = 0; i < facts.get<Waits>().edges.size(); ++i) {
            const WaitEdge* const next = facts.get<Waits>().edge(asks);
            if (next == nullptr || next->target.process == end || next->target.process == ProcId::none) break;
            asks = next->target.process;
        }
        if (const FunctionId by = own_function(s, s[asks]); by != FunctionId::none)
            finding.title.say(", asked for in {}", by);
        finding.advise(
            "A service has nobody who types: let it take the answer from a setting, or give it standard input from a "
            "file.");
    } else if (edge == nullptr) {
        finding.title.say(" {}", doing_for_program(facts, starter));
        say_lock(facts, starter, finding);
    } else {
        finding.title.say(" waits");
        if (end != ProcId::none && edge->target.process != end && through)
            finding.title.say(", through {}, for {}", target_text(facts.snapshot(), edge->target), end);
        else if (end != ProcId::none && edge->target.process != end) finding.title.say(" for {}", end);
        else finding.title.say(" in {} for {}", edge->function, target_text(facts.snapshot(), edge->target));
        if (end != ProcId::none) {
            finding.title.say(", which {}", doing_for_program(facts, end));
            say_lock(facts, end, finding);
        }
    }
    const ProcId blamed = end == ProcId::none ? starter : end;
    const Process& process = facts.snapshot()[blamed];
    finding.process = blamed;
    finding.pid = process.pid;
    finding.name = process.name;
    return blamed;
}

// Whether all start functions ask the application controller to start something: it answers when what it starts already
// has started, which these themselves are. Nobody else's start can bring that about.
bool waits_for_itself(const Facts& facts, std::span<const ProcId> starters, ProcId controller) {
    const Snapshot& s = facts.snapshot();
    return controller != ProcId::none && starters.size() == facts.get<ApplicationStarts>().starting.size() &&
           std::ranges::all_of(starters, [&](ProcId starter) {
               const WaitEdge* edge = facts.get<Waits>().edge(starter);
               return edge != nullptr && edge->target.process == controller &&
                      std::ranges::any_of(s.stacks[s[starter].stack], [&](const Frame& frame) {
                          return erlang::has_role(s, frame.function, erlang::FunctionRole::starts_dependencies);
                      });
           });
}

// " waits for the start of shop itself, of which it is a part". Gives whom to look at.
ProcId say_circle(const Facts& facts, std::span<const ProcId> starters, Finding& finding) {
    const ProcId starter = starters.front();
    if (starters.size() == 1)
        finding.title.say(" asks for {} to be started, and so waits for itself",
                          Atom{facts.get<ApplicationStarts>().starting.front(), false});
    else finding.title.say(" each ask for the other to be started, and so wait for each other");
    finding.advise(
        "Take the call out of the start function: what an application needs stands under `applications` in its .app "
        "file, and is started before it.");
    const Process& process = facts.snapshot()[starter];
    finding.process = starter;
    finding.pid = process.pid;
    finding.name = process.name;
    return starter;
}

void blocked_application(const Facts& facts, const BootWork& boot, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const ProcId controller = s.find_registered(erlang::registered::application_controller);
    const WaitFanIn* fan = controller == ProcId::none ? nullptr : facts.get<Waits>().fan_in_of(controller);
    const std::vector<ProcId> starters = starting_processes(s);
    const bool booting = controller != ProcId::none && boots(facts, boot, controller);
    Finding finding;
    finding.severity =
        booting || (fan != nullptr && fan->waiters >= many_waiters) ? FindingSeverity::high : FindingSeverity::medium;
    const std::string& application = facts.get<ApplicationStarts>().starting.front();
    finding.subject = {SubjectKind::node, sentence("application {}", Atom{application, false})};
    if (!booting) finding.title.say("Application {} has not started", Atom{application, false});
    else finding.title.say("The node was still starting {}", Atom{application, false});
    if (const std::optional<std::uint64_t> to_come = facts.get<ApplicationStarts>().to_come; booting && to_come)
        finding.title.say(
            ", {} of {} applications up", number(facts.get<ApplicationStarts>().running),
            number(facts.get<ApplicationStarts>().running + facts.get<ApplicationStarts>().starting.size() + *to_come));
    const bool circle = !starters.empty() && waits_for_itself(facts, starters, controller);
    if (!starters.empty()) {
        const ProcId starter = starters.front();
        if (is_halting(s, starter)) return;  // its end is no start that is blocked
        if (facts.get<Waits>().edge(starter) == nullptr) finding.title.say(": {}", starter);
        else if (circle && starters.size() > 1) finding.title.say(": its start function and that of another");
        else finding.title.say(": its start function");
        const ProcId blamed =
            circle ? say_circle(facts, starters, finding) : say_what_holds_up(facts, starter, false, finding);
        // Who ends the node while it starts holds up nothing.
        const bool by_program = facts.get<Slogan>().kind == SloganKind::unknown;
        if (is_halting(s, blamed) || (by_program && facts.get<Death>().process == blamed)) return;
        finding.evidence.push_back(fact("its start function", frames_text(facts, starter, most_frames)));
        if (blamed != starter)
            finding.evidence.push_back(fact("who does not get ready", frames_text(facts, blamed, most_frames)));
        if (const PutOff* const why = facts.get<PutOffs>().of(blamed);
            why != nullptr && why->why == PutOff::Why::tables) {
            say_absent_nodes(facts, finding, false);
            finding.next_steps.emplace_back(tables_advice);
        }
    }
    if (fan != nullptr && fan->waiters > 1) {
        if (!circle) finding.title.say("; {} wait for the application controller meanwhile", processes(fan->waiters));
        for (const std::uint32_t edge : facts.get<Waits>().waiters_of(*fan))
            finding.members.push_back(facts.get<Waits>().edges[edge].waiter);
    }
    finding.count = fan == nullptr ? 0 : fan->waiters;
    finding.evidence.push_back(
        figure("applications that run", facts.get<ApplicationStarts>().running, AmountUnit::count));
    finding.evidence.push_back(
        figure("applications that are starting", facts.get<ApplicationStarts>().starting.size(), AmountUnit::count));
    if (facts.get<ApplicationStarts>().to_come)
        finding.evidence.push_back(figure("applications that the boot script starts after these",
                                          *facts.get<ApplicationStarts>().to_come, AmountUnit::count));
    finding.evidence.push_back(
        figure("processes that wait for the application controller", finding.count, AmountUnit::count));
    if (finding.process != ProcId::none)
        finding.advise("Look at what the start waits for: {}", Command{"proc", s[finding.process].pid});
    finding.advise(
        "Do what may take long (connecting, waiting for tables or other nodes) after the start: in `handle_continue`, "
        "or in a process that tries again.");
    finding.advise(
        "Nobody can start, stop or load an application until it returns; see who waits: `beamheap waits DUMP`");
    findings.push_back(std::move(finding));
}

// The node's start itself has not ended. A program that -s or -eval runs to its end is such a start, too: where nothing
// shows that it is held up by somebody, it is told, and not as something that is wrong.
void blocked_boot(const Facts& facts, const BootWork& boot, std::vector<Finding>& findings) {
    if (boot.process == ProcId::none || boot.is_program || is_halting(facts.snapshot(), boot.process)) return;
    if (facts.get<ApplicationCircle>().process == boot.process) return;  // runaway-recursion
    const bool held_up = facts.get<Waits>().edge(boot.process) != nullptr;
    Finding finding;
    finding.severity = held_up ? FindingSeverity::medium : FindingSeverity::info;
    finding.subject = {SubjectKind::node, Ours("the node's start")};
    if (boot.in_script) finding.title.say("The node was still going through its boot script: {}", boot.process);
    else
        finding.title.say("The node's start has not ended: -s, -run or -eval ({})", facts.snapshot()[boot.process].pid);
    const ProcId blamed = say_what_holds_up(facts, boot.process, true, finding);
    finding.evidence.push_back(fact("who starts the node", frames_text(facts, boot.process, most_frames)));
    if (blamed != boot.process)
        finding.evidence.push_back(fact("who holds it up", frames_text(facts, blamed, most_frames)));
    finding.advise("Look at what it does: {}", Command{"proc", facts.snapshot()[blamed].pid});
    if (!boot.in_script)
        finding.advise(
            "A program that does its work within -s or -eval is meant so. A service starts its processes and returns: "
            "until then `init:get_status/0` is `starting`, and what else -s, -run and -eval name is not called.");
    findings.push_back(std::move(finding));
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    if (is_failed_start(facts.get<Slogan>().kind)) return;
    const BootWork boot = boot_work(facts.snapshot());
    if (facts.get<ApplicationStarts>().known && !facts.get<ApplicationStarts>().starting.empty())
        blocked_application(facts, boot, findings);
    else if (facts.get<Slogan>().kind == SloganKind::requested || facts.get<Slogan>().kind == SloganKind::none)
        blocked_boot(facts, boot, findings);
}

}  // namespace
}  // namespace start_blocked_rule

Rule start_blocked() { return {"start-blocked", 35, start_blocked_rule::run}; }

}  // namespace beamheap::analyses::rule
