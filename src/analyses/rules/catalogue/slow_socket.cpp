// SPDX-License-Identifier: Apache-2.0
// slow-socket: processes that wait because what they send to does not take it.
//
// Theory. A port whose other side reads slowly or not at all (a stuck client, a full disk, a terminal that nobody looks
// at) queues what is sent; above its high watermark it is busy. Who sends then is held up (senders.hpp), its mailbox
// grows, and so does the node: what one sees first, processes and binaries, is the consequence. A connection mostly has
// one process that writes to it, so that the disease is seen by counting over all connections, not at any one.
//
// Thresholds: two held senders are medium (one may be anybody's last packet). Ten are high if they are half of all
// processes that run the same function: servers whose clients come and go always have a few slow ones. Where nobody
// waits, queues of 1 MiB and more that are 64 MiB and a fifth of the node's memory together are medium, three tenths
// high.
//
// Who has sent all of a request and was told so is idle until the answer comes, which can't come while the request lies
// in the port: there others wait for that one. Two of them, where 64 KiB lie in the ports of one kind of owner, are
// medium, ten are high; ten who wait for one owner are wait-convoy's.
#include <algorithm>
#include <map>
#include <set>

#include "analyses/base/sum.hpp"
#include "analyses/processes/frame_marks.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace slow_socket_rule {
namespace {

constexpr std::size_t least_senders = 2;
constexpr std::size_t many_senders = 10;
constexpr double many_percent = 50;
constexpr std::size_t most_findings = 3;
constexpr std::uint64_t full_queue = 1u << 20, full_queues = 64u << 20;  // bytes, of one and of all
constexpr double full_percent = 20, full_high_percent = 30;

// Senders of one story: all of one port, or the only ones of several ports.
struct Story {
    std::vector<HeldSender> senders;
    std::vector<std::size_t> ports;  // that they wait for; sockets that are no ports are not among them
};

// How many of the processes that a sender is one of are held up: those with the same function on their stacks.
std::optional<double> share_of_kind(const Facts& facts, const Story& story) {
    std::set<FunctionId> callers;
    for (const HeldSender& sender : story.senders)
        if (sender.caller != FunctionId::none) callers.insert(sender.caller);
    const std::vector<std::uint8_t> marks =
        marks_of_stacks(facts.snapshot(), [&](FunctionId id) { return callers.contains(id); });
    std::uint64_t of_kind = 0;
    for (const Process& process : facts.snapshot().processes) of_kind += mark_of(marks, process);
    return percent_of(std::uint64_t{story.senders.size()}, of_kind);
}

FunctionId usual_caller(const Story& story) {
    std::map<FunctionId, std::uint64_t> counts;
    for (const HeldSender& sender : story.senders)
        if (sender.caller != FunctionId::none) ++counts[sender.caller];
    if (counts.empty()) return FunctionId::none;
    return std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
}

struct Sums {
    std::uint64_t messages = 0;
    Sum held, queued, referred;
};

Sums sums_of(const Facts& facts, const Story& story) {
    const Snapshot& s = facts.snapshot();
    Sums sums;
    for (const HeldSender& sender : story.senders) {
        sums.messages += s[sender.process].msgq_len.value_or(0);
        sums.held.add(process_bytes(facts, s[sender.process]));
        sums.referred.add(words_to_bytes(virtual_heap_words(s[sender.process]), s.source.word_size));
    }
    for (const std::size_t port : story.ports) sums.queued.add(s.ports[port].queue_bytes);
    return sums;
}

void say_one_port(const Facts& facts, const Story& story, const Sums& sums, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const Port& port = s.ports[story.ports.front()];
    const ProcId owner = s.find(port.connected);
    finding.subject = {
        SubjectKind::port,
        sentence("{} of {}", names(s.text(port.driver).substr(0, s.text(port.driver).find(' '))),
                 owner == ProcId::none ? Sentence(Ours("a process that is gone")) : process_subject(facts, owner))};
    finding.process = owner;
    finding.pid = port.connected;
    finding.title.say("{} processes wait because {} is busy", number(story.senders.size()),
                      port_words(facts.snapshot(), port));
    if (sums.queued.value().value_or(0) != 0)
        finding.title.say(", with {} that nobody has taken from it", bytes(*sums.queued.value()));
    finding.title.say("; its owner is {}", AnyProcess{port.connected});
}

void say_many(const Story& story, const Sums& sums, FunctionId caller, double percent, Finding& finding) {
    finding.subject = {SubjectKind::group,
                       caller == FunctionId::none ? Sentence(Ours("senders")) : sentence("senders in {}", caller)};
    const std::size_t sockets = story.senders.size();
    finding.title.say("{} processes", number(sockets));
    if (caller != FunctionId::none) finding.title.say(" in {} ({} of them)", caller, Percent{percent});
    finding.title.say(" wait to send to {} that take nothing more",
                      Counted{story.ports.empty() ? sockets : story.ports.size(), "connection", "connections"});
    Sentence lie;
    if (sums.queued.value().value_or(0) != 0) lie.say("{}", bytes(*sums.queued.value()));
    if (sums.messages != 0) {
        if (!lie.empty()) lie.add(Ours(" and "));
        lie.say("{}", messages(sums.messages));
    }
    if (!lie.empty()) finding.title.say("; {} are stuck there", lie);
}

void advise(const Facts& facts, const Story& story, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    const bool descriptor = story.ports.size() == 1 && s.text(s.ports[story.ports.front()].kind) == "fd";
    if (descriptor)
        finding.advise(
            "Look at what reads the node's output: a terminal that is stopped, a pipe whose reader hangs, a log "
            "collector or a container's log with a full disk. Nothing that prints goes on until it reads.");
    else finding.advise("Look at the other side: what reads from this socket, pipe or file, and why does it not?");
    finding.advise(
        "Bound the wait: {send_timeout, T} with {send_timeout_close, true} on sockets, or `gen_tcp:send/2` by a "
        "process of its own, and a bound on what may wait in the sender's mailbox.");
    if (!story.ports.empty()) finding.advise("See ports, their queues and owners: `beamheap ports DUMP`");
    finding.advise("See who waits, and where: {}", Command{"proc", s[story.senders.front().process].pid});
}

Finding finding_of(const Facts& facts, const Story& story) {
    Finding finding;
    const Sums sums = sums_of(facts, story);
    const double percent = share_of_kind(facts, story).value_or(100);
    const bool one_port = story.ports.size() == 1 && story.senders.front().port;
    const bool many = story.senders.size() >= many_senders && (one_port || percent >= many_percent);
    finding.severity = many ? FindingSeverity::high : FindingSeverity::medium;
    finding.count = story.senders.size();
    finding.bytes = sums.queued.value();
    finding.percent = percent;
    const FunctionId caller = usual_caller(story);
    if (one_port) say_one_port(facts, story, sums, finding);
    else say_many(story, sums, caller, percent, finding);
    if (!story.ports.empty())
        finding.evidence.push_back(figure(one_port ? Ours("waiting in the port") : Ours("waiting in the ports"),
                                          sums.queued.value(), AmountUnit::bytes));
    finding.evidence.push_back(figure("messages in the queues of those who wait", sums.messages, AmountUnit::count));
    finding.evidence.push_back(figure("memory that they hold", sums.held.value(), AmountUnit::bytes));
    if (sums.referred.value().value_or(0) != 0)
        finding.evidence.push_back(
            figure("binaries that they refer to", sums.referred.value(), AmountUnit::bytes, Confidence::estimate));
    finding.evidence.push_back(fact("one of them", sentence("{}", story.senders.front().process)));
    add_stack(facts, story.senders.front().process, finding);
    for (const HeldSender& sender : story.senders) finding.members.push_back(sender.process);
    advise(facts, story, finding);
    return finding;
}

// Data that nobody takes, though nobody waits for that: senders that were answered when their data was queued.
void add_full_queues(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    std::uint64_t ports = 0, queued = 0;
    const Port* fullest = nullptr;
    for (const Port& port : s.ports) {
        const std::uint64_t lies = port.queue_bytes.value_or(0);
        if (lies < full_queue) continue;
        ++ports;
        queued = saturating_add(queued, lies);
        if (fullest == nullptr || lies > fullest->queue_bytes.value_or(0)) fullest = &port;
    }
    const double percent = percent_of(queued, node_bytes(facts)).value_or(0);
    if (fullest == nullptr || queued < full_queues || percent < full_percent) return;
    Finding finding;
    finding.severity = percent >= full_high_percent ? FindingSeverity::high : FindingSeverity::medium;
    finding.subject = {SubjectKind::port, Ours("queues of ports")};
    finding.count = ports;
    finding.bytes = queued;
    finding.percent = percent;
    finding.title.say(
        "{} ({} of the node's memory) lie in the queues of {} that take nothing more; the fullest, {}, is {}'s",
        bytes(queued), Percent{percent}, Counted{ports, "port", "ports"}, fullest->port, fullest->connected);
    finding.evidence = {figure("waiting in the ports", queued, AmountUnit::bytes),
                        figure("in the fullest of them", fullest->queue_bytes, AmountUnit::bytes)};
    finding.advise("Look at the other side: what reads from there, and why does it not?");
    finding.advise("Send large data in pieces, and bound the wait: {send_timeout, T} with {send_timeout_close, true}.");
    finding.advise("See ports, their queues and owners: `beamheap ports DUMP`");
    findings.push_back(std::move(finding));
}

// Owners of one kind, each with data in its port that nobody takes, and with others who wait for it.
struct Awaited {
    std::vector<std::size_t> ports;
    std::vector<ProcId> waiters;
    FunctionId call = FunctionId::none;  // that most likely all of them are in
    std::uint64_t queued = 0;
};

std::map<FunctionId, Awaited> awaited_owners(const Facts& facts) {
    const Snapshot& s = facts.snapshot();
    const Waits& waits = facts.get<Waits>();
    std::map<FunctionId, Awaited> kinds;
    for (std::size_t i = 0; i < s.ports.size(); ++i) {
        const Port& port = s.ports[i];
        const ProcId owner = port.connected.has() ? s.find(port.connected) : ProcId::none;
        if (port.queue_bytes.value_or(0) < least_unsent || owner == ProcId::none || !idle(facts, owner)) continue;
        const WaitFanIn* const fan = waits.fan_in_of(owner);
        if (fan == nullptr || fan->waiters >= crowd::least) continue;
        Awaited& kind = kinds[first_call(s[owner])];
        kind.ports.push_back(i);
        kind.queued = saturating_add(kind.queued, *port.queue_bytes);
        for (const std::uint32_t edge : waits.waiters_of(*fan)) {
            kind.waiters.push_back(waits.edges[edge].waiter);
            kind.call = waits.edges[edge].function;
        }
    }
    return kinds;
}

// "2 connections of httpc_handler:init/1 have 2.3 MiB that nobody takes at their other ends; 12 processes wait for
// these in httpc:handle_answer/3"
void add_awaited(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    for (const auto& [owner, kind] : awaited_owners(facts)) {
        if (kind.waiters.size() < least_senders) continue;
        const Port& first = s.ports[kind.ports.front()];
        const bool one = kind.ports.size() == 1;
        Finding finding;
        about(facts, s.find(first.connected), finding);
        finding.severity = kind.waiters.size() >= many_senders ? FindingSeverity::high : FindingSeverity::medium;
        finding.of_waiting = true;
        finding.count = kind.waiters.size();
        finding.bytes = kind.queued;
        finding.members = kind.waiters;
        if (one)
            finding.title.say("{} of {} has {} that nobody takes at its other end", port_words(s, first),
                              s.find(first.connected), bytes(kind.queued));
        else
            finding.title.say(
                "{} of {} have {} that nobody takes at their other ends",
                Counted{kind.ports.size(), "connection", "connections"},
                owner == FunctionId::none ? Sentence(Ours("processes of one kind")) : sentence("{}", owner),
                bytes(kind.queued));
        finding.title.say("; {} wait for {} in {}", processes(kind.waiters.size()),
                          one ? Ours("the answer") : Ours("the answers"), kind.call);
        finding.evidence = {
            figure(one ? Ours("waiting in the port") : Ours("waiting in the ports"), kind.queued, AmountUnit::bytes),
            fact("one of them", sentence("{}", kind.waiters.front()))};
        add_stack(facts, kind.waiters.front(), finding);
        finding.advise("Look at the other side: what reads from there, and why does it not?");
        finding.advise(
            "Give each request a time to live ({timeout, T} of its options): whoever waits without one waits for ever, "
            "and so does who comes behind it on the same connection.");
        finding.advise("See ports, their queues and owners: `beamheap ports DUMP`");
        finding.advise("See who waits, and where: {}", Command{"proc", s[kind.waiters.front()].pid});
        findings.push_back(std::move(finding));
    }
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    std::map<std::size_t, std::vector<HeldSender>> by_port;
    std::map<std::uint32_t, Story> alone;  // by kind: the caller's function
    for (const HeldSender& sender : held_senders(facts.snapshot(), facts.get<Waits>())) {
        if (sender.port) by_port[*sender.port].push_back(sender);
        else alone[index_of(sender.caller)].senders.push_back(sender);
    }
    std::vector<Story> stories;
    for (auto& [port, senders] : by_port) {
        if (senders.size() >= least_senders) {
            stories.push_back({std::move(senders), {port}});
        } else {
            Story& story = alone[index_of(senders.front().caller)];
            story.senders.push_back(senders.front());
            story.ports.push_back(port);
        }
    }
    for (auto& [caller, story] : alone)
        if (story.senders.size() >= least_senders) stories.push_back(std::move(story));
    std::ranges::stable_sort(stories, std::ranges::greater(), [](const Story& story) { return story.senders.size(); });
    if (stories.size() > most_findings) stories.resize(most_findings);
    for (const Story& story : stories) findings.push_back(finding_of(facts, story));
    const std::size_t told = findings.size();
    add_awaited(facts, findings);
    if (stories.empty() && findings.size() == told) add_full_queues(facts, findings);
}

}  // namespace
}  // namespace slow_socket_rule

Rule slow_socket() { return {"slow-socket", 60, slow_socket_rule::run}; }

}  // namespace beamheap::analyses::rule
