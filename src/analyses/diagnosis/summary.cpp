// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/summary.hpp"

#include <algorithm>

#include "analyses/base/sum.hpp"
#include "analyses/causes/labels.hpp"
#include "analyses/processes/shell_work.hpp"
#include "analyses/rules/phrases.hpp"
#include "analyses/rules/start_finding.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses {
namespace {

// "lager_event <0.89.0>", "my:init/1 <0.90.0>".
Sentence suspect(const Snapshot& snapshot, const Pid& pid) {
    const ProcId id = snapshot.find(pid);
    if (id == ProcId::none) return sentence("{}", pid);
    const Process& process = snapshot[id];
    if (process.name != TextId::none) return sentence("{}", id);
    if (process.label != TextId::none) return sentence("{} {}", label_in_words(snapshot.text(process.label)), pid);
    if (process.real_initial_call != FunctionId::none) return sentence("{} {}", process.real_initial_call, pid);
    return sentence("{}", pid);
}

// What a process has, to judge whether it is to blame: ", in lists:reverse/1: 1.9 GiB (71 % of what all processes use),
// 12,345 messages in its queue".
Sentence belongings(const Snapshot& snapshot, const Diagnosis& diagnosis, const Process& process) {
    Sentence text;
    if (process.current_function != FunctionId::none)
        text.say(", in {}{}", process.current_function, rule::caller(snapshot, process));
    Sentence has;
    if (process.memory_bytes.has()) {
        has.add(Amount{*process.memory_bytes, AmountUnit::bytes});
        const auto share = percent_of(process.memory_bytes, diagnosis.totals.memory_bytes.value());
        if (share && *share >= 1) has.say(" ({} of what all processes use)", Percent{*share});
    }
    if (process.msgq_len.value_or(0) != 0) {
        if (!has.empty()) has.say(", ");
        has.say("{} in its queue", Counted{*process.msgq_len, "message", "messages"});
    }
    if (!has.empty()) text.say(": {}", has);
    return text;
}

// Whether whoever asked for the dump sat at a shell.
bool asked_in_shell(const Snapshot& snapshot, const Death& death) {
    return death.process != ProcId::none && shell_work(snapshot, snapshot[death.process]).in_shell;
}

// Whether a finding that explains the death has already said what the process that died was doing.
bool tells_end(const Snapshot& snapshot, const Finding* finding, const Death& death) {
    if (finding == nullptr || finding->severity != FindingSeverity::critical) return false;
    if (death.process == ProcId::none || finding->process != death.process) return false;
    const FunctionId in = snapshot[death.process].current_function;
    return in != FunctionId::none &&
           std::ranges::find(finding->title.parts(), Part(in)) != finding->title.parts().end();
}

// "lager_event <0.89.0> was collecting garbage, in lists:reverse/1: 1.9 GiB."
Sentence who_was_running(const Snapshot& snapshot, const Diagnosis& diagnosis) {
    const Death& death = diagnosis.death;
    if (death.evidence == DeathEvidence::none) return {};
    if (death.evidence == DeathEvidence::one_of_several) {
        std::vector<Sentence> suspects;
        for (const std::size_t i : death.candidates)
            suspects.push_back(suspect(snapshot, snapshot.schedulers[i].current_process));
        return sentence(
            "A dirty scheduler called for the dump, and the input does not say which; these were on one: {}.",
            joined(suspects, ", "));
    }
    // Of a start that failed, init halts the node: that it was running tells nothing.
    if (is_failed_start(diagnosis.slogan.kind) && death.process != ProcId::none &&
        snapshot.text(snapshot[death.process].name) == erlang::registered::init)
        return {};
    // SIGUSR1 is served by a process of the VM's own, which tells nothing either.
    if (diagnosis.slogan.kind == SloganKind::requested && death.process != ProcId::none &&
        snapshot.text(snapshot[death.process].name) == erlang::registered::signal_server)
        return {};
    const bool asked = diagnosis.slogan.kind == SloganKind::requested || diagnosis.slogan.kind == SloganKind::unknown;
    Sentence text = suspect(snapshot, death.pid);
    if (death.state == ProcessState::garbage_collecting) text.say(" was collecting garbage");
    else if (asked) text.say(" was running when the dump was asked for");
    else text.say(" was running");
    if (death.evidence == DeathEvidence::only_collecting) text.say(", the only one to do so");
    if (asked && asked_in_shell(snapshot, death)) text.say(", working on what was typed into the shell");
    if (death.process == ProcId::none) text.say("; it is not in the process table.");
    else text.say("{}.", belongings(snapshot, diagnosis, snapshot[death.process]));
    return text;
}

Sentence what_is_missing(const Snapshot& snapshot) {
    const Source& source = snapshot.source;
    if (source.complete.value_or(true)) return {};
    Sentence text = Ours("The input is incomplete, and sums are lower bounds");
    if (!source.truncation.empty()) text.say(": {}", InputText{source.truncation, InputText::Holds::vm});
    if (!source.truncation.ends_with('.')) text.say(".");
    return text;
}

// "At least 3 processes and 4,096 bytes of this dump are damaged or missing, and sums are lower bounds."
Sentence what_is_lost(const Snapshot& snapshot) {
    const Source::Loss& loss = snapshot.source.loss;
    if (!loss.any()) return {};
    Sentence what;
    if (loss.processes != 0) what.say("{}", Counted{loss.processes, "process", "processes"});
    if (loss.processes != 0 && loss.bytes != 0) what.say(" and ");
    if (loss.bytes != 0) what.say("{}", Counted{loss.bytes, "byte", "bytes"});
    const bool one = loss.processes + loss.bytes == 1;
    return sentence("At least {} of this {} {} damaged or missing, and sums are lower bounds.", what,
                    snapshot.source.kind.whole_heaps ? Ours("core image") : Ours("dump"),
                    one ? Ours("is") : Ours("are"));
}

// Several nodes, or several deaths of one, that were given one file: one after another, or at once, so that what each
// writes once stands there twice, and among what the other has written. Copied or lost blocks of a file double or move
// far fewer.
Sentence who_else_wrote(const Snapshot& snapshot) {
    constexpr std::uint64_t least_doubled = 10, least_misplaced = 20;
    const Anomalies& odd = snapshot.anomalies;
    if (snapshot.source.kind.whole_heaps) return {};
    if (odd.seen(Anomaly::second_dump))
        return sentence("Two writers: another dump begins at byte {} of this file, and only the first was read.",
                        Amount{odd[Anomaly::second_dump].first_offset, AmountUnit::count});
    if (odd[Anomaly::duplicate_section].count < least_doubled ||
        odd[Anomaly::section_misplaced].count < least_misplaced)
        return {};
    return sentence(
        "Two writers: nodes wrote this file at once ({} stand twice), and what is told may be of either; give each its "
        "own ERL_CRASH_DUMP.",
        Counted{odd[Anomaly::duplicate_section].count, "section", "sections"});
}

// Of a node that ran when it was asked for its dump, and in which nothing is wrong.
Sentence nothing_found(const Snapshot& snapshot, const Diagnosis& diagnosis) {
    Sentence node = sentence("{}", Counted{snapshot.processes.size(), "process", "processes"});
    if (const Count total = snapshot.memory_bytes("total"); total.has())
        node.say(" and {}", Amount{*total, AmountUnit::bytes});
    Sentence text = sentence("Nothing found: no rule sees anything wrong with this node of {}", node);
    if (const std::size_t notes = diagnosis.findings.size(); notes != 0)
        text.say("; {} below", Counted{notes, "note stands", "notes stand"});
    return text.say(".");
}

bool advised(const std::vector<Finding>& findings, const Sentence& step) {
    return std::ranges::any_of(findings, [&](const Finding& finding) {
        return std::ranges::find(finding.next_steps, step) != finding.next_steps.end();
    });
}

}  // namespace

void summarise(const Snapshot& snapshot, Diagnosis& diagnosis) {
    const auto say = [&diagnosis](Sentence text) {
        if (!text.empty()) diagnosis.summary.push_back(std::move(text));
    };
    const Finding* worst = diagnosis.findings.empty() ? nullptr : &diagnosis.findings.front();
    diagnosis.says_worst = worst != nullptr && (worst->severity != FindingSeverity::info || worst->leads);
    if (diagnosis.says_worst) say(worst->tells_slogan ? worst->title : sentence("{}.", worst->title));
    const bool alive = diagnosis.slogan.kind == SloganKind::none && !snapshot.source.kind.report_of_end;
    // Of a node that died, the reason goes before the place of its memory.
    const bool ended =
        !alive && diagnosis.slogan.kind != SloganKind::requested && diagnosis.slogan.kind != SloganKind::unknown;
    const bool whole = snapshot.source.complete.value_or(true) && !snapshot.source.loss.any();
    // A program's own last words go before that nothing is found.
    const bool was_asked = alive || diagnosis.slogan.kind == SloganKind::requested;
    if (!diagnosis.says_worst && was_asked && whole) say(nothing_found(snapshot, diagnosis));
    const bool place_now = diagnosis.says_worst || (diagnosis.largest_place.stands_out && !ended);
    if (place_now) say(diagnosis.largest_place.text);
    if (alive)
        say(!snapshot.source.live ? Ours("The node was running when its image was taken.")
            : snapshot.source.live->halt == VmHalt::none
                ? Ours("The node is running.")
                : Ours("All that is told is as it was when the node stood still."));
    else if (!(diagnosis.says_worst && worst->tells_slogan)) say(diagnosis.slogan.meaning);
    if (!place_now) say(diagnosis.largest_place.text);
    if (!diagnosis.tells_who_halted && !tells_end(snapshot, worst, diagnosis.death))
        say(who_was_running(snapshot, diagnosis));
    for (const Finding& finding : diagnosis.findings)
        if (finding.rule == "alarm" && &finding != worst) say(sentence("{}.", finding.title));
    say(what_is_missing(snapshot));
    say(what_is_lost(snapshot));
    say(who_else_wrote(snapshot));
    // Where a finding explains the very end, it has the steps that help; those of the slogan are for when nobody knows
    // why.
    const bool explained = std::ranges::any_of(diagnosis.findings, [](const Finding& finding) {
        return rule::tells_an_end(finding) && !finding.next_steps.empty();
    });
    if (explained) return;
    // Nobody has to search the program for what was typed.
    if (diagnosis.slogan.kind == SloganKind::unknown && asked_in_shell(snapshot, diagnosis.death)) return;
    for (const Sentence& step : diagnosis.slogan.next_steps)
        if (!advised(diagnosis.findings, step)) diagnosis.next_steps.push_back(step);
}

}  // namespace beamheap::analyses
