// start-up: the node never ran, or was stopped because something that it may not run without ended.
//
// Theory. init(1) and the application controller end the node with a crash dump whose slogan tells what failed. Such a
// dump is no post-mortem of memory: whatever else stands out in it is what a node looks like in its first seconds. So
// this goes before everything else, and the slogan's reason, without the supervisors around it, is the culprit.
// Kinds of slogan and their words: slogan_tables.hpp.
//
// Thresholds: none; the slogan is a fact. A slogan of the VM's own limits is said as well: it is the cause by
// definition. Damaged data is what native-crash is about.
#include "analyses/rules/phrases.hpp"

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

void run(const RuleInput& input, std::vector<Finding>& findings) {
    const Slogan& slogan = input.slogan;
    const Judgement judgement = judge(slogan.kind);
    if (!judgement.found) return;
    Finding finding;
    finding.severity = judgement.severity;
    finding.title = slogan.meaning;
    finding.tells_slogan = true;
    finding.subject = {SubjectKind::node, name_of(slogan.kind)};
    for (const std::string& part : {slogan.application, slogan.kernel_process, slogan.subject})
        if (!part.empty()) {
            finding.subject.text.say(" {}", Atom{part, false});
            break;
        }
    if (!slogan.application.empty())
        finding.evidence.push_back(fact("application", sentence("{}", Atom{slogan.application, false})));
    if (!slogan.cause.empty())
        finding.evidence.push_back(fact("innermost reason", sentence("{}", term(slogan.cause))));
    for (const std::string& child : slogan.failed_children)
        finding.evidence.push_back(fact("failed child", sentence("{}", term(child))));
    finding.next_steps = slogan.next_steps;
    findings.push_back(std::move(finding));
}

}  // namespace

Rule start_up() { return {"start-up", 10, run}; }

}  // namespace beamheap::analyses::rule
