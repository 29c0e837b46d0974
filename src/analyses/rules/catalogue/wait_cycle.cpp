// SPDX-License-Identifier: Apache-2.0
// wait-cycle: processes wait for each other in a circle.
//
// Theory. A process waits in one call at a time, so "who waits for whom" is a function, and a circle in it is a
// deadlock: none of its members can answer the one that waits for it. Calls with a timeout end it when that runs out,
// and crash; calls without one stay until the node ends. A circle through one's own node only is certain as far as its
// edges are; one of two servers that call each other under load is the usual case.
//
// An application that is stopped and one of its own processes that waits for the application controller is told as
// that; of a node that stops, the circle is the reason why that does not end.
//
// Thresholds: none, a circle is a finding. Critical where the calls have no timeout, as far as the frames tell.
#include <algorithm>

#include "analyses/rules/phrases.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses::rule {
namespace wait_cycle_rule {
namespace {

constexpr std::size_t most_findings = 10;
constexpr std::size_t most_named = 4;

// The same circle in another dump may begin elsewhere: its members' names, sorted, are what it is about.
Sentence sorted_names(const Facts& facts, const std::vector<ProcId>& cycle) {
    struct Member {
        std::string key;
        Sentence subject;
    };
    std::vector<Member> members;
    for (const ProcId id : cycle) {
        const Process& p = facts.snapshot()[id];
        const FunctionId call = p.real_initial_call != FunctionId::none ? p.real_initial_call : p.initial_call;
        std::string key(facts.snapshot().text(p.name != TextId::none ? p.name : p.label));
        if (key.empty()) key = call == FunctionId::none ? "process" : function_text(facts.snapshot(), call);
        members.push_back({std::move(key), process_subject(facts, id)});
    }
    std::ranges::sort(members, {}, &Member::key);
    std::vector<Sentence> subjects;
    for (std::size_t i = 0; i < std::min(members.size(), most_named); ++i) subjects.push_back(members[i].subject);
    return joined(subjects, ", ");
}

bool node_stops(const Snapshot& s) {
    const ProcId init = s.find_registered(erlang::registered::init);
    return init != ProcId::none && std::ranges::any_of(s.stacks[s[init].stack], [&](const Frame& frame) {
               return has_role(s, frame.function, erlang::FunctionRole::stops_node);
           });
}

// "the node stops and waits for <0.98.0> to end, which waits in application:start/2, called by db:open/1, for
// application_controller <0.44.0>, and that one for the stop"
void say_stop(const Facts& facts, ProcId asks, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    finding.leads = true;
    finding.title.say("the node stops and waits for {} to end, which waits for {}", asks,
                      target_text(s, facts.get<Waits>().edge(asks)->target));
    for (const Frame& frame : s.stacks[s[asks].stack]) {
        if (frame.function == FunctionId::none) break;
        if (has_role(s, frame.function, erlang::FunctionRole::passes_on_stop)) continue;
        finding.title.say(" in {}", frame.function);
        break;
    }
    finding.title.say(", and that one for the stop");
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    std::size_t left = most_findings;
    const ProcId waits_for_stop = asks_for_own_stop(facts);
    for (const std::vector<ProcId>& cycle : facts.get<Waits>().cycles) {
        const bool of_stop = std::ranges::find(cycle, waits_for_stop) != cycle.end();
        if (of_stop && !node_stops(s)) continue;  // stop-under-way tells it
        if (left-- == 0) break;
        Finding finding;
        bool forever = true, exact = true;
        Sum held;
        for (const ProcId id : cycle) {
            const WaitEdge& edge = *facts.get<Waits>().edge(id);
            forever = forever && edge.infinite;
            exact = exact && edge.confidence == Confidence::exact;
            held.add(process_bytes(facts, s[id]));
        }
        about(facts, cycle.front(), finding);
        finding.subject = {SubjectKind::group, sorted_names(facts, cycle)};
        finding.severity = forever ? FindingSeverity::critical : FindingSeverity::high;
        finding.count = cycle.size();
        finding.members = cycle;
        finding.bytes = held.value();
        finding.confidence = exact ? Confidence::exact : Confidence::estimate;
        finding.title.say("Deadlock of {} processes: ", number(cycle.size()));
        if (of_stop) {
            say_stop(facts, waits_for_stop, finding);
        } else if (cycle.size() <= 3) {
            for (const ProcId id : cycle) finding.title.say("{} waits for ", id);
            finding.title.say("the first");
        } else {
            finding.title.say("{} waits for {}, and so on; the last waits for the first", cycle[0], cycle[1]);
        }
        if (forever) finding.title.say(", all without a timeout");
        const WaitFanIn* const fan = facts.get<Waits>().fan_in_of(cycle.front());
        const std::uint64_t behind =
            fan == nullptr || fan->reaching < cycle.size() ? 0 : fan->reaching + 1 - cycle.size();
        if (behind != 0)
            finding.title.say(behind == 1 ? Form<1>("; {} waits behind them") : Form<1>("; {} wait behind them"),
                              number(behind));
        for (std::size_t i = 0; i < std::min(cycle.size(), 2 * most_named); ++i)
            finding.evidence.push_back(fact(sentence("{}", cycle[i]), frames_text(facts, cycle[i], 6),
                                            facts.get<Waits>().edge(cycle[i])->confidence));
        if (behind != 0)
            finding.evidence.push_back(figure("more processes that wait for one of them", behind, AmountUnit::count));
        finding.advise(
            "Break one direction: a cast, or work handed to a task or to handle_continue instead of a call.");
        finding.advise("Look at both stacks for the callbacks that call out: {}",
                       Command{"proc", s[cycle.front()].pid});
        if (forever)
            finding.advise(
                "Calls without a timeout never end it; a timeout makes one of them crash and the other go on.");
        else
            finding.advise(
                "Where one of these calls has a timeout, that one crashes and sets the others free, until next time.");
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace wait_cycle_rule

Rule wait_cycle() { return {"wait-cycle", 40, wait_cycle_rule::run}; }

}  // namespace beamheap::analyses::rule
