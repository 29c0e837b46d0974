// alarm: what the node itself had raised an alarm about.
//
// Theory. A node that watches itself says in its own words what is wrong: os_mon sets alarms in sasl's alarm_handler
// (memory, disks, one large process), RabbitMQ in rabbit_alarm (memory and disk, for which it stops reading from all who
// publish). They are told as they are, since nobody knows the limits better than who set them.
//
// Thresholds: an alarm is medium; one for which RabbitMQ blocks its publishers is high.
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

void run(const RuleInput& input, std::vector<Finding>& findings) {
    if (input.alarms.empty()) return;
    Finding finding;
    std::vector<Sentence> named;
    bool blocks = false;
    for (const SetAlarm& alarm : input.alarms) {
        if (named.size() < most_named) named.push_back(alarm_text(alarm));
        blocks = blocks || alarm.blocks_publishers;
        finding.evidence.push_back(fact("alarm", alarm_text(alarm)));
    }
    if (named.size() < input.alarms.size()) named.push_back(Ours("..."));
    about(input, input.alarms.front().holder, finding);
    finding.severity = blocks ? FindingSeverity::high : FindingSeverity::medium;
    finding.count = input.alarms.size();
    finding.title.say("{} set in {}: {}", Counted{input.alarms.size(), "alarm is", "alarms are"}, finding.process,
                      joined(named, ", "));
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
