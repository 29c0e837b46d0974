// SPDX-License-Identifier: Apache-2.0
// native-crash: native code, or damage to the VM's memory, ended the node.
//
// Theory. Erlang code can't damage the VM; NIFs, drivers, hardware and bugs in the VM can. The VM then notices data
// that can't be (a bad tag, an overrun heap) or wants memory of a size that no term has, and writes that as its slogan;
// or a thread dies by a signal, which a core image tells. The libraries that were loaded are in the dump's Taints.
//
// A signal that another process of the machine sent is no crash: whoever watches over the node ended it, most often
// since it seemed to hang.
//
// Thresholds: none; the slogan, or the signal, is a fact. That native code did it is an estimate where any is loaded.
#include <algorithm>

#include "analyses/rules/phrases.hpp"
#include "erlang/registered.hpp"

namespace beamheap::analyses::rule {
namespace native_crash_rule {
namespace {

constexpr std::size_t most_running = 4;

// The process that tells who watches over the node that it lives: where it is held up, that one ends the node.
void say_beat(const Facts& facts, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const ProcId beat = s.find_registered(erlang::registered::beat_sender);
    if (beat == ProcId::none) return;
    const ProcId end = end_of_chain(facts.get<Waits>(), beat);
    if (end == ProcId::none && idle(facts, beat)) return;
    about(facts, beat, finding);
    finding.title.say("; {}, which tells its watchdog that it lives, {}", beat, doing(facts, beat));
    if (end != ProcId::none && end != beat) finding.title.say(", and waits for {}, which {}", end, doing(facts, end));
    add_stack(facts, beat, finding);
    finding.advise("See what holds it up: {}", Command{"proc", s[end == ProcId::none ? beat : end].pid});
    finding.advise("A callback of heart's must answer in time: ask nobody in it without a timeout.");
}

// Whom most waited for then: a watchdog that asks for an answer, and gets none, ends the node.
void say_awaited(const Facts& facts, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const WaitFanIn* most = nullptr;
    for (const WaitFanIn& fan : facts.get<Waits>().fan_in)
        if (fan.target.process != ProcId::none && !idle(facts, fan.target.process) &&
            (most == nullptr || fan.reaching > most->reaching))
            most = &fan;
    if (most == nullptr || finding.process != ProcId::none) return;
    const ProcId last = end_of_chain(facts.get<Waits>(), most->target.process);
    const ProcId end = last == ProcId::none ? most->target.process : last;
    const WaitFanIn* const at_end = facts.get<Waits>().fan_in_of(end);
    ProcId watchdog = ProcId::none;
    for (const WaitEdge& edge : facts.get<Waits>().edges)
        if (s[edge.waiter].name != TextId::none && erlang::is_called_watchdog(s.text(s[edge.waiter].name)) &&
            end_of_chain(facts.get<Waits>(), edge.waiter) == end)
            watchdog = edge.waiter;
    finding.process = end;
    finding.pid = s[end].pid;
    finding.name = s[end].name;
    finding.behind = sentence("{} then waited for {}, which {}",
                              processes(at_end == nullptr ? most->reaching : at_end->reaching), end, doing(facts, end));
    if (watchdog != ProcId::none) finding.behind.say("; one of them was {}", watchdog);
    add_stack(facts, end, finding);
    finding.advise("See what held them up: {}", Command{"proc", s[end].pid});
}

// It was in order, and somebody wanted it to end.
void killed_from_outside(const Facts& facts, const Signal& signal, std::vector<Finding>& findings) {
    Finding finding;
    finding.severity = FindingSeverity::critical;
    finding.subject = {SubjectKind::node, signal_name(signal.number)};
    finding.title.say("The node was ended by {}, which {} sent", signal_text(signal), sender_text(signal));
    finding.evidence.push_back(fact("signal", signal_text(signal)));
    finding.evidence.push_back(fact("sent by", sender_text(signal)));
    say_beat(facts, finding);
    say_awaited(facts, finding);
    finding.advise("See who that process was: the program `heart`, a service manager, a person (the journal tells).");
    findings.push_back(std::move(finding));
}

// A core image tells the signal.
void killed_by_signal(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    if (!is_crash(*s.node.signal)) return;
    const Signal& signal = *s.node.signal;
    if (signal.sent == Signal::Sent::by_another) return killed_from_outside(facts, signal, findings);
    Finding finding;
    finding.severity = FindingSeverity::critical;
    finding.subject = {SubjectKind::node, signal_name(signal.number)};
    finding.title.say("The VM died by {}", signal_text(signal));
    std::vector<Sentence> who;
    for (std::size_t i = 0; i < std::min(facts.get<Death>().running.size(), most_running); ++i) {
        const ProcId id = facts.get<Death>().running[i];
        finding.evidence.push_back(fact(sentence("was running: {}", id), frames_text(facts, id)));
        who.push_back(sentence("{}", id));
    }
    if (facts.get<Death>().running.size() == 1) {
        about(facts, facts.get<Death>().running.front(), finding);
        finding.title.say(" while {} was running {}", finding.process, s[finding.process].current_function);
    } else if (!who.empty()) {
        finding.title.say("; running were {}", joined(who, ", "));
    }
    finding.evidence.push_back(fact("signal", signal_text(signal)));
    finding.advise(
        "Erlang code alone can't do this: suspect NIFs and drivers first, then the VM's version and the hardware.");
    finding.advise(
        "See the native stack of the thread that died: gdb BEAM CORE, then bt; symbols of the library tell the line.");
    finding.advise("See who was running: `beamheap schedulers DUMP`");
    findings.push_back(std::move(finding));
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    if (facts.snapshot().node.signal) return killed_by_signal(facts, findings);
    const Slogan& slogan = facts.get<Slogan>();
    if (slogan.kind != SloganKind::corruption && slogan.kind != SloganKind::absurd_allocation) return;
    const Node& node = facts.snapshot().node;
    Finding finding;
    finding.severity = FindingSeverity::critical;
    finding.title = slogan.meaning;
    finding.tells_slogan = true;
    finding.subject = {SubjectKind::node, name_of(slogan.kind)};
    finding.confidence = Confidence::estimate;
    if (slogan.refused_bytes.has())
        finding.evidence.push_back(figure("asked for", slogan.refused_bytes, AmountUnit::bytes));
    if (const ProcId id = facts.get<Death>().process; id != ProcId::none) {
        finding.process = id;
        finding.pid = facts.snapshot()[id].pid;
        finding.name = facts.snapshot()[id].name;
        finding.evidence.push_back(fact("who was running", sentence("{}", id)));
        if (slogan.kind == SloganKind::absurd_allocation && slogan.refused_bytes.has()) {
            finding.title = sentence("{} asked for {} at once, so a size was wrong; it {}", id,
                                     bytes(*slogan.refused_bytes), running(facts, id));
            finding.tells_slogan = false;
        }
        add_stack(facts, id, finding);
    }
    const bool tainted = !node.taints.empty() && node.taints != "(none)";
    finding.evidence.push_back(
        fact("native libraries (Taints)", tainted ? sentence("{}", names(node.taints)) : Sentence(Ours("none"))));
    finding.next_steps = slogan.next_steps;
    if (finding.next_steps.empty())
        finding.advise("Keep a core image of the next crash (ulimit -c unlimited): it has the native stack.");
    if (tainted)
        finding.next_steps.insert(
            finding.next_steps.begin(),
            sentence("Suspect the native libraries first: update them, or run without each in turn: {}",
                     names(node.taints)));
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace native_crash_rule

Rule native_crash() { return {"native-crash", 30, native_crash_rule::run}; }

}  // namespace beamheap::analyses::rule
