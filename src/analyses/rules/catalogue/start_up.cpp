// start-up: the node never ran, or was stopped because something that it may not run without ended.
//
// Theory. init(1) and the application controller end the node with a crash dump whose slogan tells what failed. Such a
// dump is no post-mortem of memory: whatever else stands out in it is what a node looks like in its first seconds. So
// this goes before everything else, and the slogan's reason, without the supervisors around it, is the culprit.
// Kinds of slogan and their words: slogan_tables.hpp.
//
// Thresholds: none; the slogan is a fact. A slogan of the VM's own limits is said as well: it is the cause by
// definition. Damaged data is what native-crash is about.
#include "analyses/causes/boot_stage.hpp"
#include "analyses/causes/wordings.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace start_up_rule {
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

// How long a sentence is about, in characters; the input's own parts are counted as they are in Erlang's syntax.
struct Length {
    std::size_t operator()(const Ours& words) const { return words.text().size(); }
    std::size_t operator()(const Atom& atom) const { return atom.text.size(); }
    std::size_t operator()(const InputText& text) const { return text.text.size(); }
    std::size_t operator()(const FunctionName& f) const { return f.module.size() + f.function.size() + 4; }
    std::size_t operator()(const PrintedTerm& term) const { return printed(*term.source, term.term, term.max_bytes); }
    std::size_t operator()(const Amount& amount) const { return std::to_string(amount.value).size(); }
    template <class Other>
    std::size_t operator()(const Other&) const {
        return 10;
    }

    // A guess that is never far too small: what every element of the term takes, up to `most`.
    static std::size_t printed(OwnedTerm& source, const Element& term, std::size_t most) {
        std::vector<Element> left{term};
        std::size_t sum = 0;
        for (std::size_t i = 0; i < left.size() && sum < most; ++i) {
            const Element& each = left[i];
            if (each.kind != ElementKind::object) {
                sum += each.kind == ElementKind::atom    ? each.text.size() + 1
                       : each.kind == ElementKind::small ? 4
                       : each.kind == ElementKind::nil   ? 0
                                                         : 9;
                continue;
            }
            if (const auto text = TermReader(source).text(each, most)) {
                sum += text->size() + 3;
                continue;
            }
            sum += 2;
            ElementCursor cursor = source.elements(each.id);
            for (Element element; left.size() < 400 && source.next(cursor, element);) left.push_back(element);
        }
        return std::min(sum, most);
    }
};
std::size_t length(const Sentence& text) {
    std::size_t sum = 0;
    for (const Part& part : text.parts()) sum += std::visit(Length{}, part);
    return sum;
}

// What can be printed at another length is, so that the sentence has no more than `most` characters.
Sentence fitted(const Sentence& text, std::size_t most) {
    std::size_t sum = length(text);
    Sentence shorter;
    for (const Part& part : text.parts()) {
        constexpr std::size_t least = 24;
        if (const auto* term = std::get_if<PrintedTerm>(&part); term != nullptr && sum > most) {
            PrintedTerm cut = *term;
            const std::size_t now = Length{}(*term);
            cut.max_bytes = std::max(least, now - std::min(now, sum - most));
            sum -= std::min(sum, now - std::min(now, cut.max_bytes));
            shorter.add(cut);
        } else if (const auto* words = std::get_if<InputText>(&part);
                   words != nullptr && sum > most && words->text.size() > least) {
            InputText cut = *words;
            cut.text = one_line(words->text,
                                std::max(least, words->text.size() - std::min(words->text.size(), sum - most + 3)));
            sum -= std::min(sum, words->text.size() - std::min(words->text.size(), cut.text.size()));
            shorter.add(cut);
        } else {
            std::visit([&](const auto& same) { shorter.add(same); }, part);
        }
    }
    return shorter;
}

// "Application web did not start: web_sup > web_server: port 8081 of http is in use (eaddrinuse)." At most 160
// characters: children on the way go first, then the place, then what is printed of a term.
Sentence title(const Slogan& slogan, const ToldCause& told) {
    constexpr std::size_t most = 155;
    Sentence head;
    const std::string& application = slogan.application.empty() ? told.failure.application : slogan.application;
    const bool ended = told.failure.exited || slogan.kind == SloganKind::application_terminated ||
                       slogan.kind == SloganKind::kernel_process_terminated ||
                       slogan.kind == SloganKind::system_process_terminated;
    if (!application.empty()) head.say("Application {}", Atom{application, false});
    else if (slogan.kind == SloganKind::system_process_terminated)
        head.say("The VM's own process {}", InputText{slogan.subject, InputText::Holds::name});
    else if (!slogan.kernel_process.empty() && slogan.kernel_process != "application_controller")
        head.say("The kernel process {}", Atom{slogan.kernel_process, false});
    else head.add(Ours("The node"));
    head.add(ended ? Ours(" ended: ") : Ours(" did not start: "));
    std::span<const std::string> children = told.failure.children;
    std::size_t names = 0;
    for (const std::string& child : children) names += child.size() + 3;
    const std::size_t rest = length(head) + length(told.cause.what);
    const std::size_t placed = length(told.cause.where);
    while (!children.empty() && rest + names + (children.size() > 1 ? placed : 0) > most) {
        names -= children.front().size() + 3;
        children = children.subspan(1);
    }
    for (const std::string& child : children) {
        head.add(Atom{child, false});
        head.add(&child == &children.back() ? Ours(": ") : Ours(" > "));
    }
    head.add(told.cause.what);
    if (length(head) + placed <= most) head.add(told.cause.where);
    Sentence text = fitted(head, most);
    const auto* last = std::get_if<InputText>(&text.parts().back());
    return last != nullptr && last->text.ends_with("...") ? text : text.say(".");
}

Sentence place(const LogFrame& frame) {
    Sentence text = sentence("{}", FunctionName{frame.module, frame.function, frame.arity});
    if (!frame.file.empty())
        text.say(" ({}, line {})", InputText{frame.file, InputText::Holds::message},
                 Amount{frame.line, AmountUnit::plain});
    return text;
}

void add_told(const Facts& facts, Finding& finding) {
    const ToldCause& told = *facts.get<StartFailure>().told;
    finding.title = title(facts.get<Slogan>(), told);
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
    if (!facts.get<StartFailure>().events.empty())
        finding.next_steps.push_back(sentence("See all that it had no time to print: {}", Command{"logs", {}, ""}));
    if (told.cause.kind == CauseKind::unknown || finding.next_steps.empty())
        finding.next_steps.insert(finding.next_steps.end(), facts.get<Slogan>().next_steps.begin(),
                                  facts.get<Slogan>().next_steps.end());
    else if (is_failed_start(facts.get<Slogan>().kind))
        finding.advise(
            "If the node had run before, the dump of its first crash may be overwritten: see this file's time.");
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Slogan& slogan = facts.get<Slogan>();
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
    if (facts.get<StartFailure>().told) {
        add_told(facts, finding);
    } else {
        if (!slogan.cause.empty())
            finding.evidence.push_back(fact("innermost reason", sentence("{}", term(slogan.cause))));
        finding.next_steps = slogan.next_steps;
        if (slogan.kind == SloganKind::boot_failure) {
            BootStage stage = boot_stage(facts.snapshot(), facts.get<StartFailure>().loader_path);
            finding.title = stage.told.say(".");
            finding.next_steps = std::move(stage.hints);
        }
    }
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace start_up_rule

Rule start_up() { return {"start-up", 10, start_up_rule::run}; }

}  // namespace beamheap::analyses::rule
