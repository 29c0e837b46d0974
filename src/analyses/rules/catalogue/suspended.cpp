// SPDX-License-Identifier: Apache-2.0
// suspended: a server that somebody has suspended, and not resumed.
//
// Theory. A process that sys:suspend/1 or erlang:suspend_process/1 holds answers nobody, and looks idle to those who
// don't know where to look: no queue has to grow where its callers have timeouts, give up, or have not come yet.
// Upgrades, tracers and debuggers suspend processes for a moment; one that a dump shows in that state was most likely
// forgotten. Those with many callers or a long queue are told by the rules of these, with the same words.
//
// Thresholds: one with a name, or with requests in its queue, is medium; three requests or callers are high.
#include <algorithm>

#include "analyses/rules/phrases.hpp"
#include "erlang/functions.hpp"

namespace beamheap::analyses::rule {
namespace suspended_rule {
namespace {

constexpr std::uint64_t many_requests = 3;
constexpr std::uint64_t others_tell_waiters = 10, others_tell_messages = 1'000;
constexpr std::size_t most_named = 3;

std::uint64_t callers(const Facts& facts, ProcId process) {
    const WaitFanIn* fan = facts.get<Waits>().fan_in_of(process);
    return fan == nullptr ? 0 : fan->waiters;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const auto asked = [&](ProcId id) { return std::max(s[id].msgq_len.value_or(0), callers(facts, id)); };
    erlang::RoleHolders stopped_by_sys(erlang::FunctionRole::is_suspended);
    std::vector<ProcId> found;
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const ProcId id{i};
        if (s[id].state != ProcessState::suspended && !stopped_by_sys(s, s[id].current_function)) continue;
        if (!is_suspended(facts, id) || (s[id].name == TextId::none && asked(id) == 0)) continue;
        if (callers(facts, id) < others_tell_waiters && s[id].msgq_len.value_or(0) < others_tell_messages)
            found.push_back(id);
    }
    if (found.empty()) return;
    std::ranges::stable_sort(found, std::ranges::greater(), asked);
    const ProcId first = found.front();
    Finding finding;
    about(facts, first, finding);
    finding.severity = asked(first) >= many_requests ? FindingSeverity::high : FindingSeverity::medium;
    finding.of_waiting = true;
    finding.count = found.size();
    const Sentence how =
        suspended_by_sys(facts, first) ? Sentence("`sys:suspend/1`") : Sentence("`erlang:suspend_process/1`");
    const Sentence by = suspended_by(facts, first);
    finding.title.say(by.empty() ? Form<3>("{} was suspended by {}{} and answers nobody")
                                 : Form<3>("{} was suspended with {}{}, and answers nobody"),
                      first, how, by);
    if (const std::uint64_t queued = s[first].msgq_len.value_or(0); queued != 0)
        finding.title.say("; it has {} in its queue", messages(queued));
    if (const std::uint64_t waiting = callers(facts, first); waiting != 0)
        finding.title.say(", and {} wait for it", processes(waiting));
    if (found.size() > 1) finding.title.say("; {} more are suspended", number(found.size() - 1));
    for (std::size_t i = 1; i < std::min(found.size(), most_named + 1); ++i)
        finding.evidence.push_back(fact(sentence("{}", found[i]), doing(facts, found[i])));
    finding.evidence.push_back(figure("messages in its queue", s[first].msgq_len, AmountUnit::count));
    finding.evidence.push_back(figure("processes that wait for it", callers(facts, first), AmountUnit::count));
    add_stack(facts, first, finding);
    advise_to_resume(facts, first, finding);
    finding.advise("See what it holds: {}", Command{"proc", s[first].pid});
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace suspended_rule

Rule suspended() { return {"suspended", 52, suspended_rule::run}; }

}  // namespace beamheap::analyses::rule
