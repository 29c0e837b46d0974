// queue-flood: a process gets messages faster than it handles them.
//
// Theory. A send never blocks, so nothing stops senders who outrun a receiver: its queue grows until memory ends. A
// long queue also slows the receiver down, because every selective receive and every call that it makes itself scans
// the queue, and each garbage collection copies what is in its heap. Whether it is slow, stuck or waiting for somebody
// tells who is to blame: one that waits for another is its victim.
//
// Thresholds: 1,000 messages are medium (the default of OTP's queue_fun.awk and of many mailbox limits), 10,000 are
// high, 100,000 or a quarter of all process memory with at least 10,000 messages are critical. More than five such
// processes are counted, not listed.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/rule_list.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr std::uint64_t medium_messages = 1'000;
constexpr std::uint64_t high_messages = 10'000;
constexpr std::uint64_t critical_messages = 100'000;
constexpr double critical_percent = 25;
constexpr std::uint64_t critical_bytes = 64u << 20;
constexpr std::size_t most_findings = 5;

FindingSeverity severity_of(std::uint64_t messages, std::uint64_t bytes, double percent) {
    if (messages >= critical_messages ||
        (messages >= high_messages && percent >= critical_percent && bytes >= critical_bytes))
        return FindingSeverity::critical;
    return messages >= high_messages ? FindingSeverity::high : FindingSeverity::medium;
}

void add_contents(const RuleInput& input, ProcId id, Finding& finding) {
    const TermFacts* facts = input.terms_of(id);
    if (facts == nullptr) return;
    const Confidence confidence = facts->messages_read == finding.count ? Confidence::exact : Confidence::estimate;
    for (const TermFacts::Share& shape : facts->shapes)
        finding.evidence.push_back(share("messages of the form " + shape.text, shape.percent, confidence));
    for (const TermFacts::Share& sender : facts->senders)
        finding.evidence.push_back(
            share("messages that " + sender.text + " is named in as sender", sender.percent, confidence));
}

Finding finding_of(const RuleInput& input, ProcId id) {
    const Process& process = input.snapshot[id];
    const std::uint64_t messages = *process.msgq_len;
    const Count bytes = process_bytes(input, process);
    const auto percent = percent_of(bytes, all_process_bytes(input));
    Finding finding;
    about(input, id, finding);
    finding.severity = severity_of(messages, bytes.value_or(0), percent.value_or(0));
    finding.count = messages;
    finding.bytes = bytes;
    finding.percent = percent;
    const WaitEdge* waits = input.waits.edge(id);
    finding.role = waits == nullptr ? FindingRole::cause : FindingRole::victim;
    finding.title =
        fmt::format("{} has {} in its queue", process_text(input, id), counted(messages, "message", "messages"));
    if (bytes.has() && percent && *percent >= 1)
        finding.title +=
            fmt::format(" and holds {} ({} of all processes' memory)", human_bytes(*bytes), human_percent(*percent));
    if (waits != nullptr)
        finding.title += fmt::format("; it waits in {} for {}", function_name(input, waits->function),
                                     target_text(input, waits->target));
    else
        finding.title += "; it " + doing(input, id);
    finding.evidence.push_back(figure("messages in its queue", messages, EvidenceUnit::count));
    finding.evidence.push_back(
        share("of all messages in queues", percent_of(messages, input.totals.messages.value()).value_or(100)));
    finding.evidence.push_back(figure("its memory", bytes, EvidenceUnit::bytes));
    add_contents(input, id, finding);
    add_stack(input, id, finding);
    const std::string pid = shell_pid(process.pid);
    finding.next_steps.push_back("See what the messages are and who sent them: beamheap msgs DUMP " + pid +
                                 " --by shape");
    if (waits != nullptr)
        finding.next_steps.push_back("Look at the one that it waits for first: beamheap waits DUMP");
    else if (input.snapshot.text(process.name) == "lager_event")
        finding.next_steps.emplace_back(
            "Let lager drop or go asynchronous under load: async_threshold, error_logger_hwm.");
    else if (input.snapshot.text(process.name).starts_with("logger") ||
             input.snapshot.text(process.name) == "error_logger")
        finding.next_steps.emplace_back(
            "Lower the log handler's limits: sync_mode_qlen, drop_mode_qlen and flush_qlen.");
    finding.next_steps.emplace_back(
        "Nothing limits the senders: make them wait (a call), or let them or the receiver drop what is too much.");
    finding.next_steps.emplace_back(
        "As a fuse: process_flag(max_heap_size, ...) for the receiver, and {message_queue_data, off_heap} so that "
        "collections do not copy its queue.");
    return finding;
}

}  // namespace

void queue_flood(const RuleInput& input, Findings& findings) {
    std::vector<ProcId> flooded;
    for (std::uint32_t i = 0; i < input.snapshot.processes.size(); ++i)
        if (input.snapshot.processes[i].msgq_len.value_or(0) >= medium_messages) flooded.push_back(ProcId{i});
    if (flooded.empty()) return;
    const std::vector<ProcId> worst = largest(input.snapshot, flooded, &Process::msgq_len, most_findings);
    for (const ProcId id : worst) findings.push_back(finding_of(input, id));
    if (flooded.size() > worst.size())
        findings.back().evidence.push_back(
            figure("more processes with 1,000 messages or more", flooded.size() - worst.size(), EvidenceUnit::count));
}

}  // namespace beamheap::analyses::rule
