// SPDX-License-Identifier: Apache-2.0
// incomplete-dump: the input ends inside the process table.
//
// Theory. A VM is often killed while it writes its dump (by heart, by a service manager, by a container that is out of
// memory), or the disk is full. Processes come in the order of their pids, so what is missing are the younger ones, and
// with them often the culprit. =memory, which comes before, tells how much they used.
//
// Thresholds: medium, high where the processes that are listed hold less than half of what =memory says.
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace incomplete_dump_rule {
namespace {

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    if (s.source.process_table_complete) return;
    Sum listed;
    for (const Process& process : s.processes) listed.add(process_bytes(facts, process));
    const Count seen = listed.value();
    const Count told = s.memory_bytes("processes");
    const auto percent = percent_of(seen, told);
    Finding finding;
    finding.severity = percent.value_or(100) < 50 ? FindingSeverity::high : FindingSeverity::medium;
    finding.subject = {SubjectKind::node, Ours("process table")};
    finding.count = s.processes.size();
    finding.bytes = seen;
    finding.percent = percent;
    finding.confidence = Confidence::lower_bound;
    finding.title.say("The dump ends inside its process table: it lists {}", processes(s.processes.size()));
    if (percent && *percent < 50)
        finding.title.say(" with {} of the {} that processes used; the culprit is most likely missing", bytes(*seen),
                          bytes(*told));
    else finding.title.say(", and the culprit may be among those that are missing");
    finding.evidence.push_back(
        figure("processes listed", s.processes.size(), AmountUnit::count, Confidence::lower_bound));
    finding.evidence.push_back(figure("memory that they use", seen, AmountUnit::bytes, Confidence::lower_bound));
    finding.evidence.push_back(figure("memory of all processes (=memory)", told, AmountUnit::bytes));
    finding.advise(
        "Let the VM finish its dump: ERL_CRASH_DUMP_SECONDS=-1 (heart kills it otherwise), no ERL_CRASH_DUMP_BYTES, "
        "and a service manager that waits.");
    finding.advise("Give it a disk with room: a dump is up to twice as large as the memory that the node used.");
    finding.advise("Who was running when it died is in the schedulers' section: `beamheap schedulers DUMP`");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace incomplete_dump_rule

Rule incomplete_dump() { return {"incomplete-dump", 20, incomplete_dump_rule::run}; }

}  // namespace beamheap::analyses::rule
