// SPDX-License-Identifier: Apache-2.0
// unacknowledged: messages that RabbitMQ has delivered, and whose consumers do not acknowledge them.
//
// Theory: analyses/logs/service_states.hpp. A consumer without a bound on what it may have unacknowledged (prefetch,
// basic.qos) is sent all there is. What it has not acknowledged stays in the queue's process, in its channel's and in
// binaries, and is in no queue that anybody looks at: the queue seems empty. It comes back when the channel is closed.
//
// Thresholds: 1,000 at one channel are info, 10,000 medium.
#include <algorithm>
#include <iterator>
#include <vector>

#include "analyses/rules/phrases.hpp"
#include "erlang/term_reader.hpp"

namespace beamheap::analyses::rule {
namespace unacknowledged_rule {
namespace {

constexpr std::uint64_t many = 10'000;
constexpr std::size_t most_findings = 3;

// "15,600 messages of <0.688.0> (queue ...) are not acknowledged by consumer <<"worker-1">> of channel <0.1427.0>"
Finding finding_of(const Facts& facts, const Unacknowledged& row) {
    Finding finding;
    about(facts, row.queue, finding);
    finding.severity = row.count >= many ? FindingSeverity::medium : FindingSeverity::info;
    finding.count = row.count;
    finding.title.say("{} of {} are not acknowledged by ", messages(row.count), row.queue);
    if (row.consumer != nullptr)
        finding.title.say("consumer {} of ", PrintedTerm{row.consumer, row.consumer->term(), 100});
    finding.title.say("channel {}", row.channel);
    finding.evidence = {
        figure("messages that are not acknowledged", row.count, AmountUnit::count),
        figure("the queue's memory", process_bytes(facts, facts.snapshot()[row.queue]), AmountUnit::bytes)};
    if (const ProcId channel = facts.snapshot().find(row.channel); channel != ProcId::none)
        finding.evidence.push_back(
            figure("the channel's memory", process_bytes(facts, facts.snapshot()[channel]), AmountUnit::bytes));
    finding.advise(
        "See what that consumer does with them: it acknowledges nothing, or does not keep up. Bound what it may have "
        "(basic.qos, a prefetch count), so that the rest stays in the queue, on disk where it must.");
    finding.advise("They come back to the queue when the channel is closed: {}", Command{"proc", row.channel});
    return finding;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    std::vector<const Unacknowledged*> rows;
    for (const Unacknowledged& row : facts.get<ServiceStates>().unacknowledged) rows.push_back(&row);
    std::ranges::stable_sort(rows, std::ranges::greater(), [](const auto* row) { return row->count; });
    if (rows.size() > most_findings) rows.resize(most_findings);
    std::vector<Finding> found;
    for (const Unacknowledged* const row : rows) found.push_back(finding_of(facts, *row));
    // What the node stops its publishers for, where that is memory, is most likely this.
    const bool for_memory = std::ranges::any_of(facts.get<ServiceStates>().alarms, [](const SetAlarm& alarm) {
        return alarm.blocks_publishers && TermReader::is(alarm.id, "memory");
    });
    if (for_memory && !rows.empty() && rows.front()->count >= many)
        for (Finding& each : findings)
            if (each.rule == "alarm" && each.severity == FindingSeverity::high && each.behind.empty())
                each.behind = found.front().title;
    std::ranges::move(found, std::back_inserter(findings));
}

}  // namespace
}  // namespace unacknowledged_rule

// Behind alarms, which it tells the cause of.
Rule unacknowledged() { return {"unacknowledged", 56, unacknowledged_rule::run}; }

}  // namespace beamheap::analyses::rule
