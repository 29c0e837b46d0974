// SPDX-License-Identifier: Apache-2.0
// restart-storm: a supervisor starts its children again and again.
//
// Theory: processes/restarts.hpp. A supervisor restarts at once, without a pause. A child that ends for a reason that
// stays (a service that does not answer, a file that is not there, a bad entry in its configuration) is started again
// until the intensity is passed, and then its supervisor ends, and that one's, and the node. Where the intensity was
// set high so that this can't happen, it goes on for ever: the node is busy with it, nobody waits for anybody, and what
// the child should do is never done.
//
// Thresholds: ten restarts within the period are medium; high, where these are more than half of what is allowed, or a
// hundred, and ten a second. Where more than 100,000 pids were given after the child's, it is long ago, and with two to
// nine restarts (all that a usual intensity allows) it may be nothing: info. But from three on, which are half of what
// is allowed and come all through the period, the last one of them within the last 100 pids, they go on: medium.
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace restart_storm_rule {
namespace {

constexpr std::uint64_t least = 2, several = 10, many = 100, many_a_second = 10;
constexpr std::uint64_t long_ago_pids = 100'000, just_now_pids = 100, least_steady = 3;
constexpr std::uint64_t most_of_period = 80;  // percent
constexpr std::size_t most_findings = 3;

// Whether it goes on so, below what is allowed: restarts all through the period, up to now.
bool is_steady(const SupervisorRestarts& of) {
    return of.restarts >= least_steady && 2 * of.restarts >= of.intensity &&
           of.within_seconds * 100 >= of.period_seconds * most_of_period &&
           (of.restarting != 0 || (of.started_since && *of.started_since <= just_now_pids));
}

FindingSeverity severity_of(const SupervisorRestarts& of) {
    if (of.restarts < several && is_steady(of)) return FindingSeverity::medium;
    if (of.restarts < several || (of.restarting == 0 && of.started_since.value_or(0) > long_ago_pids))
        return FindingSeverity::info;
    const bool near_its_end = of.restarts > of.intensity / 2;
    const bool fast = of.restarts >= many && of.restarts / of.within_seconds >= many_a_second;
    return near_its_end || fast ? FindingSeverity::high : FindingSeverity::medium;
}

Amount seconds(std::uint64_t value) { return {value * 1000, AmountUnit::milliseconds}; }

// "its child price_loader", "its children" and, behind the numbers, which one was the last.
void say_child(const SupervisorRestarts& of, Finding& finding) {
    if (of.children == 1 && of.child_id != nullptr)
        finding.title.say(" has restarted its child {}", PrintedTerm{of.child_id, of.child_id->term(), 60});
    else
        finding.title.say(of.one_kind && of.children < 2 ? Form<0>(" has restarted its child")
                                                         : Form<0>(" has restarted its children"));
}

void say_last(const SupervisorRestarts& of, Finding& finding) {
    const FunctionName function{of.module, of.function, of.arity};
    if (of.children > 1 && of.child_id != nullptr)
        finding.title.say(of.restarting != 0 ? Form<1>("; {} can't be started")
                          : of.rest_too      ? Form<1>(", the last time from {} on")
                                             : Form<1>(", the last one {}"),
                          PrintedTerm{of.child_id, of.child_id->term(), 60});
    else if (!of.module.empty() && of.restarting != 0) finding.title.say("; {} fails", function);
    else if (!of.module.empty()) finding.title.say("; {} starts them", function);
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    std::size_t left = most_findings;
    for (const SupervisorRestarts& of : facts.get<RecentRestarts>().supervisors) {
        if (of.restarts < least || left-- == 0) break;
        Finding finding;
        about(facts, of.supervisor, finding);
        finding.severity = severity_of(of);
        finding.count = of.restarts;
        finding.title.say("Supervisor {}", of.supervisor);
        say_child(of, finding);
        finding.title.say(" {}{} within {} (limit {} in {})", of.more ? Ours("at least ") : Ours(""),
                          Counted{of.restarts, "time", "times"}, seconds(of.within_seconds), number(of.intensity),
                          seconds(of.period_seconds));
        say_last(of, finding);
        if (of.child_id != nullptr) {
            const Sentence id = sentence("{}", PrintedTerm{of.child_id, of.child_id->term(), 200});
            finding.evidence.push_back(of.restarting != 0 ? fact("child that could not be started again", id)
                                       : of.rest_too      ? fact("child that was restarted, with those behind it", id)
                                                          : fact("child that was started last", id));
        }
        if (!of.module.empty())
            finding.evidence.push_back(
                fact("its start function", sentence("{}", FunctionName{of.module, of.function, of.arity})));
        if (of.child.has() && of.restarting == 0)
            finding.evidence.push_back(
                fact(of.child_id == nullptr ? Ours("pid of the youngest child") : Ours("its pid"),
                     sentence("{}", AnyProcess{of.child})));
        if (of.restarting != 0)
            finding.evidence.push_back(
                figure("children that could not be started again", of.restarting, AmountUnit::count));
        if (of.last_at_seconds)
            finding.evidence.push_back(figure("the last restart, after the node's start", *of.last_at_seconds * 1000,
                                              AmountUnit::milliseconds));
        if (of.started_since && of.restarting == 0)
            finding.evidence.push_back(
                figure("processes that were started since", *of.started_since, AmountUnit::count));
        if (!idle(facts, of.supervisor)) add_stack(facts, of.supervisor, finding);
        finding.advise(
            "Look for why the child ends: the node's log has a crash report and a supervisor report for each time.");
        finding.advise("See the supervisor and its state: {}", Command{"proc", facts.snapshot()[of.supervisor].pid});
        finding.advise(
            "A supervisor restarts at once. Let a child that needs what is not there yet start all the same, and try "
            "again by itself, after a pause (`handle_continue`, a timer).");
        finding.advise("Don't raise the intensity to keep it alive: what goes on for ever then is found by nobody.");
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace restart_storm_rule

Rule restart_storm() { return {"restart-storm", 57, restart_storm_rule::run}; }

}  // namespace beamheap::analyses::rule
