// big-heap: one process holds a large part of the memory, or asked for more than there was.
//
// Theory. A process's heap grows by the term that it keeps. A collection needs old and new heap at once, so a process
// that lives on 8 GB needs up to 16 GB for a moment, and the VM dies when that is refused: the slogan then names
// eheap_alloc and a size that is the heap's next one. Who was collecting, or running, asked for it. A small process
// that asked for much wanted one large term at once. What its heap holds is followed from the root that keeps most
// alive down to the term where that splits up: the accumulation point.
//
// Thresholds: at least 8 MiB and a fifth of the memory of all processes; half of it, and 64 MiB,
// is high. The one that the VM died
// in for lack of memory is critical with a tenth, or where it asked for four times what it had.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/rule_list.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr std::uint64_t least_bytes = 8u << 20;
constexpr double medium_percent = 20;
constexpr std::uint64_t high_bytes = 64u << 20;
constexpr double high_percent = 50;
constexpr double dead_percent = 10;
constexpr std::uint64_t times_its_own = 4;
constexpr std::size_t most_findings = 3;

bool asked_for_heap(const Slogan& slogan) {
    return slogan.kind == SloganKind::out_of_memory && slogan.allocator == "eheap_alloc";
}

void add_contents(const RuleInput& input, ProcId id, Finding& finding) {
    const Process& process = input.snapshot[id];
    finding.evidence.push_back(figure("its memory", process_bytes(input, process), EvidenceUnit::bytes));
    finding.evidence.push_back(figure("young heap", process.heap_words, EvidenceUnit::words));
    finding.evidence.push_back(figure("old heap", process.old_heap_words, EvidenceUnit::words));
    if (process.msgq_len.value_or(0) != 0)
        finding.evidence.push_back(figure("messages in its queue", process.msgq_len, EvidenceUnit::count));
    if (const TermFacts* facts = input.terms_of(id); facts != nullptr && !facts->accumulation.empty())
        finding.evidence.push_back(fact("most of its heap", facts->accumulation, facts->accumulation_confidence));
    add_stack(input, id, finding);
}

void add_steps(const RuleInput& input, ProcId id, Finding& finding) {
    const std::string pid = shell_pid(input.snapshot[id].pid);
    finding.next_steps.push_back("See which of its terms keeps most alive: beamheap heap DUMP " + pid);
    finding.next_steps.emplace_back("Bound what it collects, or stream it: write it out, or hand it on in pieces.");
    finding.next_steps.emplace_back(
        "As a fuse: process_flag(max_heap_size, ...) kills the process instead of the node; a collection needs up to "
        "twice what is live.");
}

// The process that was refused memory for its heap.
bool add_refused(const RuleInput& input, Findings& findings) {
    const ProcId id = input.death.process;
    if (!asked_for_heap(input.slogan) || id == ProcId::none) return false;
    const Process& process = input.snapshot[id];
    const Count bytes = process_bytes(input, process);
    const auto percent = percent_of(bytes, all_process_bytes(input));
    const bool large = percent.value_or(0) >= dead_percent && bytes.value_or(0) >= least_bytes / 8;
    const bool at_once = input.slogan.refused_bytes.value_or(0) / times_its_own >= bytes.value_or(~0ull / 8);
    if (!large && !at_once) return false;
    Finding finding;
    about(input, id, finding);
    finding.severity = FindingSeverity::critical;
    finding.bytes = bytes;
    finding.percent = percent;
    const std::string refused =
        input.slogan.refused_bytes.has() ? human_bytes(*input.slogan.refused_bytes) : std::string("more memory");
    std::string type = input.slogan.memory_type.empty() ? "heap" : input.slogan.memory_type;
    std::ranges::replace(type, '_', ' ');
    if (large)
        finding.title = fmt::format(
            "{} holds {} ({} of all processes' memory) and was refused {} more for its {}; it {}",
            process_text(input, id), human_bytes(*bytes), human_percent(*percent), refused, type, doing(input, id));
    else
        finding.title = fmt::format("{} asked for {} at once, having {}; it {}", process_text(input, id), refused,
                                    human_bytes(bytes.value_or(0)), doing(input, id));
    finding.confidence =
        input.death.evidence == DeathEvidence::calling_thread ? Confidence::exact : Confidence::estimate;
    finding.evidence.push_back(figure("refused", input.slogan.refused_bytes, EvidenceUnit::bytes));
    add_contents(input, id, finding);
    add_steps(input, id, finding);
    if (!large) finding.next_steps[0] = "See what it was doing: beamheap proc DUMP " + shell_pid(process.pid);
    findings.push_back(std::move(finding));
    return true;
}

}  // namespace

void big_heap(const RuleInput& input, Findings& findings) {
    const bool refused = add_refused(input, findings);
    const Count all = all_process_bytes(input);
    const std::vector<ProcId> everybody = all_processes(input.snapshot);
    Count Process::*const by =
        input.totals.memory_bytes.value().value_or(0) != 0 ? &Process::memory_bytes : &Process::heap_words;
    for (const ProcId id : largest(input.snapshot, everybody, by, most_findings)) {
        const Count bytes = process_bytes(input, input.snapshot[id]);
        const auto percent = percent_of(bytes, all);
        if (bytes.value_or(0) < least_bytes || percent.value_or(0) < medium_percent) break;
        if (refused && id == input.death.process) continue;
        // What a long queue weighs is said by queue-flood.
        if (input.snapshot[id].msgq_len.value_or(0) >= 10'000) continue;
        Finding finding;
        about(input, id, finding);
        finding.severity =
            *percent >= high_percent && *bytes >= high_bytes ? FindingSeverity::high : FindingSeverity::medium;
        finding.bytes = bytes;
        finding.percent = percent;
        finding.title = fmt::format("{} holds {} of {} of all processes' memory ({}); it {}", process_text(input, id),
                                    human_bytes(*bytes), human_bytes(*all), human_percent(*percent), doing(input, id));
        add_contents(input, id, finding);
        add_steps(input, id, finding);
        findings.push_back(std::move(finding));
    }
}

}  // namespace beamheap::analyses::rule
