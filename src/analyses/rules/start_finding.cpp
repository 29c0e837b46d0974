// SPDX-License-Identifier: Apache-2.0
#include "analyses/rules/start_finding.hpp"

#include <algorithm>
#include <map>

#include "analyses/causes/boot_stage.hpp"
#include "analyses/causes/called_names.hpp"
#include "analyses/causes/own_modules.hpp"
#include "analyses/causes/what_ran.hpp"
#include "analyses/causes/wordings.hpp"
#include "analyses/facts/catalogue/multitudes.hpp"
#include "analyses/facts/catalogue/process_kinds.hpp"
#include "analyses/heaps/term_digest.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/elixir_names.hpp"
#include "erlang/functions.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses::rule {
using erlang::FunctionRole;

namespace {

bool ends_a_node(SloganKind kind) {
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
        case SloganKind::code_server: return true;
        case SloganKind::unknown:
        case SloganKind::none:
        case SloganKind::out_of_memory:
        case SloganKind::atom_table_full:
        case SloganKind::corruption:
        case SloganKind::absurd_allocation:  // native-crash says it
        case SloganKind::requested: break;
    }
    return false;
}

constexpr std::size_t most_frames = 6;

// How long a sentence is about, in characters; the input's own parts are counted as they are in Erlang's syntax.
struct Length {
    std::size_t operator()(const Ours& words) const { return words.text().size(); }
    std::size_t operator()(const Atom& atom) const { return erlang::without_elixir(atom.text).size(); }
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

bool is_up(const Snapshot& snapshot) {
    return snapshot.find_registered(erlang::registered::last_of_kernel) != ProcId::none;
}

bool has_module(const Snapshot& snapshot, std::string_view name) {
    return std::ranges::any_of(snapshot.modules, [&](const Module& m) { return snapshot.text(m.name) == name; });
}

// A script runs by -run escript start; releases load that module, too.
bool is_escript(const Snapshot& snapshot) {
    const std::vector<std::string_view> names = called_names(snapshot).names;
    return std::ranges::find(names, "escript") != names.end();
}

// Who called what failed, where the node ran: the stack tells, else who is loaded.
Sentence caller(const Snapshot& snapshot, const ToldCause& told) {
    const auto of = [&](FunctionRole role) {
        return std::ranges::any_of(told.failure.stack,
                                   [role](const LogFrame& f) { return has_role(f.module, f.function, role); });
    };
    Ours ran = what_ran(of);
    // All frames that a slogan has may be the evaluator's.
    const bool configured = std::ranges::any_of(snapshot.modules, [&](const Module& module) {
        return erlang::has_role(snapshot.text(module.name), FunctionRole::configures);
    });
    if (ran == by_somebody && configured) ran = by_elixir;
    // A text that is not valid Erlang is of -eval where init itself met it.
    if (told.cause.kind == CauseKind::bad_code && of(FunctionRole::of_command_line) &&
        (ran == by_eval || ran == by_name) &&
        erlang::has_role(told.failure.stack.front().module, FunctionRole::of_init))
        return Sentence("What -eval was given can't be run: ");
    // A reason without a stack: what the command line named tells who that was.
    const CalledNames called = called_names(snapshot);
    if (ran.empty() && !called.names.empty() && !is_escript(snapshot) && !erlang::is_of_otp(called.names.front()) &&
        has_module(snapshot, called.names.front()))
        return sentence("{}, most likely module {}, failed: ", Sentence(by_name),
                        Atom{std::string(called.names.front())});
    return sentence("{} failed: ", !ran.empty()           ? ran
                                   : is_escript(snapshot) ? Ours("The escript")
                                                          : Ours("What the node ran"));
}

// "Application web did not start: ", "What -eval called failed: ".
Sentence beginning(const Slogan& slogan, const ToldCause& told, const Snapshot& snapshot) {
    Sentence head;
    const std::string& application = slogan.application.empty() ? told.failure.application : slogan.application;
    const bool ended = told.failure.exited || slogan.kind == SloganKind::application_terminated ||
                       slogan.kind == SloganKind::kernel_process_terminated ||
                       slogan.kind == SloganKind::system_process_terminated;
    if (told.before_kernel) return Sentence("The node did not start: ");
    if (!application.empty()) head.say("Application {}", Atom{application, false});
    else if (slogan.kind == SloganKind::system_process_terminated)
        head.say("The VM's own process {}", InputText{slogan.subject, InputText::Holds::name});
    else if (!slogan.kernel_process.empty() &&
             (ended || slogan.kernel_process != erlang::registered::application_controller))
        head.say("The kernel process {}", Atom{slogan.kernel_process, false});
    else if (ran_before_it_failed(slogan, &told, snapshot)) return caller(snapshot, told);
    else head.add(Ours("The node"));
    head.add(ended ? Ours(" ended: ") : Ours(" did not start: "));
    return head;
}

// Whether the place is -eval alone, and the sentence begins with it.
bool says_eval(const Sentence& head, const Sentence& where) {
    return head.parts().front() == Part(by_eval) && where.parts().size() == 1 &&
           (where == Sentence(", called by -eval") || where == Sentence(", in -eval"));
}

// Whether what was called is of a module that was not loaded, while a folder of the code path does not exist.
bool misses_module(const Facts& facts) {
    if (facts.get<StartFailure>().folders_not_found.empty() ||
        facts.get<StartFailure>().told->cause.kind != CauseKind::no_function)
        return false;
    const auto& stack = facts.get<StartFailure>().told->failure.stack;
    return stack.empty() || erlang::has_role(stack.front().module, FunctionRole::of_init) ||
           !has_module(facts.snapshot(), stack.front().module);
}

// Of an application whose top supervisor gave up without anybody saying which child failed: "; loaded last: shop_tax,
// shop_cart", the modules of workers that are the program's, or else any of its modules. With at most `most`
// characters.
Sentence last_modules(const Facts& facts, std::size_t most) {
    const Failure& failure = facts.get<StartFailure>().told->failure;
    if (facts.get<Slogan>().kind != SloganKind::application_terminated || !failure.children.empty() ||
        !TermReader::is(failure.reason, "shutdown"))
        return {};
    constexpr std::size_t shown = 3;
    ChildModules of = child_modules(facts.snapshot(), facts.get<Slogan>().application, shown);
    if (of.names.empty()) of = {last_own_modules(facts.snapshot(), shown), true, 0};
    const std::size_t known = of.names.size() + of.more;
    Sentence last;
    std::size_t said = 0;
    for (const std::string_view name : of.names) {
        Sentence next = sentence("{}", Atom{std::string(name), false});
        if (length(last) + length(next) + 40 > most) break;
        last = last.empty() ? std::move(next) : sentence("{}, {}", last, next);
        ++said;
    }
    if (last.empty()) return {};
    // All at once were loaded at the start of a release.
    Sentence text = of.youngest_first ? sentence("loaded last: {}", last)
                    : known == 1      ? sentence("most likely {}", last)
                                      : sentence("one of {}", last);
    if (!of.youngest_first && known > said) text.say(" and {} more", Amount{known - said, AmountUnit::count});
    return text;
}

// A module that may have brought the failure about by being loaded in the place of OTP's, where the cause does not
// tell.
std::string_view hidden_module(const Facts& facts) {
    // A node that is up has loaded its program, and a module of that may be called as one of another release.
    const Slogan& slogan = facts.get<Slogan>();
    const bool kernel = slogan.kind == SloganKind::kernel_start_failure ||
                        slogan.kind == SloganKind::kernel_process_terminated ||
                        slogan.kind == SloganKind::boot_failure || slogan.application == erlang::first_application;
    if (!kernel || ran_before_it_failed(slogan, facts.get<StartFailure>().cause(), facts.snapshot())) return {};
    const std::string_view module = module_that_hides(facts.snapshot());
    const Failure& failure = facts.get<StartFailure>().told->failure;
    const bool direct =
        TermReader::is(failure.reason, "undef") && !failure.stack.empty() && failure.stack.front().module == module;
    return direct ? std::string_view{} : module;
}

// "Application web did not start: web_sup > web_server: port 8081 of http is in use (eaddrinuse)." At most 160
// characters: children on the way go first, then the place, then what is printed of a term.
Sentence title(const Facts& facts) {
    const Slogan& slogan = facts.get<Slogan>();
    const ToldCause& told = *facts.get<StartFailure>().told;
    constexpr std::size_t most = 155;
    Sentence head = beginning(slogan, told, facts.snapshot());
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
    // The place goes before the end of a long term: a reader can look up the one, and has the other in the evidence.
    // The words of a program go before its place.
    constexpr std::size_t least = 80;
    const bool telling = !says_eval(head, told.cause.where);
    const bool cuts_a_term =
        std::ranges::any_of(head.parts(), [](const Part& part) { return std::holds_alternative<PrintedTerm>(part); });
    // What is too long for the sentence as it is loses its end, and a little more for the place.
    const bool cuts_words = length(head) > most && !cuts_a_term;
    const std::size_t brief = length(told.cause.where_in_brief);
    if (telling && cuts_a_term && length(head) + placed > most && placed <= most - least &&
        (brief == 0 || length(head) + brief > most))
        if (Sentence shorter = fitted(head, most - placed); length(shorter) + placed <= most) head = std::move(shorter);
    const std::size_t shown = brief == 0 ? placed : brief;
    if (telling && cuts_words && shown != 0 && shown <= most - least)
        if (Sentence shorter = fitted(head, most - shown - 1); length(shorter) + shown <= most)
            head = std::move(shorter);
    // That a module is missing is more than the line in which it was called.
    const bool missing_told = misses_module(facts);
    const auto fits = [&](std::size_t more) { return length(head) + more <= most; };
    Sentence where = told.cause.where, beside = missing_told ? Sentence() : told.cause.aside;
    const std::size_t least_place = !telling ? 0 : brief == 0 ? placed : std::min(brief, placed);
    if (!missing_told && !told.cause.aside_in_brief.empty() && !fits(length(beside) + least_place))
        beside = told.cause.aside_in_brief;
    const std::size_t aside = length(beside);
    if (telling && !told.cause.where_in_brief.empty() && !fits(aside + placed) &&
        fits(aside + length(told.cause.where_in_brief)))
        where = told.cause.where_in_brief;
    if (aside != 0 && fits(aside + (telling ? length(where) : 0))) head.add(beside);
    if (telling && fits(length(where))) head.add(where);
    if (misses_module(facts))
        if (const std::string& folder = facts.get<StartFailure>().folders_not_found.front();
            length(head) + folder.size() + 28 <= most)
            head.say("; its folder {} does not exist", InputText{folder, InputText::Holds::message});
    if (const Sentence modules = last_modules(facts, most + 20 - std::min(length(head), most)); !modules.empty())
        head.say("; {}", modules);
    if (const std::string_view hidden = hidden_module(facts); !hidden.empty()) {
        const Sentence hides =
            sentence("; module {} of the program's own hides OTP's", Atom{std::string(hidden), false});
        head = fitted(head, most - std::min(most, length(hides)));
        head.add(hides);
    }
    Sentence text = fitted(head, most);
    const auto* last = std::get_if<InputText>(&text.parts().back());
    return last != nullptr && last->text.ends_with("...") ? text : text.say(".");
}

// `lost`: the text leaves out arguments, so that their number is not known.
Sentence place(const LogFrame& frame, bool lost = false) {
    if (frame.function.empty()) return sentence("module {}", Atom{frame.module});
    Sentence text = lost || frame.cut ? sentence("{}:{}", Atom{frame.module}, Atom{frame.function})
                                      : sentence("{}", FunctionName{frame.module, frame.function, frame.arity});
    if (!frame.file.empty() && frame.line != 0)  // else the slogan ends within the name
        text.say(" ({}, line {})", InputText{frame.file, InputText::Holds::message},
                 Amount{frame.line, AmountUnit::plain});
    return text;
}

// Whether a sentence names a function, or these words.
bool says(const Sentence& text, const LogFrame& frame) {
    return std::ranges::any_of(text.parts(), [&](const Part& part) {
        const auto* function = std::get_if<FunctionName>(&part);
        if (function != nullptr) return function->module == frame.module && function->function == frame.function;
        return false;
    });
}
bool says(const Sentence& text, const std::string& name) {
    return std::ranges::any_of(text.parts(), [&](const Part& part) {
        const auto* atom = std::get_if<Atom>(&part);
        return atom != nullptr && atom->text == name;
    });
}

// Whether an exit message that nobody read ends in the reason that is told.
bool has_same_reason(const LogEvent& event, const ToldCause& told) {
    constexpr std::uint64_t most = 4'000;  // objects
    if (event.kind != LogKind::exit_message || event.reason_term == nullptr) return false;
    const Failure other = failure_of(event.reason_term, event.reason, event.stack);
    if (!other.is_whole() || !told.failure.is_whole()) return false;
    const auto digest = term_digest(*other.term, other.reason, most);
    return digest && digest == term_digest(*told.failure.term, told.failure.reason, most);
}

// What says no more than the slogan does, or is not among what `logs` lists, so that to be led there tells nothing new:
// the exit of who it is about, the emulator's report of that, and what stands in a persistent term.
bool repeats(const LogEvent& event, const ToldCause& told) {
    if (event.holder == ProcId::none || has_same_reason(event, told)) return true;
    return told.event == nullptr && event.kind == LogKind::process_error && !event.stack.empty() &&
           std::ranges::equal(event.stack, told.failure.stack, [](const LogFrame& a, const LogFrame& b) {
               return a.module == b.module && a.function == b.function && a.arity == b.arity;
           });
}

// What of the place and the way to it the title had no room for: "It was raised in Repo.start_link/1 (repo.ex:7); the
// child is Repo, under shop_sup". Where nobody tells a place, the program's module that was loaded last, or whose
// supervisor it may be.
Sentence rest_of_place(const Facts& facts, const Sentence& title) {
    const StartFailure& start = facts.get<StartFailure>();
    const ToldCause& told = *start.told;
    const Failure& failure = told.failure;
    Sentence rest;
    const Sentence& where = told.cause.where;
    const auto named = [&](const Part& part) { return std::ranges::find(title.parts(), part) != title.parts().end(); };
    const bool placed = where.empty() || std::ranges::all_of(where.parts(), [&](const Part& part) {
                            return !std::holds_alternative<FunctionName>(part) || named(part);
                        });
    const LogFrame* frame = failure.stack.empty() ? nullptr : &failure.stack.front();
    if (!placed) {
        // Words of ours and a function: ", called in shop:start/0", ", in shop:start/0 (shop.erl:3)".
        rest = where.parts().front() == Part(Ours(", called in ")) ? Sentence(Ours("The call is made in "))
                                                                   : Sentence(Ours("It was raised in "));
        for (auto part = where.parts().begin() + 1; part != where.parts().end(); ++part) rest.add(*part);
    } else if (where.empty() && told.cause.kind != CauseKind::no_function && frame != nullptr && !frame->cut &&
               !frame->module.empty() && !says(title, *frame) &&
               !erlang::has_role(frame->module, FunctionRole::tells_no_failure) &&
               !erlang::has_role(frame->module, FunctionRole::starts_programs) &&
               !erlang::has_role(frame->module, FunctionRole::of_vm)) {
        rest = sentence("It was raised in {}", FunctionName{frame->module, frame->function, frame->arity});
    }
    std::vector<Sentence> children;
    bool all_said = true;
    for (const std::string& child : failure.children) {
        all_said = all_said && says(title, child);
        children.push_back(sentence("{}", Atom{child, false}));
    }
    if (!all_said) {
        const Sentence path = joined(children, " > ");
        const Ours did = failure.exited ? Ours("failed") : Ours("did not start");
        if (rest.empty()) rest = sentence("The child that {} is {}", did, path);
        else rest.say("; the child that {} is {}", did, path);
    }
    if (rest.empty() && failure.children.empty() && where.empty() && !failure.start_module.empty() &&
        told.cause.kind == CauseKind::bad_specification)
        rest = sentence("The supervisor whose init/1 returned that was started by {}",
                        FunctionName{failure.start_module, failure.start_function, failure.start_arity});
    // A bare reason may be anybody's.
    const bool anybodys = TermReader::is_atom(failure.reason) && told.cause.kind != CauseKind::bad_specification &&
                          told.cause.kind != CauseKind::stopped;
    if (rest.empty() && where.empty() && failure.stack.empty() && failure.children.empty() && anybodys &&
        facts.get<Slogan>().kind == SloganKind::boot_failure) {
        constexpr std::size_t most = 3;
        std::vector<Sentence> names;
        for (const std::string_view name : last_own_modules(facts.snapshot(), most))
            names.push_back(sentence("{}", Atom{std::string(name), false}));
        if (!names.empty())
            rest = sentence("Of the program's own modules {} {} loaded last", joined(names, ", "),
                            names.size() == 1 ? Ours("was") : Ours("were"));
    }
    return rest;
}

void add_told(const Facts& facts, Finding& finding) {
    const ToldCause& told = *facts.get<StartFailure>().told;
    finding.title = title(facts);
    finding.behind = rest_of_place(facts, finding.title);
    finding.evidence.push_back(
        fact("innermost reason", sentence("{}", PrintedTerm{told.failure.term, told.failure.reason, 600})));
    // Nothing is wrong with no argument: what stood there is left out.
    const auto& stack = told.failure.stack;
    const bool lost = told.cause.lost_arguments ||
                      (told.failure.leaves_out && !stack.empty() && stack[0].arguments.kind == ElementKind::nil &&
                       TermReader::is_one_of(told.failure.reason, {"badarg", "function_clause"}));
    for (std::size_t i = 0; i < told.failure.stack.size() && i < most_frames; ++i)
        finding.evidence.push_back(i == 0 ? fact("raised in", place(told.failure.stack[i], lost))
                                          : fact("called by", place(told.failure.stack[i])));
    if (told.event != nullptr)
        finding.evidence.push_back(
            told.event->holder == ProcId::none
                ? fact("told by", Ours("a persistent term, where the program keeps why it stops"))
            : told.event->in_queue ? fact("told by an unread message of", sentence("{}", told.event->holder))
                                   : fact("told by a report held by", sentence("{}", told.event->holder)));
    finding.next_steps = told.cause.hints;
    if (const std::string_view hidden = hidden_module(facts); !hidden.empty())
        finding.next_steps.insert(
            finding.next_steps.begin(),
            sentence("Rename module {}, or take it off the code path: it is loaded in the place of OTP's.",
                     Atom{std::string(hidden), false}));
    if (misses_module(facts)) {
        const std::string& folder = facts.get<StartFailure>().folders_not_found.front();
        finding.evidence.push_back(fact("not found", sentence("{}", InputText{folder, InputText::Holds::message})));
        finding.next_steps.insert(
            finding.next_steps.begin(),
            sentence("The folder {}, which -pa or -pz adds to the code path, did not exist when the node started.",
                     InputText{folder, InputText::Holds::message}));
    }
    if (const Sentence modules = last_modules(facts, 300); !modules.empty())
        finding.evidence.push_back(fact("its own modules", modules));
    if (!std::ranges::all_of(facts.get<StartFailure>().events,
                             [&told](const LogEvent& event) { return repeats(event, told); }))
        finding.next_steps.push_back(sentence("See all that it had no time to print: {}", Command{"logs", {}, ""}));
    if (told.cause.kind == CauseKind::unknown || finding.next_steps.empty())
        finding.next_steps.insert(finding.next_steps.end(), facts.get<Slogan>().next_steps.begin(),
                                  facts.get<Slogan>().next_steps.end());
    else if (is_failed_start(facts.get<Slogan>().kind))
        finding.advise(
            "If the node had run before, the dump of its first crash may be overwritten: see this file's time.");
}

// A table of the VM's that is nearly full, and of whom: where an application gave up, what failed may have been a start
// of one more. Those that it had started itself are gone.
void say_full_table(const Facts& facts, Finding& finding) {
    constexpr double full_percent = 95;
    const auto nearly_full = [](const Fill& fill) {
        return fill.percent.value_or(0) >= full_percent && *fill.used <= *fill.limit;
    };
    const Snapshot& s = facts.snapshot();
    const Fill& processes = facts.get<Totals>().process_fill;
    const Fill& ports = facts.get<Totals>().port_fill;
    if (!finding.behind.empty()) return;
    if (nearly_full(processes)) {
        const ProcessGroups& kinds = facts.get<ProcessKinds>().groups;
        finding.behind.say("{} of {} processes that the node may have exist ({})", number(*processes.used),
                           number(*processes.limit), Percent{*processes.percent});
        if (!kinds.groups.empty() && kinds.groups.front().function != FunctionId::none)
            finding.behind.say(": {} of them are {}", number(kinds.groups.front().count),
                               kinds.groups.front().function);
        if (const Sentence pile = pile_of_waiters(facts); !pile.empty()) finding.behind.say("; {}", pile);
    } else if (nearly_full(ports)) {
        std::map<Pid, std::uint64_t> owners;
        for (const Port& port : s.ports)
            if (port.connected.has()) ++owners[port.connected];
        const auto most = std::ranges::max_element(owners, {}, [](const auto& each) { return each.second; });
        finding.behind.say("{} of {} ports that the node may have are open ({})", number(*ports.used),
                           number(*ports.limit), Percent{*ports.percent});
        if (most != owners.end())
            finding.behind.say(": {} owns {} of them", AnyProcess{most->first}, number(most->second));
        // Sockets come with users; a program is one that somebody has started and not closed.
        std::map<Pid, std::pair<std::uint64_t, TextId>> programs;
        for (const Port& port : s.ports)
            if (port.connected.has() && s.text(port.kind) == "external process") {
                auto& [count, command] = programs[port.connected];
                ++count;
                command = port.driver;
            }
        const auto starts = std::ranges::max_element(programs, {}, [](const auto& each) { return each.second.first; });
        if (starts != programs.end() && most != owners.end() && most->first != starts->first &&
            starts->second.first * 10 >= s.ports.size())
            finding.behind.say("; {} has {} open, as {}", AnyProcess{starts->first},
                               Counted{starts->second.first, "external program", "external programs"},
                               names(s.text(starts->second.second)));
    }
}

// Who fills a table of the VM's with modules and what they have: whoever the code server loads one for, or who loads
// without it, and under which names.
void say_who_loads(const Facts& facts, Finding& finding) {
    constexpr std::uint64_t many_modules = 1'000;
    const Snapshot& s = facts.snapshot();
    if (facts.get<Slogan>().kind != SloganKind::table_full || !finding.behind.empty()) return;
    const std::vector<Multitude>& all = facts.get<Multitudes>().all;
    const auto modules = std::ranges::find_if(
        all, [](const Multitude& row) { return row.of == Multitude::Of::modules && row.count >= many_modules; });
    if (modules != all.end())
        finding.evidence.push_back(
            figure(sentence("modules of the pattern {}", message(modules->form)), modules->count, AmountUnit::count));
    ProcId who = facts.get<Death>().process;
    const ProcId server = s.find_registered(erlang::registered::code_server);
    if (const WaitFanIn* const asked = server == ProcId::none ? nullptr : facts.get<Waits>().fan_in_of(server);
        asked != nullptr && (who == ProcId::none || who == server))
        who = facts.get<Waits>().edges[facts.get<Waits>().waiters_of(*asked).front()].waiter;
    if (who == ProcId::none || who == server) return;
    finding.behind = sentence("{} was loading modules", who);
    if (const FunctionId by = works_for_function(s, s[who]); by != FunctionId::none) finding.behind.say(", in {}", by);
    if (modules != all.end()) finding.behind.say("; {} are named {}", number(modules->count), message(modules->form));
    finding.advise("See what it was doing, and what it keeps: {}", Command{"proc", s[who].pid});
}

}  // namespace

bool tells_an_end(const Finding& finding) {
    return finding.rule == "start-up" || finding.rule == "failed-call" || finding.rule == "node-ended";
}

bool ran_before_it_failed(const Slogan& slogan, const ToldCause* told, const Snapshot& snapshot) {
    if (slogan.kind != SloganKind::boot_failure) return false;
    if (told == nullptr) return is_up(snapshot);
    // What the command line or the boot script says wrongly is met by init itself, also when kernel has started.
    if (told->failure.stack.empty() && told->cause.kind == CauseKind::bad_specification && !is_escript(snapshot))
        return false;
    // Kernel may be on its way down by then, after it was up.
    if (told->cause.kind == CauseKind::stopped && !last_own_modules(snapshot, 1).empty()) return true;
    return is_up(snapshot) || std::ranges::any_of(told->failure.stack, [](const LogFrame& frame) {
               return has_role(frame.module, frame.function, FunctionRole::of_command_line);
           });
}

bool ended_at_work(const Slogan& slogan, const ToldCause* told, const Snapshot& snapshot) {
    switch (slogan.kind) {
        case SloganKind::application_terminated:
        case SloganKind::child_setup:
        case SloganKind::limits:
        case SloganKind::table_full:
        case SloganKind::distribution_overload:
        case SloganKind::code_server: return true;
        case SloganKind::kernel_process_terminated:
        case SloganKind::system_process_terminated: break;
        default: return false;
    }
    if (told != nullptr && told->before_kernel) return false;
    return is_up(snapshot) || !last_own_modules(snapshot, 1).empty();
}

std::optional<Finding> start_finding(const Facts& facts) {
    const Slogan& slogan = facts.get<Slogan>();
    if (!ends_a_node(slogan.kind)) return std::nullopt;
    Finding finding;
    finding.severity = FindingSeverity::critical;
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
            BootStage stage = boot_stage(facts.snapshot(), facts.get<StartFailure>().loader_path,
                                         facts.get<StartFailure>().folders_not_found);
            finding.title = stage.told.say(".");
            finding.next_steps = std::move(stage.hints);
        }
    }
    say_full_table(facts, finding);
    say_who_loads(facts, finding);
    return finding;
}

}  // namespace beamheap::analyses::rule
