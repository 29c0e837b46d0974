// SPDX-License-Identifier: Apache-2.0
// alarm: what the node itself had raised an alarm about.
//
// Theory. A node that watches itself says in its own words what is wrong: os_mon sets alarms in sasl's alarm_handler
// (memory, disks, one large process), RabbitMQ in rabbit_alarm (memory and disk, for which it stops reading from all
// who publish). They are told as they are, since nobody knows the limits better than who set them.
//
// A log, or a table of dets, that can't be written is told so, too: its process knows, and says it where nobody may
// look.
//
// Thresholds: an alarm is medium, what can't be written as well; one for which RabbitMQ blocks its publishers is high.
#include <algorithm>

#include "analyses/causes/cause.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace alarm_rule {
namespace {

constexpr std::size_t most_named = 3;

Sentence alarm_text(const SetAlarm& alarm) {
    Sentence text = sentence("{}", PrintedTerm{alarm.term, alarm.id, 100});
    if (!alarm.node.empty()) text.say(" of {}", Atom{alarm.node, false});
    return text;
}

void tell_unwritten(const Facts& facts, std::vector<Finding>& findings) {
    if (facts.get<ServiceStates>().unwritten.empty()) return;
    Finding finding;
    const auto reason = [](const UnwrittenLog& log) {
        const Ours meaning = meaning_of_posix(log.reason);
        Sentence text = sentence("{}", Atom{log.reason, false});
        if (!meaning.empty()) text.say(", {}", meaning);
        return text;
    };
    const auto path = [](const UnwrittenLog& log) { return PrintedTerm{log.file, log.file->term(), 255}; };
    for (const UnwrittenLog& log : facts.get<ServiceStates>().unwritten)
        finding.evidence.push_back(
            fact("can't be written", sentence("{}: {}; {} writes it", path(log), reason(log), log.process)));
    const UnwrittenLog& first = facts.get<ServiceStates>().unwritten.front();
    about(facts, first.process, finding);
    finding.severity = FindingSeverity::medium;
    finding.count = facts.get<ServiceStates>().unwritten.size();
    const bool tables = std::ranges::any_of(facts.get<ServiceStates>().unwritten, &UnwrittenLog::table);
    if (facts.get<ServiceStates>().unwritten.size() == 1)
        finding.title.say(first.table ? Form<2>("The table of dets {} can't be written: {}")
                                      : Form<2>("The log {} can't be written: {}"),
                          path(first), reason(first));
    else
        finding.title.say(tables ? Form<3>("{} logs and tables of dets can't be written, {} one of them: {}")
                                 : Form<3>("{} logs can't be written, {} one of them: {}"),
                          number(facts.get<ServiceStates>().unwritten.size()), path(first), reason(first));
    finding.advise(
        "Make room on that disk, or log to another one: what was to be written since is lost, and whoever else keeps "
        "files there (mnesia, dets, queues) has the same trouble.");
    if (tables)
        finding.advise(
            "A table of dets takes nothing since then, and is repaired when it is opened again: close it and open it "
            "where there is room.");
    if (!std::ranges::all_of(facts.get<ServiceStates>().unwritten, &UnwrittenLog::table))
        finding.advise("Bound logs: max_no_bytes and max_no_files of logger_std_h, type wrap of disk_log.");
    findings.push_back(std::move(finding));
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    tell_unwritten(facts, findings);
    if (facts.get<ServiceStates>().alarms.empty()) return;
    Finding finding;
    std::vector<Sentence> named;
    bool blocks = false;
    for (const SetAlarm& alarm : facts.get<ServiceStates>().alarms) {
        if (named.size() < most_named) named.push_back(alarm_text(alarm));
        blocks = blocks || alarm.blocks_publishers;
        finding.evidence.push_back(fact("alarm", alarm_text(alarm)));
    }
    if (named.size() < facts.get<ServiceStates>().alarms.size()) named.push_back(Ours("..."));
    about(facts, facts.get<ServiceStates>().alarms.front().holder, finding);
    finding.severity = blocks ? FindingSeverity::high : FindingSeverity::medium;
    finding.count = facts.get<ServiceStates>().alarms.size();
    finding.title.say("{} set in {}: {}", Counted{facts.get<ServiceStates>().alarms.size(), "alarm is", "alarms are"},
                      finding.process, joined(named, ", "));
    if (blocks) finding.title.add(Ours("; RabbitMQ reads nothing from publishers until that is over"));
    finding.advise("Look at what the alarm is about first: `beamheap top DUMP --by memory`");
    if (blocks)
        finding.advise(
            "Consume or purge the largest queues, or give the node more memory or disk (vm_memory_high_watermark, "
            "disk_free_limit); blocked publishers are its victims.");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace alarm_rule

Rule alarm() { return {"alarm", 48, alarm_rule::run}; }

}  // namespace beamheap::analyses::rule
