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

constexpr std::size_t most_frames = 6;

// "Application web did not start: web_sup > web_server: port 8081 of http is in use (eaddrinuse)."
Sentence title(const Slogan& slogan, const ToldCause& told) {
    Sentence text;
    const std::string& application = slogan.application.empty() ? told.failure.application : slogan.application;
    const bool ended = told.failure.exited || slogan.kind == SloganKind::application_terminated ||
                       slogan.kind == SloganKind::kernel_process_terminated;
    if (!application.empty())
        text.say("Application {}", Atom{application, false});
    else if (!slogan.kernel_process.empty())
        text.say("The kernel process {}", Atom{slogan.kernel_process, false});
    else
        text.add(Ours("The node"));
    text.add(ended ? Ours(" ended: ") : Ours(" did not start: "));
    for (const std::string& child : told.failure.children) {
        text.add(Atom{child, false});
        text.add(&child == &told.failure.children.back() ? Ours(": ") : Ours(" > "));
    }
    return text.say("{}.", told.cause.what);
}

Sentence place(const LogFrame& frame) {
    Sentence text = sentence("{}", FunctionName{frame.module, frame.function, frame.arity});
    if (!frame.file.empty())
        text.say(" ({}, line {})", InputText{frame.file, InputText::Holds::message},
                 Amount{frame.line, AmountUnit::plain});
    return text;
}

void add_told(const RuleInput& input, Finding& finding) {
    const ToldCause& told = *input.told;
    finding.title = title(input.slogan, told);
    finding.evidence.push_back(
        fact("innermost reason", sentence("{}", PrintedTerm{told.failure.term, told.failure.reason, 600})));
    for (std::size_t i = 0; i < told.failure.stack.size() && i < most_frames; ++i)
        finding.evidence.push_back(i == 0 ? fact("raised in", place(told.failure.stack[i]))
                                          : fact("called by", place(told.failure.stack[i])));
    if (told.event != nullptr)
        finding.evidence.push_back(told.event->in_queue
                                       ? fact("told by an unread message of", sentence("{}", told.event->holder))
                                       : fact("told by a report held by", sentence("{}", told.event->holder)));
    finding.next_steps = told.cause.hints;
    if (!input.events.empty())
        finding.next_steps.push_back(sentence("See all that it had no time to print: {}", Command{"logs", {}, ""}));
    if (told.cause.kind == CauseKind::unknown || finding.next_steps.empty())
        finding.next_steps.insert(finding.next_steps.end(), input.slogan.next_steps.begin(),
                                  input.slogan.next_steps.end());
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
    if (input.told != nullptr) {
        add_told(input, finding);
    } else {
        if (!slogan.cause.empty())
            finding.evidence.push_back(fact("innermost reason", sentence("{}", term(slogan.cause))));
        finding.next_steps = slogan.next_steps;
    }
    findings.push_back(std::move(finding));
}

}  // namespace

Rule start_up() { return {"start-up", 10, run}; }

}  // namespace beamheap::analyses::rule
