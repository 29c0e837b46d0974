// SPDX-License-Identifier: Apache-2.0
// dying: a process that has crashed or is exiting still holds much.
//
// Theory: facts/catalogue/dying.hpp. Who formats a report of its own crash works in io_lib and grows: the first looks
// like a busy loop, the second like a leak. What it crashed of is what to mend; the size of the report is what to
// bound.
//
// Thresholds: 8 MiB and a tenth of the memory of all processes, medium; half of it and 64 MiB, high, of who reports;
// who is exiting will have ended soon, and is medium. Tables that are in no list, of which 8 MiB and a quarter of all
// ETS are left, are told of who is exiting.
#include "analyses/facts/catalogue/dying.hpp"

#include <algorithm>

#include "analyses/causes/cause.hpp"
#include "analyses/logs/log_events.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/crash_reports.hpp"

namespace beamheap::analyses::rule {
namespace dying_rule {
namespace {

constexpr std::uint64_t least_bytes = 8u << 20, high_bytes = 64u << 20;
constexpr double least_percent = 10, high_percent = 50, least_of_ets = 25;
constexpr std::size_t most_findings = 3;
constexpr std::uint64_t many_messages = 100;

bool is_much(const Facts& facts, ProcId id, double& percent) {
    const Count held = process_bytes(facts, facts.snapshot()[id]);
    percent = percent_of(held, all_process_bytes(facts)).value_or(0);
    return held.value_or(0) >= least_bytes && percent >= least_percent;
}

FindingSeverity severity_of(std::uint64_t held, double percent) {
    return held >= high_bytes && percent >= high_percent ? FindingSeverity::high : FindingSeverity::medium;
}

Finding about_report(const Facts& facts, const CrashReporting& row, double percent) {
    const Snapshot& s = facts.snapshot();
    const std::uint64_t held = process_bytes(facts, s[row.process]).value_or(0);
    Finding finding;
    about(facts, row.process, finding);
    finding.severity = severity_of(held, percent);
    finding.bytes = held;
    finding.percent = percent;
    const Slogan& slogan = facts.get<Slogan>();
    const bool refused = slogan.kind == SloganKind::out_of_memory && facts.get<Death>().process == row.process;
    if (refused) {
        finding.severity = FindingSeverity::critical;
        finding.title.say("{} had crashed, and was refused {} for the report of it", row.process,
                          bytes(slogan.refused_bytes.value_or(0)));
    } else {
        finding.title.say("{} has crashed, and holds {} while it reports that", row.process, bytes(held));
    }
    // proc_lib's report has all of the messages in it; that of a gen_server has the last one.
    const bool with_queue = module_of(s, row.reporter) == erlang::reporter_of_queues;
    if (const std::uint64_t queued = s[row.process].msgq_len.value_or(0); queued >= many_messages)
        finding.title.say(
            with_queue ? Form<1>(", with the {} of its queue in it") : Form<1>(", and has {} in its queue"),
            messages(queued));
    if (row.failure) {
        const Cause cause = cause_of(s, *row.failure, {});
        finding.title.say(": {}{}", cause.what, cause.where);
        for (const Sentence& hint : cause.hints)
            if (finding.next_steps.empty()) finding.next_steps.push_back(hint);
    }
    finding.evidence = {figure("its memory", held, AmountUnit::bytes), share("of all processes' memory", percent),
                        fact("it reports in", sentence("{}", row.reporter)),
                        figure("messages in its queue", s[row.process].msgq_len, AmountUnit::count)};
    add_stack(facts, row.process, finding);
    finding.advise("See what it has, and what it crashed of: {}", Command{"proc", s[row.process].pid});
    finding.advise(
        "Its State, the last message, and where proc_lib reports all of its queue, are formatted before they are cut: "
        "let `format_status/1` (`format_status/2` up "
        "to 24) leave out what is large, and bound what handlers print (`depth`, `chars_limit`, `max_size` of "
        "`logger_formatter`).");
    return finding;
}

void add_exiting(const Facts& facts, std::vector<Finding>& findings) {
    const Dying& dying = facts.get<Dying>();
    if (dying.exiting.empty()) return;
    const Snapshot& s = facts.snapshot();
    const ProcId id = dying.exiting.front();
    double percent = 0;
    const bool much = is_much(facts, id, percent);
    const std::uint64_t untold = dying.untold_table_bytes.value_or(0);
    const bool tables = untold >= least_bytes && percent_of(untold, s.memory_bytes("ets")).value_or(0) >= least_of_ets;
    if (!much && !tables) return;
    const std::uint64_t held = process_bytes(facts, s[id]).value_or(0);
    Finding finding;
    about(facts, id, finding);
    finding.severity = FindingSeverity::medium;  // it ends by itself
    finding.bytes = saturating_add(held, tables ? untold : 0);
    finding.percent = percent;
    finding.confidence = tables ? Confidence::estimate : Confidence::exact;
    finding.title.say("{} is exiting, and still holds {}", id, bytes(held));
    if (tables)
        finding.title.say(
            dying.exiting.size() == 1
                ? Form<1>("; {} are in ETS tables that are being deleted, which it has owned")
                : Form<1>("; {} are in ETS tables that are being deleted, which those who exit have owned"),
            bytes(untold));
    finding.evidence = {figure("processes that are exiting", dying.exiting.size(), AmountUnit::count),
                        share("of all processes' memory", percent)};
    if (tables)
        finding.evidence.push_back(
            figure("of ETS, in no table that is listed", untold, AmountUnit::bytes, Confidence::estimate));
    add_stack(facts, id, finding);
    finding.advise("See what it still has, and who is linked to it: {}", Command{"proc", s[id].pid});
    finding.advise(
        "A table ends with its owner, object by object: give what must not end so an heir (`ets:new/2`, option heir), "
        "or an owner that does nothing else.");
    findings.push_back(std::move(finding));
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    std::size_t left = most_findings;
    for (const CrashReporting& row : facts.get<Dying>().reporting) {
        double percent = 0;
        if (left == 0 || !is_much(facts, row.process, percent)) break;
        --left;
        findings.push_back(about_report(facts, row, percent));
    }
    add_exiting(facts, findings);
}

}  // namespace
}  // namespace dying_rule

// Before those that tell of its memory and its work.
Rule dying() { return {"dying", 74, dying_rule::run}; }

}  // namespace beamheap::analyses::rule
