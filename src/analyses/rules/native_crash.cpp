// native-crash: native code, or damage to the VM's memory, ended the node.
//
// Theory. Erlang code can't damage the VM; NIFs, drivers, hardware and bugs in the VM can. The VM then notices data
// that can't be (a bad tag, an overrun heap) or wants memory of a size that no term has, and writes that as its slogan;
// or a thread dies by a signal, which a core image tells. The libraries that were loaded are in the dump's Taints.
//
// Thresholds: none; the slogan, or the signal, is a fact. That native code did it is an estimate where any is loaded.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/rules/rule_list.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr std::size_t most_running = 4;

// Signals by which code that goes wrong ends; the others are sent by somebody.
bool is_crash(std::string_view death) {
    for (const std::string_view signal : {"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS"})
        if (death.starts_with(signal)) return true;
    return false;
}

// A core image: where a crash dump has its slogan stands the signal.
void killed_by_signal(const RuleInput& input, Findings& findings) {
    const Snapshot& s = input.snapshot;
    if (s.source.kind.report_of_end || !is_crash(s.node.slogan)) return;
    Finding finding;
    finding.severity = FindingSeverity::critical;
    const std::string signal = s.node.slogan.substr(0, s.node.slogan.find(' '));
    finding.subject = {SubjectKind::node, signal};
    finding.title = fmt::format("The VM died by {}", s.node.slogan);
    std::string who;
    for (std::size_t i = 0; i < std::min(input.death.running.size(), most_running); ++i) {
        const ProcId id = input.death.running[i];
        finding.evidence.push_back(fact("was running: " + process_text(input, id), frames_text(input, id)));
        who += (i == 0 ? "" : ", ") + process_text(input, id);
    }
    if (input.death.running.size() == 1) {
        about(input, input.death.running.front(), finding);
        finding.title +=
            fmt::format(" while {} was running {}", who, function_name(input, s[finding.process].current_function));
    } else if (!who.empty()) {
        finding.title += "; running were " + who;
    }
    finding.evidence.push_back(fact("signal", s.node.slogan));
    finding.next_steps = {
        "Erlang code alone can't do this: suspect NIFs and drivers first, then the VM's version and the hardware.",
        "See the native stack of the thread that died: gdb BEAM CORE, then `bt`; symbols of the library tell the line.",
        "See who was running: beamheap schedulers DUMP"};
    findings.push_back(std::move(finding));
}

}  // namespace

void native_crash(const RuleInput& input, Findings& findings) {
    killed_by_signal(input, findings);
    const Slogan& slogan = input.slogan;
    if (slogan.kind != SloganKind::corruption && slogan.kind != SloganKind::absurd_allocation) return;
    const Node& node = input.snapshot.node;
    Finding finding;
    finding.severity = FindingSeverity::critical;
    finding.title = slogan.meaning;
    finding.subject = {SubjectKind::node, std::string(name_of(slogan.kind))};
    finding.confidence = Confidence::estimate;
    if (slogan.refused_bytes.has())
        finding.evidence.push_back(figure("asked for", slogan.refused_bytes, EvidenceUnit::bytes));
    if (const ProcId id = input.death.process; id != ProcId::none) {
        finding.process = id;
        finding.pid = input.snapshot[id].pid;
        finding.name = std::string(input.snapshot.text(input.snapshot[id].name));
        finding.evidence.push_back(fact("who was running", process_text(input, id)));
        add_stack(input, id, finding);
    }
    const bool tainted = !node.taints.empty() && node.taints != "(none)";
    finding.evidence.push_back(fact("native libraries (Taints)", tainted ? node.taints : "none"));
    finding.next_steps = slogan.next_steps;
    if (finding.next_steps.empty())
        finding.next_steps.emplace_back(
            "Keep a core image of the next crash (ulimit -c unlimited): it has the native stack.");
    if (tainted)
        finding.next_steps.insert(
            finding.next_steps.begin(),
            "Suspect the native libraries first: update them, or run without each in turn: " + node.taints);
    findings.push_back(std::move(finding));
}

}  // namespace beamheap::analyses::rule
