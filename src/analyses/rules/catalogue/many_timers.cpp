// SPDX-License-Identifier: Apache-2.0
// many-timers: very many timers for one process.
//
// Theory: processes/relations.hpp. A timer that is set for each request and not cancelled when the answer comes lives
// until it is due, however short the request was: at a thousand requests a second and an hour's timeout there are 3.6
// million, which no process's memory counts. Their message is kept with them, and all of them become messages in the
// end.
//
// Thresholds: 10,000 for one receiver are medium, 100,000 high.
#include "analyses/processes/relations.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace many_timers_rule {
namespace {

constexpr std::uint64_t least = 10'000, many = 100'000;
constexpr std::size_t most_findings = 3;

Sentence receiver_of(const TimersOfOne& row) {
    if (row.process != ProcId::none) return sentence("{}", row.process);
    if (row.pid.has()) return sentence("{}, which is gone", row.pid);
    return sentence("{}, which nobody is registered as", Name{row.name});
}

// Up to OTP 25 the module timer's server has the repeated timers, and monitors for each who has set it: whoever has set
// the most.
std::optional<Relations> repeated_of_one(const Snapshot& s, const TimersOfOne& row) {
    if (row.process == ProcId::none || s.text(s[row.process].name) != "timer_server") return std::nullopt;
    for (const Relations& each : relation_crowds(s, least))
        if (each.process == row.process && each.to_one >= least && each.target.pid.has()) return each;
    return std::nullopt;
}

constexpr double much_percent = 25, nearly_all_percent = 90;

// Memory that the VM counts for processes, and that none of those has that the input lists.
std::uint64_t processes_of_nobody(const Facts& facts) {
    if (!facts.snapshot().source.process_table_complete) return 0;
    return facts.get<Ledger>().untold_bytes(LedgerArea::processes);
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    std::size_t left = most_findings;
    for (const TimersOfOne& row : timer_crowds(s, least)) {
        if (left-- == 0) break;
        Finding finding;
        if (row.process != ProcId::none) about(facts, row.process, finding);
        else finding.subject = {SubjectKind::process, Ours("process that is gone")};
        finding.severity = row.timers >= many ? FindingSeverity::high : FindingSeverity::medium;
        finding.count = row.timers;
        finding.percent = percent_of(row.timers, s.timers.size());
        finding.title.say("{} are set for {}", Counted{row.timers, "timer", "timers"}, receiver_of(row));
        const auto by_server = repeated_of_one(s, row);
        if (by_server)
            finding.title.say(", {} of them repeated ones of {}", number(by_server->to_one),
                              AnyProcess{by_server->target.pid});
        else if (row.repeated != 0)
            finding.title.say(", {} of them repeated ones, each with a process of its own", number(row.repeated));
        const Pid setter = by_server ? by_server->target.pid : row.repeated != 0 ? row.pid : Pid{};
        if (setter.has()) {
            finding.advise(
                "Repeated timers of the module `timer` (`timer:send_interval`, `timer:apply_interval`) last until "
                "`timer:cancel/1` or the end of who has set them: one `erlang:send_after/3` at a time ends by itself. "
                "{}",
                Command{"proc", setter});
        }
        // What timers send lies on no heap until it is due: it is counted for the processes, and is nobody's.
        const std::uint64_t untold = processes_of_nobody(facts);
        const double untold_percent = percent_of(untold, node_bytes(facts)).value_or(0);
        if (untold_percent >= much_percent && *finding.percent >= nearly_all_percent)
            finding.title.say("; their messages take some {} ({} of all memory)", bytes(untold),
                              Percent{untold_percent});
        else if (row.latest_ms.has())
            finding.title.say("; the last one is due in {}", Amount{*row.latest_ms, AmountUnit::milliseconds});
        finding.evidence = {figure("timers of the node", s.timers.size(), AmountUnit::count),
                            figure("the next one is due in", row.soonest_ms, AmountUnit::milliseconds),
                            figure("the last one is due in", row.latest_ms, AmountUnit::milliseconds)};
        if (const TextId message = s.timers[row.example].message; message != TextId::none)
            finding.evidence.push_back(fact("message of one", sentence("{}", term(s.text(message)))));
        if (row.process != ProcId::none) {
            finding.evidence.push_back(figure("messages in its queue", s[row.process].msgq_len, AmountUnit::count));
            add_stack(facts, row.process, finding);
        }
        finding.advise(
            "Cancel each timer when what it guards is done: `erlang:cancel_timer/1`, or a call's own timeout.");
        finding.advise("See their messages and when they are due: `beamheap timers DUMP`");
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace many_timers_rule

Rule many_timers() { return {"many-timers", 79, many_timers_rule::run}; }

}  // namespace beamheap::analyses::rule
