// SPDX-License-Identifier: Apache-2.0
// big-heap: one process holds a large part of the memory, or asked for more than there was.
//
// Theory. A process's heap grows by the term that it keeps. A collection needs old and new heap at once, so a process
// that lives on 8 GB needs up to 16 GB for a moment, and the VM dies when that is refused: the slogan then names
// eheap_alloc and a size that is the heap's next one. Who was collecting, or running, asked for it. A small process
// that asked for much wanted one large term at once. What its heap holds is followed from the root that keeps most
// alive down to the term where that splits up: the accumulation point. Where it rests, and those that monitor it, or
// that it monitors, are all stuck at one place, it is most likely for these that it keeps what it keeps: the consumers
// of a queue.
//
// Thresholds: at least 8 MiB and a fifth of the memory of all processes; half of it, and 64 MiB,
// is high. The one that the VM died
// in for lack of memory is critical with a tenth, or where it asked for four times what it had. One that waits, and
// uses less than a quarter of its heaps, is told as info below 64 MiB; so is one below 96 MiB that is idle, and of
// whose heaps nearly all is garbage. Many that are each of a middling size tell
// nothing one by one: ten or more of one kind with 64 KiB each on average that are 8 MiB, three quarters of the memory
// of all processes and half of the node's are medium together, as long as none of them stands out; where half of that
// and more is on no heap, and they have messages in their queues, it is said of these.
#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "analyses/base/allocated_words.hpp"
#include "analyses/base/links_of.hpp"
#include "analyses/facts/catalogue/application_circle.hpp"
#include "analyses/facts/catalogue/dying.hpp"
#include "analyses/facts/catalogue/lost_sharing.hpp"
#include "analyses/facts/catalogue/process_kinds.hpp"
#include "analyses/memory/idle_heaps.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/alike.hpp"
#include "analyses/rules/message_forms.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"

namespace beamheap::analyses::rule {
namespace big_heap_rule {
namespace {

constexpr std::uint64_t least_bytes = 8u << 20;
constexpr double medium_percent = 20;
constexpr std::uint64_t high_bytes = 64u << 20;
constexpr double high_percent = 50;
constexpr double dead_percent = 10;
constexpr std::uint64_t times_its_own = 4;
constexpr std::size_t most_findings = 3;
constexpr std::uint64_t many_relations = 10'000, of_relation = 1'000;  // bytes: more than any takes
constexpr std::uint64_t least_of_group = 10, least_each = 64u << 10, least_group_bytes = 8u << 20;
constexpr double held_up_percent = 75;
constexpr std::uint64_t many_children = 1'000;
constexpr std::size_t most_trace_frames = 16;
constexpr std::uint64_t many_queued = 1'000, many_queued_each = 20;  // messages of a group, and on average
constexpr double group_percent = 75, group_of_node_percent = 50;

bool asked_for_heap(const Slogan& slogan) {
    return slogan.kind == SloganKind::out_of_memory && slogan.allocator == "eheap_alloc";
}

// What kind of server it is: "an Agent".
Sentence kind(const Facts& facts, ProcId id) {
    const TermFacts* seen = facts.get<SuspectTerms>().of(id);
    return seen == nullptr || seen->server.empty() ? Sentence() : sentence("{}", seen->server);
}

// Those who monitor a process that rests, or are monitored by it, where nearly all of these are held up at one place,
// which is not that they wait for it.
struct HeldUp {
    std::uint64_t count = 0;
    FunctionId function = FunctionId::none;
    ProcId example = ProcId::none;
    ProcId end = ProcId::none;  // for whom they wait in the end, who is at that place; none: they are themselves
    bool watched = false;       // it monitors them, and not they it
};

HeldUp held_up_around(const Facts& facts, ProcId id) {
    const Snapshot& s = facts.snapshot();
    if (!idle(facts, id)) return {};
    std::set<ProcId> around, watched;
    for (const Link& link : links_of(s, s[id]))
        if ((link.kind == LinkKind::monitors || link.kind == LinkKind::monitored_by) && link.pid.has())
            if (const ProcId other = s.find(link.pid); other != ProcId::none && other != id) {
                around.insert(other);
                if (link.kind == LinkKind::monitors) watched.insert(other);
            }
    std::map<FunctionId, HeldUp> places;
    for (const ProcId other : around) {
        const ProcId last = end_of_chain(facts.get<Waits>(), other);
        const ProcId end = last == ProcId::none || last == other ? ProcId::none : last;
        const ProcId at = end == ProcId::none ? other : end;
        const FunctionId function = s[at].current_function;
        const WaitEdge* const edge = facts.get<Waits>().edge(other);
        const bool waits = s[at].state == ProcessState::waiting && function != FunctionId::none && !idle(facts, at);
        if (!waits || at == id || (end == ProcId::none && waits_on_behalf(s, s[other]) == FunctionId::none) ||
            (edge != nullptr && edge->target.process == id))
            continue;
        // A connection reads from its peer for itself; one that is called, and reads, keeps its callers waiting.
        if (end == ProcId::none && has_role(s, function, erlang::FunctionRole::awaits_peer)) continue;
        HeldUp& place = places[function];
        if (place.count++ == 0) place = {1, function, other, end, watched.contains(other)};
    }
    for (const auto& [function, place] : places)
        if (percent_of(place.count, std::uint64_t{around.size()}).value_or(0) >= held_up_percent) return place;
    return {};
}

// What most of it is: ": its State, a map of 20,000 ... (9.6 MiB)". Empty where that is less than a fifth of what it
// holds.
Sentence contents(const Facts& facts, ProcId id) {
    const TermFacts* seen = facts.get<SuspectTerms>().of(id);
    if (seen == nullptr || seen->accumulated.empty()) return {};
    if (seen->accumulated_bytes < process_bytes(facts, facts.snapshot()[id]).value_or(0) / 5) return {};
    return sentence(": {} ({})", seen->accumulated, bytes(seen->accumulated_bytes));
}

// What a process without messages has outside of its heap, and not in its links and monitors: it is more than these
// could take. What else costs memory there, and is in no dump, are aliases.
Count in_aliases(const Facts& facts, ProcId id) {
    const Snapshot& s = facts.snapshot();
    const Process& process = s[id];
    const Count memory = process_bytes(facts, process);
    if (process.msgq_len != Count(0) || process.state != ProcessState::waiting || !memory.has()) return {};
    const std::uint64_t heap = saturating_multiply(allocated_words(process), s.source.word_size);
    const std::uint64_t outside = *memory - std::min(*memory, heap);
    if (outside < least_bytes || outside < *memory / 2 ||
        outside / of_relation < std::uint64_t{process.link_range.count} + process.monitors + process.links)
        return {};
    return outside;
}

// Of a node that has died, who was running may have returned from where it was scheduled in last.
bool ended(const Facts& facts) { return facts.get<Slogan>().kind == SloganKind::out_of_memory; }

Amount live_bytes(const Snapshot& s, const TermFacts& seen) {
    return bytes(saturating_multiply(seen.live_words.value_or(0), s.source.word_size));
}

// Of what its heap has, less than a tenth lives.
bool nearly_all_garbage(const Facts& facts, ProcId id) {
    const TermFacts* const seen = facts.get<SuspectTerms>().of(id);
    const Process& process = facts.snapshot()[id];
    const Count live = process.has_heap && process.live_words.has() ? process.live_words
                       : seen == nullptr                            ? Count()
                                                                    : seen->live_words;
    return live.has() && process.msgq_len == Count(0) && *live < used_words(process).value_or(0) / 10;
}

// The one says why it is large, the other, where that is not known, where to look.
void say_contents_or_work(const Facts& facts, ProcId id, Finding& finding) {
    const Sentence what = contents(facts, id);
    if (const Count aliases = what.empty() ? in_aliases(facts, id) : Count(); aliases.has()) {
        finding.title.say("; {} of that are on no heap, and its links and monitors are few: most likely aliases",
                          bytes(*aliases));
        finding.advise(
            "Take back each alias that was made for a request (`erlang:unalias/1`), or make it such that the answer "
            "does (`[reply]`, and `{alias, reply_demonitor}` of a monitor).");
    } else if (what.empty()) {
        const TermFacts* const seen = facts.get<SuspectTerms>().of(id);
        const bool garbage = nearly_all_garbage(facts, id);
        if (!garbage && seen != nullptr && !seen->living.empty() && seen->live_words.has())
            finding.title.say("; {} of that are live, most of it in {}; it {}", live_bytes(facts.snapshot(), *seen),
                              seen->living, doing(facts, id));
        else
            finding.title.say(garbage ? Form<1>(", nearly all of it garbage; it {}") : Form<1>("; it {}"),
                              ended(facts) ? running(facts, id) : doing(facts, id));
    } else {
        finding.title.add(what);
    }
}

// A supervisor keeps what it knows of a child that has ended, unless that was temporary, or one of a
// simple_one_for_one.
void say_ended_children(const Facts& facts, ProcId id, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const TermFacts* const seen = facts.get<SuspectTerms>().of(id);
    const FunctionId begun = first_call(s[id]);
    if (seen == nullptr || seen->accumulated_count < many_children || begun == FunctionId::none ||
        module_of(s, begun) != erlang::module_of_supervisors)
        return;
    std::uint64_t alive = 0;
    for (const Link& link : links_of(s, s[id]))
        alive += link.kind == LinkKind::link && link.pid.has() && link.pid != s[id].parent;
    if (alive > seen->accumulated_count / 10) return;
    if (!finding.behind.empty()) finding.behind.say("; it has ");
    else finding.behind.say("It has ");
    if (alive == 0) finding.behind.say("no child that lives");
    else
        finding.behind.say(alive == 1 ? Form<1>("{} child that lives") : Form<1>("{} children that live"),
                           number(alive));
    finding.behind.say(", and keeps the specifications of {} that have ended", number(seen->accumulated_count - alive));
    finding.advise(
        "Delete a child that does not come back (`supervisor:delete_child/2`), or let it be temporary; many of one "
        "kind want simple_one_for_one, or a DynamicSupervisor, which keep nothing of those that have ended.");
}

// Who prints or handles what is traced, as a process of a tracer does: messages of traces come as fast as what is
// traced is called, and it takes them into its heap.
void say_traces(const Facts& facts, ProcId id, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    if (s[id].stack == StackId::none) return;
    FunctionId own = FunctionId::none;
    std::size_t left = most_trace_frames;
    for (const Frame& frame : s.stacks[s[id].stack]) {
        if (frame.function == FunctionId::none || left-- == 0) return;
        if (has_role(s, frame.function, erlang::FunctionRole::handles_traces)) break;
        if (own == FunctionId::none && !is_of_library(s, frame.function)) own = frame.function;
        if (&frame == &s.stacks[s[id].stack].back()) return;
    }
    finding.title.say("; what it handles are trace messages: tracing is on");
    if (own != FunctionId::none) finding.title.say(", and {} is slower than they come", own);
    finding.advise(
        "Turn tracing off (`dbg:stop/0`, `erlang:trace(all, false, [all])`), and trace next time with a bound: a "
        "number of calls, or a tracer that drops what it can't take (recon_trace, a port).");
}

void add_contents(const Facts& facts, ProcId id, Finding& finding) {
    const Process& process = facts.snapshot()[id];
    if (Sentence what = kind(facts, id); !what.empty()) finding.evidence.push_back(fact("what it is", std::move(what)));
    finding.evidence.push_back(figure("its memory", process_bytes(facts, process), AmountUnit::bytes));
    finding.evidence.push_back(figure("young heap", process.heap_words, AmountUnit::words));
    finding.evidence.push_back(figure("old heap", process.old_heap_words, AmountUnit::words));
    if (process.msgq_len.value_or(0) != 0)
        finding.evidence.push_back(figure("messages in its queue", process.msgq_len, AmountUnit::count));
    if (const TermFacts* seen = facts.get<SuspectTerms>().of(id); seen != nullptr && !seen->accumulation.empty())
        finding.evidence.push_back(fact("most of its heap", seen->accumulation, seen->accumulation_confidence));
    if (const TermFacts* seen = facts.get<SuspectTerms>().of(id);
        seen != nullptr && !seen->accumulated_copies.empty()) {
        finding.behind.say("Each of these has {}", seen->accumulated_copies);
        finding.advise(
            "What is put there is copied each time, also where it is the same: let elements share one (keep it once in "
            "the State, and put that into each), or keep it where nothing copies it (a persistent term).");
    }
    if (const TermFacts* seen = facts.get<SuspectTerms>().of(id);
        seen != nullptr && !seen->accumulated.empty() && seen->accumulated_processes.mostly_ended()) {
        if (!finding.behind.empty()) finding.behind.say("; ");
        finding.behind.say("{} of {} of these that were looked at are of processes that have ended",
                           number(seen->accumulated_processes.ended), number(seen->accumulated_processes.named));
        finding.advise(
            "Monitor whom something is kept for (`erlang:monitor/2`), and take it out at 'DOWN'; a caller that has "
            "given up leaves what it asked for in queues.");
    }
    add_stack(facts, id, finding);
}

// Whether its memory is that of its links and monitors, of which `multitude` tells, and not its heap.
bool is_relations(const Facts& facts, ProcId id) {
    const Process& process = facts.snapshot()[id];
    const std::uint64_t held = process_bytes(facts, process).value_or(0);
    const std::uint64_t heap = saturating_multiply(allocated_words(process), facts.snapshot().source.word_size);
    const std::uint64_t relations = std::uint64_t{process.link_range.count} + process.monitors + process.links;
    return process.msgq_len == Count(0) && heap < held / 2 && relations >= many_relations &&
           (held - heap) / of_relation < relations;
}

// Whether one of the same kind, at the same place and about as large, was looked into, and has nearly nothing but
// garbage: that stands for those who were not.
bool like_garbage(const Facts& facts, ProcId id) {
    const Snapshot& s = facts.snapshot();
    const std::uint64_t used = used_words(s[id]).value_or(0);
    return first_call(s[id]) != FunctionId::none &&
           std::ranges::any_of(facts.get<SuspectTerms>().processes, [&](const TermFacts& seen) {
               const Process& other = s[seen.process];
               return first_call(other) == first_call(s[id]) && other.current_function == s[id].current_function &&
                      used / 2 <= used_words(other).value_or(0) && nearly_all_garbage(facts, seen.process);
           });
}

// Whether it waits with heaps that are nearly empty, below what is high, or rests on nothing but garbage, of which
// there is little: of a burst that is over, and free for the next.
bool is_left_over(const Facts& facts, ProcId id) {
    const Snapshot& s = facts.snapshot();
    const Process& process = s[id];
    const std::uint64_t held = process_bytes(facts, process).value_or(0), allocated = allocated_words(process);
    const bool hardly_used = held < high_bytes && used_words(process).value_or(allocated) < allocated / 4;
    const bool garbage =
        nearly_all_garbage(facts, id) || (facts.get<SuspectTerms>().of(id) == nullptr && like_garbage(facts, id));
    const bool at_rest = held < little_garbage_bytes && garbage && idle(facts, id);
    return process.state == ProcessState::waiting && process.msgq_len == Count(0) && (hardly_used || at_rest) &&
           contents(facts, id).empty() && saturating_multiply(allocated, s.source.word_size) >= held / 2 &&
           facts.get<Slogan>().kind != SloganKind::out_of_memory;
}

// Whom it waits for in the end while it keeps all that: "It waits for metadata <0.80.0>, which sits in
// metadata:fold/1".
void say_awaited(const Facts& facts, ProcId id, Finding& finding) {
    const ProcId end = end_of_chain(facts.get<Waits>(), id);
    if (end == ProcId::none || end == id || contents(facts, id).empty()) return;
    finding.behind.say(
        finding.behind.empty() ? Form<2>("It waits for {}, which {}") : Form<2>("; it waits for {}, which {}"), end,
        doing(facts, end));
    finding.advise("See why that one does not go on: {}", Command{"proc", facts.snapshot()[end].pid});
}

void add_steps(Finding& finding) {
    finding.advise("Bound what it collects, or stream it: write it out, or hand it on in pieces.");
    finding.advise(
        "As a fuse: `process_flag(max_heap_size, ...)` kills the process instead of the node; a collection needs up to "
        "twice what is live.");
}

// What the refused memory was for, in words.
Sentence memory_type(const Slogan& slogan) {
    if (slogan.memory_type.empty()) return Ours("heap");
    InputText type = of_vm(slogan.memory_type);
    std::ranges::replace(type.text, '_', ' ');
    return sentence("{}", std::move(type));
}

// A term that it has, and that is most of what it asked for as soon as it is copied.
void say_sharing(const Facts& facts, ProcId id, Finding& finding) {
    const LostSharing& lost = facts.get<LostSharing>();
    const std::uint64_t word = facts.snapshot().source.word_size;
    const std::uint64_t refused = facts.get<Slogan>().refused_bytes.value_or(0);
    const std::uint64_t copied = saturating_multiply(lost.flat_words, word);
    if (lost.process != id || lost.where.empty() || copied < refused / 4 || copied / 2 > refused) return;
    finding.title.say(
        "; {} has {}, and {} where it is copied: a message has what is shared in it as often as it is "
        "referred to",
        lost.where, bytes(saturating_multiply(lost.shared_words, word)), bytes(copied));
    finding.evidence.push_back(figure("that term, copied", lost.flat_words, AmountUnit::words, Confidence::estimate));
    finding.evidence.push_back(figure("the same, as it lies there", lost.shared_words, AmountUnit::words));
    finding.advise(
        "Send, or store, only what is asked for, and no term whose parts stand in many places of it: a copy (a "
        "message, a table, a spawn) loses the sharing. What many need is kept in a persistent term.");
    finding.advise("See its terms, copied (FLAT) and as they lie there (SHARED): {}",
                   Command{"heap", facts.snapshot()[id].pid});
}

// Who waits for what it has asked of this process, which the VM makes in that one's name
// (erts_internal:await_result/1): its process_info, as a rule.
ProcId asks_about(const Facts& facts, ProcId id) {
    const Snapshot& s = facts.snapshot();
    const WaitFanIn* const fan = facts.get<Waits>().fan_in_of(id);
    if (fan == nullptr) return ProcId::none;
    for (const std::uint32_t at : facts.get<Waits>().waiters_of(*fan)) {
        const WaitEdge& edge = facts.get<Waits>().edges[at];
        if (has_role(s, s[edge.waiter].current_function, erlang::FunctionRole::awaits_vm)) return edge.waiter;
    }
    return ProcId::none;
}

// "push_dispatcher <0.726.0> has 89,999 messages {push,...} and was refused 60.4 MiB for a copy of them, which
// system_monitor <0.727.0> asks for (process_info) in system_monitor:collect/2": where what was refused is as large as
// that, within a sixteenth.
bool say_queue_copy(const Facts& facts, ProcId id, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const Slogan& slogan = facts.get<Slogan>();
    const TermFacts* const seen = facts.get<SuspectTerms>().of(id);
    if (!slogan.memory_type.starts_with("heap_frag") || seen == nullptr || !seen->queue_copy_words.has()) return false;
    const std::uint64_t copy = saturating_multiply(*seen->queue_copy_words, s.source.word_size);
    const std::uint64_t refused = slogan.refused_bytes.value_or(0);
    if (refused < copy - copy / 16 || refused > saturating_add(copy, copy / 16)) return false;
    const std::string form = seen->shapes.empty() ? std::string() : short_form(seen->shapes.front().text);
    finding.title = sentence("{} has {}{} and was refused {} for a copy of them", id, messages(seen->messages_listed),
                             form.empty() ? Sentence() : sentence(" {}", term(form)), bytes(refused));
    const ProcId asks = asks_about(facts, id);
    if (asks == ProcId::none) {
        finding.title.say(", as `process_info(Pid, messages)` makes one");
    } else {
        finding.title.say(", which {} asks for (`process_info`)", asks);
        if (const FunctionId by = works_for_function(s, s[asks]); by != FunctionId::none)
            finding.title.say(" in {}", by);
        finding.evidence.push_back(fact("who asks", sentence("{}: {}", asks, frames_text(facts, asks))));
    }
    finding.behind = sentence("{} {}", id, doing(facts, id));
    finding.evidence.push_back(
        figure("its messages, copied", seen->queue_copy_words, AmountUnit::words, Confidence::estimate));
    finding.advise(
        "Ask for `message_queue_len`, never for `messages` (nor `process_info/1`, up to 21), of processes whose queue "
        "may be long: the answer is a copy of all of them in one piece.");
    finding.advise("See why its queue is long: what it does, and who sends: {}", Command{"proc", s[id].pid});
    return true;
}

// A stack that is much of what the process has, though its data are more: it goes deep, or never ends.
void say_deep_stack(const Facts& facts, ProcId id, Finding& finding) {
    constexpr std::uint64_t least_stack = 1u << 20, least_part = 8;
    const Snapshot& s = facts.snapshot();
    const std::uint64_t words = s[id].stack_words.value_or(0);
    const std::uint64_t stack = saturating_multiply(words, s.source.word_size);
    if (stack < least_stack || words < allocated_words(s[id]) / least_part) return;
    finding.title.say(", with a stack of {}: deep recursion, or one without end", bytes(stack));
    finding.evidence.push_back(figure("its stack", words, AmountUnit::words));
    finding.advise(
        "See what ends that recursion: a circle in the data (a parent that is its own child's child), a condition that "
        "never comes true; and bound its depth.");
}

// Whether what it asked for, and what it has, is little beside the node: others have filled that.
bool is_last_straw(const Facts& facts, Count held) {
    constexpr double little_percent = 10, small_request_percent = 1;
    const Count node = node_bytes(facts);
    return node.value_or(0) != 0 && percent_of(held, node).value_or(100) < little_percent &&
           percent_of(facts.get<Slogan>().refused_bytes, node).value_or(100) < small_request_percent;
}

// The process that was refused memory for its heap.
bool add_refused(const Facts& facts, std::vector<Finding>& findings) {
    const ProcId id = facts.get<Death>().process;
    if (!asked_for_heap(facts.get<Slogan>()) || id == ProcId::none || fills_its_stack(facts, id) ||
        facts.get<Dying>().reports(id))
        return false;
    const Process& process = facts.snapshot()[id];
    const Count held = process_bytes(facts, process);
    const auto percent = percent_of(held, all_process_bytes(facts));
    const bool large = percent.value_or(0) >= dead_percent && held.value_or(0) >= least_bytes / 8;
    const bool at_once = facts.get<Slogan>().refused_bytes.value_or(0) / times_its_own >= held.value_or(~0ull / 8);
    if (!large && !at_once) return false;
    Finding finding;
    about(facts, id, finding);
    finding.severity = FindingSeverity::critical;
    finding.bytes = held;
    finding.percent = percent;
    const Sentence wanted = facts.get<Slogan>().refused_bytes.has()
                                ? sentence("{}", bytes(*facts.get<Slogan>().refused_bytes))
                                : Sentence(Ours("memory"));
    if (large) {
        finding.title.say("{} holds {} ({} of all processes') and was refused {} more", id, bytes(*held),
                          Percent{*percent}, wanted);
        // Of one that collects garbage the terms are on their way, and the queue is what is known.
        if (process.msgq_len.value_or(0) >= many_queued && contents(facts, id).empty())
            finding.title.say(", with {} in its queue", what_they_are(facts, id, *process.msgq_len));
        say_contents_or_work(facts, id, finding);
    } else
        finding.title.say("{} asked for {} at once, having {}; it {}", id, wanted, bytes(held.value_or(0)),
                          doing(facts, id));
    finding.confidence =
        facts.get<Death>().evidence == DeathEvidence::calling_thread ? Confidence::exact : Confidence::estimate;
    finding.evidence.push_back(figure(sentence("refused, for its {}", memory_type(facts.get<Slogan>())),
                                      facts.get<Slogan>().refused_bytes, AmountUnit::bytes));
    add_contents(facts, id, finding);
    if (is_last_straw(facts, held)) {
        finding.severity = FindingSeverity::medium;
        finding.title.say(", and is only the one that came last");
    }
    if (say_queue_copy(facts, id, finding)) {
        findings.push_back(std::move(finding));
        return true;
    }
    say_deep_stack(facts, id, finding);
    if (at_once) say_sharing(facts, id, finding);
    if (large && process.state != ProcessState::garbage_collecting)  // else its terms are being moved
        finding.advise("See which of its terms keeps most alive: {}", Command{"heap", process.pid});
    else finding.advise("See what it was doing: {}", Command{"proc", process.pid});
    add_steps(finding);
    findings.push_back(std::move(finding));
    return true;
}

// Where most of what a group holds is on no heap, and messages are in its queues, it is these.
bool say_messages(const Facts& facts, const ProcessGroups& groups, const ProcessGroup& group, std::uint64_t held,
                  const Sentence& sizes, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    std::uint64_t queued = 0, on_heaps = 0;
    ProcId example = ProcId::none;
    for (const ProcId id : groups.members_of(group)) {
        on_heaps = saturating_add(on_heaps, saturating_multiply(allocated_words(s[id]), s.source.word_size));
        queued = saturating_add(queued, s[id].msgq_len.value_or(0));
        if (example == ProcId::none && s[id].msgq_len.value_or(0) != 0) example = id;
    }
    if (queued == 0 || on_heaps >= held / 2) return false;
    finding.title.say("{}; most of it is {} in their queues", sizes, messages(queued));
    finding.evidence.push_back(figure("messages in their queues", queued, AmountUnit::count));
    finding.evidence.push_back(figure("of their memory, on heaps", on_heaps, AmountUnit::bytes));
    finding.advise("See what these are, and who has sent them: {}", Command{"msgs", s[example].pid, "--by shape"});
    finding.advise(
        "A message is copied for each receiver. Send what is large to few, in parts, or where it is to be found (a "
        "table, a persistent term), and let receivers ask for more when they are ready.");
    return true;
}

// Messages that they have not taken, beside what fills their heaps.
void say_queues(const Facts& facts, const ProcessGroups& groups, const ProcessGroup& group, Finding& finding) {
    Sum queued;
    for (const ProcId id : groups.members_of(group)) queued.add(facts.snapshot()[id].msgq_len);
    const std::uint64_t all = queued.value().value_or(0);
    if (all < many_queued || all / group.count < many_queued_each) return;
    finding.title.say(", and have {} in their queues", messages(all));
    if (const TermFacts* const seen = facts.get<SuspectTerms>().of(group.example);
        seen != nullptr && !seen->shapes.empty())
        finding.title.say(", {} of the longest one's {}", Percent{seen->shapes.front().percent},
                          term(seen->shapes.front().text));
    finding.evidence.push_back(figure("messages in their queues", all, AmountUnit::count));
    finding.advise("See what these are, and who has sent them: {}",
                   Command{"msgs", facts.snapshot()[group.example].pid, "--by shape"});
}

// What most processes of a group do, where they do the same.
void say_common_work(const Facts& facts, const ProcessGroups& groups, const ProcessGroup& group, Finding& finding) {
    std::map<std::uint32_t, std::uint64_t> functions;
    for (const ProcId id : groups.members_of(group))
        if (const FunctionId function = facts.snapshot()[id].current_function; function != FunctionId::none)
            ++functions[index_of(function)];
    if (functions.empty()) return;
    const auto& [function, count] =
        *std::ranges::max_element(functions, {}, [](const auto& each) { return each.second; });
    if (count * 2 > group.count && FunctionId{function} != group.function)
        finding.title.say("; {} of them are in {}", number(count), FunctionId{function});
}

// Who was refused as much as each of them has, for a term that was to be put beside a heap, as a message is: it sends
// the same to one after the other.
void say_sender(const Facts& facts, const ProcessGroup& group, std::uint64_t each, Finding& finding) {
    const Slogan& slogan = facts.get<Slogan>();
    const ProcId sender = facts.get<Death>().process;
    const std::uint64_t refused = slogan.refused_bytes.value_or(0);
    if (slogan.kind != SloganKind::out_of_memory || slogan.memory_type != "heap_frag" || sender == ProcId::none ||
        first_call(facts.snapshot()[sender]) == group.function || refused < each / 2 || refused / 2 > each)
        return;
    finding.title.say("; {} was refused {} for one more message as large, which it most likely sends to all of them",
                      sender, bytes(refused));
    finding.evidence.push_back(
        fact("who sends it", sentence("{}: {}", sender, frames_text(facts, sender)), Confidence::estimate));
    finding.advise(
        "A message is copied for each receiver. Send what is large to few, in parts, or where it is to be found (a "
        "table, a persistent term): {}",
        Command{"proc", facts.snapshot()[sender].pid});
}

// Whether what is known of their heaps is mostly garbage, which idle-garbage tells.
bool mostly_garbage(const Snapshot& s, std::span<const ProcId> members) {
    Sum live, garbage;
    for (const ProcId id : members) {
        live.add(s[id].live_words);
        garbage.add(s[id].garbage_words);
    }
    return garbage.value().value_or(0) > live.value().value_or(0);
}

// What a typical one of them holds, where that is known.
bool say_typical(const Facts& facts, const ProcessGroup& group, Finding& finding) {
    const auto alike = alike_processes(facts);
    if (!alike || alike->function != group.function) return false;
    finding.title.say("; {}", alike->what);
    add_alike(facts, *alike, finding);
    return true;
}

void add_group(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const Count all = all_process_bytes(facts);
    const ProcessGroups& groups = facts.get<ProcessKinds>().groups;
    for (const ProcessGroup& group : groups.groups) {
        const std::uint64_t held = group.memory_bytes.value().value_or(0);
        if (group.count < least_of_group || group.function == FunctionId::none) continue;
        if (held < least_group_bytes || held / group.count < least_each) continue;
        const double percent = percent_of(held, all).value_or(0);
        if (percent < group_percent || percent_of(held, node_bytes(facts)).value_or(0) < group_of_node_percent)
            continue;
        const Count largest = process_bytes(facts, s[group.example]);
        if (percent_of(largest, all).value_or(100) >= medium_percent) continue;  // it is told by itself
        if (held < high_bytes && mostly_garbage(s, groups.members_of(group))) continue;
        Finding finding;
        finding.severity =
            facts.get<Slogan>().kind == SloganKind::out_of_memory ? FindingSeverity::high : FindingSeverity::medium;
        finding.subject = {SubjectKind::group, sentence("{}", group.function)};
        finding.count = group.count;
        finding.bytes = held;
        finding.percent = percent;
        finding.title.say("{} of {} hold {}", processes(group.count), group.function, bytes(held));
        finding.evidence = {figure("their memory", held, AmountUnit::bytes), share("of all processes' memory", percent),
                            figure("on average", held / group.count, AmountUnit::bytes),
                            fact("the largest", sentence("{}", group.example))};
        if (const TermFacts* seen = facts.get<SuspectTerms>().of(group.example);
            seen != nullptr && !seen->accumulation.empty())
            finding.evidence.push_back(
                fact("most of the largest one's heap", seen->accumulation, seen->accumulation_confidence));
        add_stack(facts, group.example, finding);
        const Sentence sizes =
            sentence(" ({} of all processes'), up to {} each", Percent{percent}, bytes(largest.value_or(0)));
        if (!say_messages(facts, groups, group, held, sizes, finding)) {
            if (!say_typical(facts, group, finding)) {
                finding.title.add(sizes);
                say_queues(facts, groups, group, finding);
                say_common_work(facts, groups, group, finding);
            }
            say_sender(facts, group, largest.value_or(0), finding);
            finding.advise("See which terms of one keep most alive: {}", Command{"heap", s[group.example].pid});
            finding.advise(
                "Bound how many work at a time, or let each read in pieces what it copies (a table, a file, an "
                "answer).");
        }
        findings.push_back(std::move(finding));
        return;
    }
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const bool refused = add_refused(facts, findings);
    if (!refused) add_group(facts, findings);
    const Count all = all_process_bytes(facts);
    const std::vector<ProcId> everybody = all_processes(facts.snapshot());
    for (const ProcId id : largest(facts.snapshot(), everybody, most_findings)) {
        const Count held = process_bytes(facts, facts.snapshot()[id]);
        const auto percent = percent_of(held, all);
        if (held.value_or(0) < least_bytes || percent.value_or(0) < medium_percent) break;
        if ((refused && id == facts.get<Death>().process) || fills_its_stack(facts, id) ||
            id == facts.get<ApplicationCircle>().process)
            continue;
        if (facts.get<Dying>().reports(id) || facts.snapshot()[id].state == ProcessState::exiting) continue;
        // What a long queue weighs is said by queue-flood.
        if (facts.snapshot()[id].msgq_len.value_or(0) >= 10'000 || is_relations(facts, id)) continue;
        Finding finding;
        about(facts, id, finding);
        finding.severity =
            *percent >= high_percent && *held >= high_bytes ? FindingSeverity::high : FindingSeverity::medium;
        if (is_left_over(facts, id)) finding.severity = FindingSeverity::info;
        finding.bytes = held;
        finding.percent = percent;
        const HeldUp around = contents(facts, id).empty() ? HeldUp{} : held_up_around(facts, id);
        if (around.count == 0) {
            finding.title.say("{} holds {} ({} of all processes')", id, bytes(*held), Percent{*percent});
            say_contents_or_work(facts, id, finding);
        } else {
            finding.title.say("{} holds {}: {}", id, bytes(*held), facts.get<SuspectTerms>().of(id)->accumulated);
            const Sentence who = around.watched      ? sentence("; {} that it watches", number(around.count))
                                 : around.count == 1 ? sentence("; {} that watches it", number(around.count))
                                                     : sentence("; {} that watch it", number(around.count));
            finding.title.add(who);
            if (around.end != ProcId::none)
                finding.title.say(
                    around.count == 1 ? Form<2>(" waits for {}, which {}") : Form<2>(" wait for {}, which {}"),
                    around.end, doing(facts, around.end));
            else finding.title.say(around.count == 1 ? Form<1>(" sits in {}") : Form<1>(" sit in {}"), around.function);
            finding.title.add(outside(facts, around.end == ProcId::none ? around.example : around.end));
            finding.evidence.push_back(
                fact("one of those around it", sentence("{}: {}", around.example, frames_text(facts, around.example))));
            finding.advise("See why those that it works for do not go on: {}",
                           Command{"proc", facts.snapshot()[around.example].pid});
        }
        add_contents(facts, id, finding);
        say_traces(facts, id, finding);
        say_ended_children(facts, id, finding);
        if (around.count == 0) say_awaited(facts, id, finding);
        finding.evidence.push_back(figure("memory of all processes", all, AmountUnit::bytes));
        finding.advise("See which of its terms keeps most alive: {}", Command{"heap", facts.snapshot()[id].pid});
        add_steps(finding);
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace big_heap_rule

Rule big_heap() { return {"big-heap", 80, big_heap_rule::run}; }

}  // namespace beamheap::analyses::rule
