// SPDX-License-Identifier: Apache-2.0
// credit-flow: processes of RabbitMQ that may send nothing until another one has caught up.
//
// Theory. RabbitMQ's processes send on credit: a channel that has sent a queue more than this has granted stops, and so
// does the connection that the channel takes no more of; then its client can publish nothing. Such a process waits for
// no answer, it only leaves what arrives unread: it looks idle. Whom it wants credit of stands in its dictionary, and
// the last of that chain, who wants none himself, is the one that can't keep up.
//
// Thresholds: credit that runs out for a moment is how it works under load, so this is medium; ten that are stopped by
// one, or one that is stuck or suspended, are high. Where RabbitMQ's processes are too many to be read, those who were
// not are told: of those who were found, as a lower bound; where none was found, as info.
#include <algorithm>
#include <map>

#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace credit_flow_rule {
namespace {

constexpr std::size_t most_findings = 3;
constexpr std::uint64_t many_blocked = 10;
constexpr std::string_view connection = "rabbit_reader";

class Chains {
public:
    explicit Chains(const Facts& facts) : facts_(facts) {
        for (const CreditBlock& block : facts.get<ServiceStates>().blocked)
            for (const Pid pid : block.by)
                if (const ProcId by = facts.snapshot().find(pid); by != ProcId::none) {
                    next_.emplace(index_of(block.process), by);
                    break;
                }
    }

    // Whom a blocked process waits for in the end; none where that is gone, or the chain leads around.
    ProcId end(ProcId process) const {
        ProcId at = process;
        for (std::size_t steps = 0; steps <= next_.size(); ++steps) {
            const auto step = next_.find(index_of(at));
            if (step == next_.end()) return at == process ? ProcId::none : end_of_chain(facts_.get<Waits>(), at);
            at = step->second;
        }
        return ProcId::none;
    }

private:
    const Facts& facts_;
    std::map<std::uint32_t, ProcId> next_;
};

bool is_stuck(const Facts& facts, ProcId process) {
    return is_suspended(facts, process) ||
           (facts.snapshot()[process].state == ProcessState::waiting && !idle(facts, process));
}

bool is_connection(const Snapshot& s, ProcId id) {
    const auto of = [&](FunctionId function) {
        return function != FunctionId::none && s.text(s.functions[function].module) == connection;
    };
    const Process& p = s[id];
    return of(p.real_initial_call) || of(p.current_function) ||
           std::ranges::any_of(s.stacks[p.stack], [&](const Frame& frame) { return of(frame.function); });
}

Sentence state_of(const Facts& facts, ProcId process) {
    if (suspended_by_sys(facts, process)) return Sentence("was suspended by `sys:suspend/1`");
    return is_suspended(facts, process) ? Sentence("is suspended") : doing(facts, process);
}

Finding finding_of(const Facts& facts, ProcId end, std::vector<ProcId> blocked) {
    const Snapshot& s = facts.snapshot();
    Finding finding;
    about(facts, end, finding);
    finding.role = FindingRole::cause;
    finding.of_waiting = true;
    finding.severity =
        blocked.size() >= many_blocked || is_stuck(facts, end) ? FindingSeverity::high : FindingSeverity::medium;
    finding.count = blocked.size();
    const auto connections =
        static_cast<std::uint64_t>(std::ranges::count_if(blocked, [&](ProcId id) { return is_connection(s, id); }));
    const std::uint64_t queued = s[end].msgq_len.value_or(0);
    if (facts.get<ServiceStates>().credit_unread != 0) {
        finding.confidence = Confidence::lower_bound;
        finding.title.say("At least ");
    }
    finding.title.say("{} of RabbitMQ", processes(blocked.size()));
    if (connections != 0) finding.title.say(" ({})", Counted{connections, "connection", "connections"});
    finding.title.add(blocked.size() == 1 ? Ours(" waits") : Ours(" wait"));
    finding.title.say(" for credit from {}; it has {} and {}", end, Counted{queued, "message", "messages"},
                      state_of(facts, end));
    finding.evidence = {
        figure("processes without credit", blocked.size(), AmountUnit::count),
        figure("of them connections, whose clients can publish nothing", connections, AmountUnit::count),
        figure("messages in its queue", s[end].msgq_len, AmountUnit::count)};
    if (facts.get<ServiceStates>().credit_unread != 0)
        finding.evidence.push_back(figure("further processes of RabbitMQ, whose credit was not read",
                                          facts.get<ServiceStates>().credit_unread, AmountUnit::count));
    add_stack(facts, end, finding);
    // Its queue, and those who call it, are the same story, unless they are the larger one.
    const WaitFanIn* callers = facts.get<Waits>().fan_in_of(end);
    if (callers == nullptr || callers->waiters <= blocked.size()) blocked.push_back(end);
    finding.members = std::move(blocked);
    if (is_suspended(facts, end)) advise_to_resume(facts, end, finding);
    else finding.advise("See why it does not keep up: {}", Command{"proc", s[end].pid});
    finding.advise(
        "What it keeps has to be written, or consumed: look at its disk and its consumers; RabbitMQ shows these "
        "connections as `flow`.");
    return finding;
}

Finding nobody_found(const Facts& facts) {
    Finding finding;
    finding.severity = FindingSeverity::info;
    finding.subject = {SubjectKind::node, Sentence("credit of RabbitMQ")};
    finding.count = facts.get<ServiceStates>().credit_unread;
    finding.confidence = Confidence::lower_bound;
    finding.title.say(
        "{} of RabbitMQ were too many to see whether they wait for credit; of those that were read none does",
        processes(facts.get<ServiceStates>().credit_unread));
    finding.evidence = {figure("processes of RabbitMQ whose credit was not read",
                               facts.get<ServiceStates>().credit_unread, AmountUnit::count)};
    finding.advise(
        "See one of them: `beamheap proc DUMP PID` shows `credit_blocked` in its dictionary; RabbitMQ shows such "
        "connections as `flow`.");
    return finding;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Chains chains(facts);
    std::map<std::uint32_t, std::vector<ProcId>> blocked;
    // One that idles with an empty queue has granted it: that is on its way.
    const auto keeps_up = [&](ProcId id) { return idle(facts, id) && facts.snapshot()[id].msgq_len.value_or(0) == 0; };
    for (const CreditBlock& block : facts.get<ServiceStates>().blocked)
        if (const ProcId end = chains.end(block.process); end != ProcId::none && !keeps_up(end))
            blocked[index_of(end)].push_back(block.process);
    std::vector<std::pair<ProcId, std::vector<ProcId>>> groups;
    for (auto& [end, members] : blocked) groups.emplace_back(ProcId{end}, std::move(members));
    std::ranges::stable_sort(groups, [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
    for (std::size_t i = 0; i < std::min(groups.size(), most_findings); ++i)
        findings.push_back(finding_of(facts, groups[i].first, std::move(groups[i].second)));
    if (groups.empty() && facts.get<ServiceStates>().credit_unread != 0) findings.push_back(nobody_found(facts));
}

}  // namespace
}  // namespace credit_flow_rule

Rule credit_flow() { return {"credit-flow", 47, credit_flow_rule::run}; }

}  // namespace beamheap::analyses::rule
