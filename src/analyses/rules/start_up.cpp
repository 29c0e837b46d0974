// start-up: the node never ran, or was stopped because something that it may not run without ended.
//
// Theory. init(1) and the application controller end the node with a crash dump whose slogan tells what failed. Such a
// dump is no post-mortem of memory: whatever else stands out in it is what a node looks like in its first seconds. So
// this goes before everything else, and the slogan's reason, without the supervisors around it, is the culprit.
// Kinds of slogan and their words: slogan_tables.hpp.
//
// Thresholds: none; the slogan is a fact. A slogan of the VM's own limits is said as well: it is the cause by
// definition. Damaged data is what native-crash is about.
#include "analyses/rules/rule_list.hpp"

namespace beamheap::analyses::rule {
namespace {

struct Judgement {
    FindingSeverity severity = FindingSeverity::info;
    bool found = false;
};

Judgement judge(SloganKind kind) {
    switch (kind) {
        case SloganKind::boot_failure:
        case SloganKind::kernel_start_failure:
        case SloganKind::application_start_failure:
        case SloganKind::application_terminated:
        case SloganKind::kernel_process_terminated:
        case SloganKind::system_process_terminated:
        case SloganKind::child_setup:
        case SloganKind::limits:
        case SloganKind::table_full:
        case SloganKind::distribution_overload:
        case SloganKind::code_server: return {FindingSeverity::critical, true};
        case SloganKind::unknown:
        case SloganKind::none:
        case SloganKind::out_of_memory:
        case SloganKind::atom_table_full:
        case SloganKind::corruption:
        case SloganKind::absurd_allocation:  // native-crash says it
        case SloganKind::requested: break;
    }
    return {};
}

}  // namespace

void start_up(const RuleInput& input, Findings& findings) {
    const Slogan& slogan = input.slogan;
    const Judgement judgement = judge(slogan.kind);
    if (!judgement.found) return;
    Finding finding;
    finding.severity = judgement.severity;
    finding.title = slogan.meaning;
    finding.subject = {SubjectKind::node, std::string(name_of(slogan.kind))};
    for (const std::string& part : {slogan.application, slogan.kernel_process, slogan.subject})
        if (!part.empty()) {
            finding.subject.text += ' ' + part;
            break;
        }
    if (!slogan.application.empty()) finding.evidence.push_back({"application", {}, slogan.application});
    if (!slogan.cause.empty()) finding.evidence.push_back({"innermost reason", {}, slogan.cause});
    for (const std::string& child : slogan.failed_children) finding.evidence.push_back({"failed child", {}, child});
    finding.next_steps = slogan.next_steps;
    findings.push_back(std::move(finding));
}

}  // namespace beamheap::analyses::rule
