// SPDX-License-Identifier: Apache-2.0
// stop-under-way: the node was being stopped, and somebody takes its time.
//
// Theory. init:stop/0, SIGTERM (a service manager, a container) and a shell's q() make init(1) end the applications one
// by one: the application controller asks each application's master, that its top supervisor, and a supervisor its
// children, the last one first, each for as long as its shutdown time allows, `infinity` for supervisors. A node that
// is looked at then, that is killed for it, or whose helper for external programs is killed with it, is not sick but
// late, and who it waits for is at the end of the chain of supervisors.
//
// application:stop/1 ends one application in the same way. Up to 28 the application controller serves nobody meanwhile:
// who wants to start or stop another one waits for it.
//
// A process of that application which waits for the application controller meanwhile, as who has called
// application:stop/1 does, is waited for itself: neither ends.
//
// A supervisor alone that ends children does so one after the other, unless they are dynamic ones of one kind: with
// thousands of them that takes long, and it serves nobody meanwhile.
//
// Thresholds: a supervisor alone is medium where 100 are still linked to it, else info; of the whole node none, init's
// stack says that the stop has begun. High where a supervisor waits for a child, medium where the stop is elsewhere; of
// one application high where ten wait for the controller, or one of its own processes does, else medium; critical,
// before the slogan's own words, where the helper that starts external programs was killed meanwhile, which is what
// ended the node.
#include <algorithm>
#include <array>

#include "analyses/base/links_of.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses::rule {
namespace stop_under_way_rule {
namespace {

using erlang::FunctionRole;

bool has_frame(const Snapshot& s, const Process& process, FunctionRole role) {
    return std::ranges::any_of(s.stacks[process.stack],
                               [&](const Frame& frame) { return has_role(s, frame.function, role); });
}

// A supervisor that waits for a child to end; of several, the innermost.
const WaitEdge* waits_for_child(const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    for (const WaitEdge& edge : facts.get<Waits>().edges) {
        if (!has_frame(s, s[edge.waiter], FunctionRole::ends_child)) continue;
        const ProcId child = edge.target.process;
        const WaitEdge* below = child == ProcId::none ? nullptr : facts.get<Waits>().edge(child);
        if (below == nullptr || !has_frame(s, s[child], FunctionRole::ends_child)) return &edge;
    }
    return nullptr;
}

// A supervisor of many children of one kind ends them together and waits for all.
ProcId ends_dynamic_children(const Snapshot& s) {
    for (std::uint32_t i = 0; i < s.processes.size(); ++i)
        if (has_frame(s, s.processes[i], FunctionRole::ends_children)) return ProcId{i};
    return ProcId::none;
}

// Who does not end below a supervisor that ends all its children together: the supervisors there that do so, too, whom
// those wait for, and of the last one's children the one that is suspended or in no idle loop, else any.
ProcId below(const Facts& facts, ProcId supervisor) {
    constexpr int most_levels = 32, ending = 3;
    const Snapshot& s = facts.snapshot();
    const auto rank = [&](ProcId id) {
        if (has_frame(s, s[id], FunctionRole::ends_children) || has_frame(s, s[id], FunctionRole::ends_child))
            return ending;
        if (s[id].state == ProcessState::suspended || is_suspended(facts, id)) return 2;
        return idle(facts, id) ? 0 : 1;
    };
    ProcId at = supervisor;
    for (int level = 0; level < most_levels; ++level) {
        const WaitEdge* const edge = facts.get<Waits>().edge(at);
        ProcId next = edge == nullptr ? ProcId::none : edge->target.process;
        int best = -1;  // of the children that were looked at
        if (next == ProcId::none && has_frame(s, s[at], FunctionRole::ends_children))
            for (const ProcId id : all_processes(s)) {
                if (best == ending || s[id].parent != s[at].pid) continue;
                if (const int of_it = rank(id); of_it > best) best = of_it, next = id;
            }
        if (next == ProcId::none) break;
        at = next;
    }
    return at;
}

constexpr std::uint64_t many_waiters = 10;
constexpr std::uint64_t many_children = 100;

// ", called by my_server:handle_cast/2": the youngest function that is not of the libraries in between
Sentence called_by(const Snapshot& s, ProcId process) {
    for (const Frame& frame : s.stacks[s[process].stack]) {
        if (frame.function == FunctionId::none) break;
        if (!has_role(s, frame.function, FunctionRole::passes_on_stop))
            return sentence(", called by {}", frame.function);
    }
    return {};
}

// One application does not end, of a node that goes on.
void application(const Facts& facts, const RunningApplication& stopped, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const ProcId controller = s.find_registered(erlang::registered::application_controller);
    const WaitFanIn* const fan = controller == ProcId::none ? nullptr : facts.get<Waits>().fan_in_of(controller);
    const ProcId asks = asks_for_own_stop(facts);
    const ProcId end = asks != ProcId::none ? asks : end_of_chain(facts.get<Waits>(), s.find(stopped.master));
    const Atom name{stopped.name, false};
    Finding finding;
    finding.subject = {SubjectKind::node, sentence("application {}", name)};
    finding.count = fan == nullptr ? 0 : fan->waiters;
    finding.severity = asks != ProcId::none || finding.count.value_or(0) >= many_waiters ? FindingSeverity::high
                                                                                         : FindingSeverity::medium;
    finding.title.say("Application {} does not stop", name);
    if (end != ProcId::none) {
        const WaitEdge* const edge = waits_for_child(facts);
        if (asks != ProcId::none)
            finding.title.say(": {}, a part of it, waits for the application controller{}", asks, called_by(s, asks));
        else if (edge != nullptr && edge->target.process == end)
            finding.title.say(": {} waits for {}, which {}", edge->waiter, end, doing(facts, end));
        else if (edge != nullptr && edge->target.process != ProcId::none)
            finding.title.say(": {} waits for {}, and that one in the end for {}, which {}", edge->waiter,
                              edge->target.process, end, doing(facts, end));
        else finding.title.say(": {} {}", end, doing(facts, end));
        finding.process = end;
        finding.pid = s[end].pid;
        finding.name = s[end].name;
        add_stack(facts, end, finding);
        finding.advise("See what holds it up: {}", Command{"proc", s[end].pid});
    }
    if (asks != ProcId::none) {
        finding.members.push_back(asks);
        finding.advise(
            "A process can't wait for the end of its own application: have `application:stop/1` called by one that is "
            "spawned for that, or end the node with `init:stop/0`, which does not wait.");
    }
    if (fan != nullptr && fan->waiters > 1) finding.title.say("; {} wait for that", processes(fan->waiters));
    if (fan != nullptr)
        for (const std::uint32_t edge : facts.get<Waits>().waiters_of(*fan))
            finding.members.push_back(facts.get<Waits>().edges[edge].waiter);
    finding.evidence.push_back(
        figure("processes that wait for the application controller", finding.count, AmountUnit::count));
    finding.advise(
        "Give the child a shutdown time in its child specification, after which it is killed, and keep what may wait "
        "out of `terminate/2` and of the application's `stop/1`.");
    finding.advise(
        "Nobody can start, stop or load an application until it has ended; see who waits: `beamheap waits DUMP`");
    findings.push_back(std::move(finding));
}

// A supervisor ends a child, or all of them one by one, of a node that goes on; children are what it is linked to, but
// for its own supervisor, which has spawned it.
void supervisor_alone(const Facts& facts, const WaitEdge& edge, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const ProcId child = edge.target.process;
    if (child == ProcId::none) return;
    Finding finding;
    about(facts, edge.waiter, finding);
    std::uint64_t linked = 0;
    for (const Link& link : links_of(s, s[edge.waiter]))
        linked += link.kind == LinkKind::link && link.pid.has() && link.pid != s[edge.waiter].parent;
    finding.severity = linked >= many_children ? FindingSeverity::medium : FindingSeverity::info;
    finding.count = linked;
    finding.title.say("{} waits for a child to end: {} {}", edge.waiter, child, doing(facts, child));
    if (linked >= many_children) finding.title.say("; {} others are linked to it", number(linked));
    finding.evidence.push_back(figure("processes that are linked to the supervisor", linked, AmountUnit::count));
    if (Sentence frames = frames_text(facts, child); !frames.empty())
        finding.evidence.push_back(fact("the child's stack", std::move(frames)));
    finding.advise("See what holds the child up: {}", Command{"proc", s[child].pid});
    finding.advise(
        "A supervisor of one_for_one, one_for_all or rest_for_one ends its children one after the other, each for as "
        "long as its shutdown time allows: 10,000 that take a tenth of a second each are a quarter of an hour. Those "
        "of simple_one_for_one and DynamicSupervisor end together.");
    findings.push_back(std::move(finding));
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const ProcId init = s.find_registered(erlang::registered::init);
    if (init == ProcId::none || is_failed_start(facts.get<Slogan>().kind)) return;
    if (!has_frame(s, s[init], FunctionRole::stops_node)) {
        if (const RunningApplication* const stopped = being_stopped(facts)) application(facts, *stopped, findings);
        else if (const WaitEdge* const edge = waits_for_child(facts)) supervisor_alone(facts, *edge, findings);
        return;
    }
    Finding finding;
    finding.subject = {SubjectKind::node, Ours("stop")};
    const bool helper = facts.get<Slogan>().kind == SloganKind::child_setup;
    const WaitEdge* edge = waits_for_child(facts);
    const ProcId many = edge == nullptr ? ends_dynamic_children(s) : ProcId::none;
    finding.severity = helper                                    ? FindingSeverity::critical
                       : edge != nullptr || many != ProcId::none ? FindingSeverity::high
                                                                 : FindingSeverity::medium;
    finding.title.add(Ours("The node was being stopped (`init:stop/0`)"));
    if (helper) finding.title.add(Ours(" when erl_child_setup ended"));
    ProcId look_at = init;
    if (edge != nullptr) {
        finding.title.say("; {} waits for {}", edge->waiter, target_text(facts.snapshot(), edge->target));
        look_at = edge->waiter;
        if (edge->target.process != ProcId::none) {
            look_at = edge->target.process;
            const ProcId end = end_of_chain(facts.get<Waits>(), look_at);
            if (!helper && end != ProcId::none && end != look_at) {
                const WaitEdge* const next = facts.get<Waits>().edge(look_at);
                const bool direct = next != nullptr && next->target.process == end;
                finding.title.say(direct ? Form<2>(", and that one for {}, which {}")
                                         : Form<2>(", and that one in the end for {}, which {}"),
                                  end, doing(facts, end));
                finding.advise("See why that one does not go on: {}", Command{"proc", s[end].pid});
            } else if (const ProcId leaf = helper ? look_at : below(facts, look_at); leaf != look_at) {
                finding.title.say(", and that one for what is below it: {} {}", leaf, doing(facts, leaf));
                look_at = leaf;
            } else if (!helper) {
                finding.title.say(", which {}", doing(facts, look_at));
            }
        }
    } else if (many != ProcId::none) {
        look_at = below(facts, many);
        finding.title.say("; {} waits for its children to end", many);
        if (look_at != many) finding.title.say(": {} {}", look_at, doing(facts, look_at));
    } else {
        finding.title.say("; init {}", doing(facts, init));
    }
    finding.process = look_at;
    finding.pid = s[look_at].pid;
    finding.name = s[look_at].name;
    finding.evidence.push_back(fact("init", frames_text(facts, init)));
    add_stack(facts, look_at, finding);
    finding.advise("See what holds it up: {}", Command{"proc", s[look_at].pid});
    finding.advise(
        "A child ends when its work allows it: let it handle the exit of its supervisor (trap_exit, terminate), and "
        "give it a shutdown time in its child specification, after which it is killed.");
    if (helper)
        finding.advise(
            "A stop that signals every process of the service ends the helper first: let the service manager signal "
            "the node alone (KillMode=mixed, a container's first process).");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace stop_under_way_rule

Rule stop_under_way() { return {"stop-under-way", 5, stop_under_way_rule::run}; }

}  // namespace beamheap::analyses::rule
