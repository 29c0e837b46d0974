// SPDX-License-Identifier: Apache-2.0
// queue-flood: a process gets messages faster than it handles them.
//
// Theory. A send never blocks, so nothing stops senders who outrun a receiver: its queue grows until memory ends. A
// long queue also slows the receiver down, because every selective receive and every call that it makes itself scans
// the queue, and each garbage collection copies what is in its heap. Whether it is slow, stuck or waiting for somebody
// tells who is to blame: one that waits for another is its victim.
//
// Thresholds: 1,000 messages are medium (the default of OTP's queue_fun.awk and of many mailbox limits), 10,000 are
// high, 100,000 or a quarter of all process memory with at least 10,000 messages are critical. More than five such
// processes are counted, not listed. Processes of one kind with less than 1,000 each, 50 on average and 20,000 in all
// are medium together, with 100,000 high; so are ten of one kind that have a quarter of the longest queue or more each,
// and 10,000 in all, which weigh at least what the longest does. A queue whose messages keep binaries of 8 MiB that are
// 30 % of the node's memory is high, however short it is.
#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/relations.hpp"
#include "analyses/processes/senders.hpp"
#include "analyses/rules/log_callers.hpp"
#include "analyses/rules/message_forms.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/functions.hpp"
#include "erlang/registered.hpp"
#include "erlang/servers.hpp"
#include "model/otp_release.hpp"

namespace beamheap::analyses::rule {
namespace queue_flood_rule {
namespace {

constexpr std::uint64_t medium_messages = 1'000;
constexpr std::uint64_t high_messages = 10'000;
constexpr std::uint64_t critical_messages = 100'000;
constexpr double critical_percent = 25;
constexpr std::uint64_t critical_bytes = 64u << 20;
constexpr std::uint64_t many_binary_bytes = 8u << 20;
constexpr double many_binary_percent = 30;
constexpr double all_percent = 100, nearly_all = 99;
constexpr double of_two_percent = 95;  // of the messages, that are of two forms
constexpr std::uint64_t least_timers = 10;
constexpr std::size_t most_findings = 5;
constexpr std::uint64_t least_of_group = 20'000, least_each = 50;  // messages of one kind of process, and on average
constexpr std::size_t least_alike = 10;                            // whose queues are long, and told together
constexpr std::uint64_t part_of_longest = 4;                       // each has at least a quarter of the longest
constexpr std::uint64_t least_of_long = 10'000;                    // messages of all of these

FindingSeverity severity_of(std::uint64_t messages, std::uint64_t bytes, double percent) {
    if (messages >= critical_messages ||
        (messages >= high_messages && percent >= critical_percent && bytes >= critical_bytes))
        return FindingSeverity::critical;
    return messages >= high_messages ? FindingSeverity::high : FindingSeverity::medium;
}

// The binaries that its messages keep, where these are much of the node.
Count heavy_binaries(const Facts& facts, ProcId id) {
    const TermFacts* seen = facts.get<SuspectTerms>().of(id);
    if (seen == nullptr || seen->message_binary_bytes.value_or(0) < many_binary_bytes) return {};
    const double percent = percent_of(seen->message_binary_bytes, node_bytes(facts)).value_or(0);
    return percent >= many_binary_percent ? seen->message_binary_bytes : Count();
}

// A process by its name, where it has one, else by its pid alone.
Sentence sender(const Facts& facts, const TermFacts::FromSender& from) {
    if (!from.sender.pid.has()) return sentence("{}", from.sender.port);
    const ProcId known = facts.snapshot().find(from.sender.pid);
    if (known != ProcId::none && facts.snapshot()[known].name != TextId::none) return sentence("{}", known);
    return sentence("{}", from.sender.pid);
}

void add_contents(const Facts& facts, ProcId id, Finding& finding) {
    const TermFacts* seen = facts.get<SuspectTerms>().of(id);
    if (seen == nullptr) return;
    if (!seen->accumulated.empty() && seen->accumulated_bytes > finding.bytes.value_or(0) / 2)
        finding.behind.say("Most of its memory is not its queue: {} ({})", seen->accumulated,
                           bytes(seen->accumulated_bytes));
    else if (!seen->accumulation.empty())
        finding.evidence.push_back(fact("most of its heap", seen->accumulation, seen->accumulation_confidence));
    const Confidence confidence = seen->messages_read == finding.count ? Confidence::exact : Confidence::estimate;
    for (const TermFacts::Share& shape : seen->shapes)
        finding.evidence.push_back(
            share(sentence("messages of the form {}", term(shape.text)), shape.percent, confidence));
    for (const TermFacts::FromSender& from : seen->senders)
        finding.evidence.push_back(
            share(sentence("messages that {} is named in as sender", sender(facts, from)), from.percent, confidence));
    // Who alone fills a queue is told with it, unless the form of the message says that it is nobody's doing.
    if (finding.behind.empty() && !seen->senders.empty() && seen->senders.front().percent >= known_percent &&
        seen->senders.front().sender.pid.has() && !(seen->senders.front().sender.pid == facts.snapshot()[id].pid)) {
        const TermFacts::FromSender& most = seen->senders.front();
        if (most.percent >= all_percent)
            finding.behind.say("All of these messages name {} as their sender", sender(facts, most));
        else
            finding.behind.say("{} of these messages name {} as their sender", Percent{most.percent},
                               sender(facts, most));
    }
}

// Whether it is the process of a log handler, behind its protection against overload.
bool protects_log(const Snapshot& s, const Process& process) {
    return has_role(s, process.real_initial_call, erlang::FunctionRole::protects_log) ||
           (process.name != TextId::none &&
            erlang::has_role(s.text(process.name), erlang::RegisteredRole::protects_log));
}

// Of a log handler, whose events name nobody, who logs at this moment: "5 processes are logging, in checkout:audit/2".
void say_who_logs(const Facts& facts, ProcId id, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    if (!finding.behind.empty() || !protects_log(s, s[id])) return;
    const LogCallers callers = log_callers(s);
    if (callers.processes == 0) return;
    finding.evidence.push_back(
        figure(sentence("processes that log in {}", callers.function), callers.processes, AmountUnit::count));
    if (callers.processes == 1) finding.behind.say("{} is logging, in {}", callers.example, callers.function);
    else
        finding.behind.say("{} are logging in {}, {} one of them", processes(callers.processes), callers.function,
                           callers.example);
}

// Whether its messages are results of tasks, {Ref, Result}, and as many ends of these.
bool are_of_tasks(const Facts& facts, ProcId id) {
    constexpr double least_of_each = 40;
    return share_of_messages(facts, id, {"{'DOWN',reference(),process"}) >= least_of_each &&
           share_of_messages(facts, id, {"{reference(),"}) >= least_of_each;
}

// The form of messages in a queue, as a sentence says it.
struct MessageForm {
    std::string all;  // which all have: "{frame,integer(),...}"; else empty
    Sentence some;  // which most have, or two forms: ", 97 % of them keepalive", ", 50 % of them {reference(),...} and
                    // 50 % {'DOWN',...}"; else empty
};

// The program's function for which the owner of a long queue sends to a port, where the receive of the port's answer
// looks through all of that queue (GH-6455 of OTP, mended in 26); none: it does not.
FunctionId scans_queue_for(const Facts& facts, ProcId id) {
    constexpr std::uint32_t marks_since = 26;
    const Snapshot& s = facts.snapshot();
    const std::uint32_t release = major_of_release(s.source.otp_release);
    if (release == 0 || release >= marks_since ||
        !has_role(s, s[id].current_function, erlang::FunctionRole::scans_queue))
        return FunctionId::none;
    return caller_of(s, s[id]);
}

// Of a queue whose owner waits for another process it is that one which tells.
MessageForm form_of_messages(const Facts& facts, ProcId id, std::uint64_t queued) {
    const TermFacts* seen = facts.get<SuspectTerms>().of(id);
    if (!(what_they_are(facts, id, queued) == messages(queued)) || seen == nullptr || seen->shapes.empty()) return {};
    const TermFacts::Share& first = seen->shapes.front();
    std::string form = short_form(first.text);
    if (form.empty()) return {};
    if (first.percent >= all_percent) return {std::move(form), {}};
    if (first.percent >= nearly_all) return {"", sentence(", nearly all {}", term(form))};
    if (first.percent >= known_percent) return {"", sentence(", {} of them {}", Percent{first.percent}, term(form))};
    if (seen->shapes.size() < 2 || first.percent + seen->shapes[1].percent < of_two_percent) return {};
    const std::string other = short_form(seen->shapes[1].text);
    if (other.empty()) return {};
    return {"", sentence(", {} of them {} and {} {}", Percent{first.percent}, term(form),
                         Percent{seen->shapes[1].percent}, term(other))};
}

// "; 400 timers send to it".
void say_timers(const Facts& facts, ProcId id, Finding& finding) {
    const std::uint64_t timers = timers_for(facts.snapshot(), id);
    if (timers < least_timers) return;
    finding.title.say("; {} send to it", Counted{timers, "timer", "timers"});
    finding.advise(
        "Each of its timers sends again before what it sent was taken: set one for all of them, and the next when the "
        "last one's work is done (`erlang:send_after/3`). See them: `beamheap timers DUMP`");
}

// What messages of the VM, and of OTP's calls, are there for.
void advise_on_known(const Facts& facts, ProcId id, Finding& finding) {
    if (share_of_messages(facts, id, {"{'EXIT',pid()"}) >= known_percent)
        finding.advise(
            "It traps exits, and does not take what comes of that: each process that it is linked to leaves one as it "
            "ends. Take `{'EXIT', Pid, Reason}` in `handle_info/2`, or start them by a supervisor, or without a link.");
    else if (share_of_messages(facts, id, {"{'DOWN',reference()"}) >= known_percent)
        finding.advise(
            "Each process that it has monitored leaves one as it ends: take `{'DOWN', Ref, process, Pid, Reason}` in "
            "`handle_info/2`, or let go of the monitor with `erlang:demonitor(Ref, [flush])`.");
    else if (share_of_messages(facts, id, {"{system,{pid()"}) >= known_percent)
        finding.advise(
            "These are system messages (`sys:get_status/1`, `sys:get_state/1`, suspend): somebody watches it as if it "
            "were a gen_server, and its loop does not take them. Take them (`sys:handle_system_msg/6`), or spare it.");
    else if (share_of_messages(facts, id, {"{trace,", "{trace_ts,"}) >= known_percent)
        finding.advise(
            "These are trace messages: stop the trace (`erlang:trace(all, false, [all])`, `dbg:stop/0`), or trace "
            "less; a tracer that prints or calls is slower than what it traces.");
    else if (share_of_messages(facts, id, {"{tcp,port()", "{udp,port()", "{ssl,"}) >= known_percent)
        finding.advise(
            "Sockets send it what they receive as fast as it arrives: let them wait for it with `{active, once}`, or "
            "`{active, N}`.");
    else if (share_of_messages(facts, id, {"{reference(),"}) >= known_percent)
        finding.advise(
            "Messages {Ref, Answer} are answers that came when nobody waited for them any more: of calls that ran out "
            "of time and were caught, or of tasks that nobody awaits. Drop them in `handle_info/2`, and see why "
            "answers are late.");
}

// Whether it works in a function that is no loop of OTP's, nor called by a library: it may look for one message among
// many.
bool in_own_receive(const Facts& facts, ProcId id) {
    const Snapshot& s = facts.snapshot();
    const Process& process = s[id];
    const bool at_work = process.state == ProcessState::running || process.state == ProcessState::runnable;
    return at_work && process.current_function != FunctionId::none && !is_idle_function(s, process.current_function) &&
           caller(s, process).empty();
}

// Whether it has looked at all of them and waits for another one.
bool takes_none(const Facts& facts, ProcId id) {
    return facts.snapshot()[id].state == ProcessState::waiting && facts.get<Waits>().edge(id) == nullptr &&
           !idle(facts, id) && !is_suspended(facts, id);
}

// What the one does that it waits for, or that one at the end of the chain.
void say_end(const Facts& facts, ProcId by, Finding& finding) {
    const WaitEdge* const next = facts.get<Waits>().edge(by);
    if (next == nullptr) {
        finding.title.say(", which {}", doing(facts, by));
        return;
    }
    const ProcId end = end_of_chain(facts.get<Waits>(), by);
    if (end == ProcId::none || end == by) return;
    finding.title.say(next->target.process == end ? Form<0>(", and that one for ") : Form<0>(", and in the end for "));
    finding.title.say("{}, which {}", end, doing(facts, end));
}

// How long its queue is, what that keeps, and what it does instead: whom it waits for, and who reads too slowly.
void say_queue(const Facts& facts, ProcId id, Finding& finding) {
    const std::uint64_t queued = *facts.snapshot()[id].msgq_len;
    const Count held = finding.bytes, binaries = heavy_binaries(facts, id);
    const auto percent = finding.percent;
    const WaitEdge* waits = facts.get<Waits>().edge(id);
    const Sentence reader = waits == nullptr ? Sentence() : slow_reader(facts.snapshot(), waits->target.port);
    const Sentence output = reader.empty() ? unread_output(facts, id) : Sentence();
    const MessageForm form = waits == nullptr ? form_of_messages(facts, id, queued) : MessageForm();
    if (form.all.empty()) finding.title.say("{} has {} in its queue", id, what_they_are(facts, id, queued));
    else finding.title.say("{} has {} {} in its queue", id, what_they_are(facts, id, queued), term(form.all));
    finding.title.add(form.some);
    if (binaries.has()) {
        finding.bytes = held + binaries;
        finding.percent = percent_of(binaries, node_bytes(facts));
        finding.title.say(", which keep {} of binaries", bytes(*binaries));
        if (reader.empty()) finding.title.say(" ({} of the node's memory)", Percent{finding.percent.value_or(0)});
    } else if (held.has() && percent && *percent >= 1) {
        finding.title.say(form.some.empty() ? Form<1>(" and {}") : Form<1>(", and {}"), bytes(*held));
        if (reader.empty() && output.empty()) finding.title.say(" ({} of all processes')", Percent{*percent});
    }
    if (waits != nullptr) {
        if (!reader.empty()) finding.title.say("; {}", reader);
        else if (!output.empty()) finding.title.say("; it prints, and {}", output);
        else
            finding.title.say("; it waits in {} for {}", waits->function, target_text(facts.snapshot(), waits->target));
        if (!reader.empty() || !output.empty())
            finding.evidence.push_back(
                fact("what it waits for",
                     sentence("{}, in {}", target_text(facts.snapshot(), waits->target), waits->function)));
        else if (const ProcId by = waits->target.process; by != ProcId::none) say_end(facts, by, finding);
    } else {
        finding.title.say("; it {}", doing(facts, id));
        if (is_suspended(facts, id)) finding.title.add(suspended_by(facts, id));
        if (const FunctionId by = scans_queue_for(facts, id); by != FunctionId::none) {
            finding.title.say(", called by {}: each answer of the port is looked for behind all of its messages", by);
            finding.advise(
                "A send to a socket is the slower, the longer the sender's queue is, up to OTP 25, so that the queue "
                "is never worked off: drop what is too old, send from a process of its own which nobody else writes "
                "to, or take OTP 26, which marks where the answer begins.");
        } else if (takes_none(facts, id)) {
            const Sentence by = works_for(facts.snapshot(), facts.snapshot()[id]);
            finding.title.add(by.empty() ? Sentence(Ours(", taking none")) : by);
        }
        if (const WaitFanIn* const fan = facts.get<Waits>().fan_in_of(id); fan != nullptr)
            finding.title.say(fan->reaching == 1 ? Form<1>(", and {} waits for it") : Form<1>(", and {} wait for it"),
                              processes(fan->reaching));
    }
    if (are_of_tasks(facts, id)) {
        finding.title.add(Ours("; most likely of tasks that it has started, whose results and ends it never takes"));
        finding.advise(
            "Start what nobody waits for so that it does not answer (`Task.Supervisor.start_child/2`, a plain spawn), "
            "or await each, or take both messages in its loop: `async_nolink` sends a result and a 'DOWN'.");
    }
    say_timers(facts, id, finding);
}

// Of all messages in queues. A running VM's queue may have grown since they were counted: they are not fewer.
double share_of_all(const Facts& facts, std::uint64_t queued) {
    const std::uint64_t all = facts.get<Totals>().messages.value().value_or(0);
    return percent_of(queued, std::max(all, queued)).value_or(100);
}

Finding finding_of(const Facts& facts, ProcId id) {
    const Process& process = facts.snapshot()[id];
    const std::uint64_t queued = *process.msgq_len;
    const Count held = process_bytes(facts, process);
    const auto percent = percent_of(held, all_process_bytes(facts));
    Finding finding;
    about(facts, id, finding);
    const Count binaries = heavy_binaries(facts, id);
    finding.severity = severity_of(queued, held.value_or(0), percent.value_or(0));
    if (binaries.has()) finding.severity = std::max(finding.severity, FindingSeverity::high);
    finding.count = queued;
    finding.bytes = held;
    finding.percent = percent;
    const WaitEdge* waits = facts.get<Waits>().edge(id);
    finding.role = waits == nullptr ? FindingRole::cause : FindingRole::victim;
    finding.of_waiting = true;
    say_queue(facts, id, finding);
    finding.evidence.push_back(figure("messages in its queue", queued, AmountUnit::count));
    finding.evidence.push_back(share("of all messages in queues", share_of_all(facts, queued)));
    finding.evidence.push_back(figure("its memory", held, AmountUnit::bytes));
    if (const TermFacts* seen = facts.get<SuspectTerms>().of(id);
        seen != nullptr && seen->message_binary_bytes.value_or(0) != 0)
        finding.evidence.push_back(figure("binaries that its messages keep", seen->message_binary_bytes,
                                          AmountUnit::bytes,
                                          seen->messages_read == queued ? Confidence::exact : Confidence::estimate));
    add_contents(facts, id, finding);
    say_who_logs(facts, id, finding);
    if (finding.behind.empty() && waits == nullptr && process.state != ProcessState::waiting)
        say_long_chain(facts.snapshot(), finding, process.pid);
    if (takes_none(facts, id))
        finding.evidence.push_back(
            fact("what it waits for", Ours("none of these messages: who is waiting has looked at all of them")));
    add_stack(facts, id, finding);
    finding.advise("See what the messages are and who sent them: {}", Command{"msgs", process.pid, "--by shape"});
    if (is_suspended(facts, id)) advise_to_resume(facts, id, finding);
    advise_on_known(facts, id, finding);
    if (waits != nullptr) finding.advise("Look at the one that it waits for first: `beamheap waits DUMP`");
    else if (const Ours advice = erlang::advice_on_flood(facts.snapshot().text(process.name)); !advice.empty())
        finding.next_steps.emplace_back(advice);
    if (in_own_receive(facts, id))
        finding.advise(
            "Where its receive takes only some of these, it looks at all the others first, again and again: take them "
            "as they come, or let another process take those it waits for.");
    finding.advise(
        "Nothing limits the senders: make them wait (a call), or let them or the receiver drop what is too much.");
    finding.advise(
        "As a fuse: `process_flag(max_heap_size, ...)` for the receiver, and `{message_queue_data, off_heap}` so that "
        "collections do not copy its queue.");
    return finding;
}

// Those of one kind whose queues are told together.
struct Crowd {
    FunctionId kind = FunctionId::none;
    std::vector<ProcId> members;  // whose queue is no small part of the longest one; of short queues all
    ProcId example = ProcId::none;
    std::uint64_t queued = 0, longest = 0;
};

// Many with queues that are none by themselves, or with queues that are as long as each other's: what they are sent is
// more than their kind takes, and none of them is to blame.
std::optional<Crowd> crowd_of(const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    if (facts.get<Totals>().messages.value().value_or(0) < least_of_long) return std::nullopt;
    std::vector<ProcId> having;
    for (const ProcId id : all_processes(s))
        if (s[id].msgq_len.value_or(0) != 0) having.push_back(id);
    if (having.empty()) return std::nullopt;
    const ProcessGroups groups = group_by_initial_call(s, having);
    const auto most = std::ranges::max_element(
        groups.groups, {}, [](const ProcessGroup& group) { return group.msgq_len.value().value_or(0); });
    Crowd crowd;
    crowd.kind = most->function;
    crowd.example = *std::ranges::max_element(groups.members_of(*most), {}, [&](ProcId id) { return *s[id].msgq_len; });
    crowd.longest = *s[crowd.example].msgq_len;
    const bool are_long = crowd.longest >= medium_messages;
    for (const ProcId id : groups.members_of(*most)) {
        if (are_long && *s[id].msgq_len < crowd.longest / part_of_longest) continue;
        crowd.members.push_back(id);
        crowd.queued = saturating_add(crowd.queued, *s[id].msgq_len);
    }
    std::ranges::sort(crowd.members);
    if (crowd.kind == FunctionId::none) return std::nullopt;
    if (are_long) {
        if (crowd.members.size() < least_alike || crowd.queued < least_of_long) return std::nullopt;
    } else if (crowd.queued < least_of_group || crowd.queued / crowd.members.size() < least_each) {
        return std::nullopt;
    }
    return crowd;
}

// For whom most of them wait in the end; none: for nobody, or each for another.
ProcId common_end(const Facts& facts, const Crowd& crowd) {
    std::map<ProcId, std::uint64_t> ends;
    for (const ProcId id : crowd.members)
        if (const ProcId end = end_of_chain(facts.get<Waits>(), id); end != ProcId::none && end != id) ++ends[end];
    const auto most = std::ranges::max_element(ends, {}, [](const auto& each) { return each.second; });
    return most == ends.end() || most->second * 2 <= crowd.members.size() ? ProcId::none : most->first;
}

void say_crowd(const Facts& facts, const Crowd& crowd, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const Sentence kind = sentence("{}", crowd.kind);
    const ProcId end = common_end(facts, crowd);
    const MessageForm form =
        end == ProcId::none ? form_of_messages(facts, crowd.example, crowd.longest) : MessageForm();
    finding.title.say("{} of {} have {} ", processes(crowd.members.size()), kind,
                      what_they_are(facts, crowd.example, crowd.queued));
    if (!form.all.empty()) finding.title.say("{} ", term(form.all));
    finding.title.say("in their queues, up to {} each", number(crowd.longest));
    if (end != ProcId::none) finding.title.say("; they wait for {}, which {}", end, doing(facts, end));
    else
        finding.title.say("; one of them {}", doing_for(facts, crowd.example, works_for_function(s, s[crowd.example])));
}

Finding finding_of(const Facts& facts, const Crowd& crowd) {
    const Snapshot& s = facts.snapshot();
    Finding finding;
    Sum held;
    std::uint64_t waits = 0;
    for (const ProcId id : crowd.members) {
        held.add(process_bytes(facts, s[id]));
        waits += facts.get<Waits>().edge(id) != nullptr;
    }
    finding.bytes = held.value();
    finding.percent = percent_of(finding.bytes, all_process_bytes(facts));
    finding.severity = crowd.queued >= critical_messages ? FindingSeverity::high : FindingSeverity::medium;
    if (crowd.longest >= medium_messages)
        finding.severity = std::max(finding.severity,
                                    severity_of(crowd.longest, finding.bytes.value_or(0), finding.percent.value_or(0)));
    finding.subject = {SubjectKind::group, sentence("{}", crowd.kind)};
    finding.count = crowd.queued;
    finding.of_waiting = true;
    finding.role = waits * 2 > crowd.members.size() ? FindingRole::victim : FindingRole::cause;
    say_crowd(facts, crowd, finding);
    finding.evidence = {figure("messages in their queues", crowd.queued, AmountUnit::count),
                        share("of all messages in queues", share_of_all(facts, crowd.queued)),
                        figure("the longest queue", crowd.longest, AmountUnit::count),
                        figure("their memory", finding.bytes, AmountUnit::bytes)};
    add_stack(facts, crowd.example, finding);
    finding.advise("See what the messages are, of one of them: {}",
                   Command{"msgs", s[crowd.example].pid, "--by shape"});
    if (finding.role == FindingRole::victim)
        finding.advise("Look at the one that they wait for first: `beamheap waits DUMP`");
    finding.advise(
        "What is sent to all of them at once is more than they take: send less often, or what has changed only, and "
        "let each drop what is old.");
    return finding;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const std::optional<Crowd> crowd = crowd_of(facts);
    if (crowd) findings.push_back(finding_of(facts, *crowd));
    const auto is_told = [&](ProcId id) { return crowd && std::ranges::binary_search(crowd->members, id); };
    std::vector<ProcId> flooded;
    for (std::uint32_t i = 0; i < facts.snapshot().processes.size(); ++i)
        if (facts.snapshot().processes[i].msgq_len.value_or(0) >= medium_messages ||
            heavy_binaries(facts, ProcId{i}).has())
            flooded.push_back(ProcId{i});
    std::erase_if(flooded, [&](ProcId id) { return is_told(id) && !heavy_binaries(facts, id).has(); });
    if (flooded.empty()) return;
    const std::vector<ProcId> worst = largest(facts.snapshot(), flooded, &Process::msgq_len, most_findings);
    for (const ProcId id : worst) findings.push_back(finding_of(facts, id));
    if (flooded.size() > worst.size())
        findings.back().evidence.push_back(
            figure("more processes with 1,000 messages or more", flooded.size() - worst.size(), AmountUnit::count));
}

}  // namespace
}  // namespace queue_flood_rule

Rule queue_flood() { return {"queue-flood", 70, queue_flood_rule::run}; }

}  // namespace beamheap::analyses::rule
