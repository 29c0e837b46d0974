// wait-cycle: processes wait for each other in a circle.
//
// Theory. A process waits in one call at a time, so "who waits for whom" is a function, and a circle in it is a
// deadlock: none of its members can answer the one that waits for it. Calls with a timeout end it when that runs out,
// and crash; calls without one stay until the node ends. A circle through one's own node only is certain as far as its
// edges are; one of two servers that call each other under load is the usual case.
//
// Thresholds: none, a circle is a finding. Critical where the calls have no timeout, as far as the frames tell.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/rules/rule_list.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr std::size_t most_findings = 10;
constexpr std::size_t most_named = 4;

}  // namespace

void wait_cycle(const RuleInput& input, Findings& findings) {
    const Snapshot& s = input.snapshot;
    std::size_t left = most_findings;
    for (const std::vector<ProcId>& cycle : input.waits.cycles) {
        if (left-- == 0) break;
        Finding finding;
        bool forever = true, exact = true;
        Sum held;
        for (const ProcId id : cycle) {
            const WaitEdge& edge = *input.waits.edge(id);
            forever = forever && edge.infinite;
            exact = exact && edge.confidence == Confidence::exact;
            held.add(process_bytes(input, s[id]));
        }
        about(input, cycle.front(), finding);
        // The same circle in another dump may begin elsewhere: its members' names, sorted, are what it is about.
        std::vector<std::string> names;
        for (const ProcId id : cycle) names.push_back(process_subject(input, id));
        std::ranges::sort(names);
        finding.subject = {SubjectKind::group, {}};
        for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i)
            finding.subject.text += (i == 0 ? "" : ", ") + names[i];
        finding.severity = forever ? FindingSeverity::critical : FindingSeverity::high;
        finding.count = cycle.size();
        finding.bytes = held.value();
        finding.confidence = exact ? Confidence::exact : Confidence::estimate;
        std::string path;
        for (std::size_t i = 0; i < std::min(cycle.size(), most_named); ++i)
            path += process_text(input, cycle[i]) + " waits for ";
        if (cycle.size() > most_named)
            path += fmt::format("{} more, the last of which waits for ", cycle.size() - most_named);
        path += cycle.size() == 2 ? "the first" : process_text(input, cycle.front());
        finding.title = fmt::format("Deadlock of {} processes: {}{}", grouped(cycle.size()), path,
                                    forever ? ", all without a timeout" : "");
        for (std::size_t i = 0; i < std::min(cycle.size(), 2 * most_named); ++i)
            finding.evidence.push_back(fact(process_text(input, cycle[i]), frames_text(input, cycle[i], 6),
                                            input.waits.edge(cycle[i])->confidence));
        if (const WaitFanIn* fan = input.waits.fan_in_of(cycle.front());
            fan != nullptr && fan->reaching > cycle.size() - 1)
            finding.evidence.push_back(figure("more processes that wait for one of them",
                                              fan->reaching + 1 - cycle.size(), EvidenceUnit::count));
        finding.next_steps = {
            "Break one direction: a cast, or work handed to a task or to handle_continue instead of a call.",
            "Look at both stacks for the callbacks that call out: beamheap proc DUMP " +
                shell_pid(s[cycle.front()].pid),
            forever ? "Calls without a timeout never end it; a timeout makes one of them crash and the other go on."
                    : "The calls have timeouts, so one of them will crash and set the others free, until next time."};
        findings.push_back(std::move(finding));
    }
}

}  // namespace beamheap::analyses::rule
