// SPDX-License-Identifier: Apache-2.0
// node-hung: many processes wait for another node.
//
// Theory. Calls to another node wait for it as long as it is connected, and it stays so for up to a minute
// (net_ticktime) after it has stopped to answer; calls without a timeout wait all that time and more. Who sends to it
// is suspended when the connection's queue is full: the connection's port is busy, and each sender stands in a trap of
// the VM. Whom a call waits for is known by its monitor: the other node is in the pid, beside the name, or where the
// new process was asked.
//
// The process of the connection knows how long nothing has come from the node: net_kernel's ticker has it look several
// times in net_ticktime (analyses/logs/service_states.hpp). Silence of some ticks is a proof that the node, or the way
// to it, hangs.
//
// Who waits for one of those that wait, waits for the node: it is one story, however few call the node themselves.
//
// Thresholds: as wait-convoy's for those who wait: ten that are 5 % of all processes, or 100; one in five of all is
// high, half of them critical. Two senders who are suspended on a full connection are high: nothing that this node
// sends there gets on. Of a node that has been silent for half of the time after which it is given up, one who waits is
// enough, or nobody: medium. A node that is well says something at every tick, of which there are four or more in that
// time.
#include <algorithm>
#include <map>

#include "analyses/processes/senders.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace node_hung_rule {
namespace {

constexpr std::uint64_t least_senders = 2;
constexpr std::size_t most_findings = 3;
constexpr std::size_t most_calls = 3;

struct Waiting {
    TextId node = TextId::none;
    std::vector<ProcId> callers, senders;
    std::vector<ProcId> behind;  // who wait for one of these, and so on
    std::map<FunctionId, std::uint64_t> calls;
    std::uint64_t forever = 0;
    bool exact = true;
    std::size_t all() const { return callers.size() + senders.size() + behind.size(); }
};

const Port* port_to(const Snapshot& s, TextId node) {
    const auto peer = std::ranges::find(s.nodes, node, &DistNode::name);
    return peer == s.nodes.end() ? nullptr : connection_to(s, *peer);
}

// Whether the connection to a node is being set up: nobody waits for one that is given up.
bool not_connected(const Snapshot& s, TextId node) {
    const auto peer = std::ranges::find(s.nodes, node, &DistNode::name);
    return peer != s.nodes.end() && peer->kind == DistNode::Kind::not_connected;
}

// Whether a connected node has been silent for so long that it hangs, or the way to it.
bool is_silent(const Facts& facts, TextId node) {
    const std::uint64_t silent = silent_ms(facts, node).value_or(0);
    return silent != 0 && silent * 2 >= facts.get<ServiceStates>().tick_time.milliseconds;
}

void tell_silence(const Facts& facts, std::uint64_t silent, Finding& finding) {
    const Amount waits{facts.get<ServiceStates>().tick_time.milliseconds, AmountUnit::milliseconds};
    if (silent == 0)
        finding.evidence.push_back(
            fact("net_kernel's last tick",
                 sentence("something had come from it; it is given up after {} of silence", waits)));
    else
        finding.evidence.push_back(
            figure(sentence("nothing has come from it, of {} after which it is given up, for at least", waits), silent,
                   AmountUnit::milliseconds, Confidence::lower_bound));
}

std::vector<std::pair<std::uint64_t, FunctionId>> most_usual(const Waiting& waiting) {
    std::vector<std::pair<std::uint64_t, FunctionId>> calls;
    for (const auto& [function, count] : waiting.calls) calls.emplace_back(count, function);
    std::ranges::stable_sort(calls, std::ranges::greater(), [](const auto& each) { return each.first; });
    if (calls.size() > most_calls) calls.resize(most_calls);
    return calls;
}

void add_behind(const Waits& waits, const std::map<ProcId, const WaitFanIn*>& asked, Waiting& waiting) {
    std::vector<ProcId> left = waiting.callers;
    left.insert(left.end(), waiting.senders.begin(), waiting.senders.end());
    while (!left.empty()) {
        const auto fan = asked.find(left.back());
        left.pop_back();
        if (fan == asked.end()) continue;
        for (const std::uint32_t edge : waits.waiters_of(*fan->second)) {
            waiting.behind.push_back(waits.edges[edge].waiter);
            left.push_back(waits.edges[edge].waiter);
        }
    }
}

std::vector<Waiting> by_node(const Facts& facts) {
    std::map<TextId, Waiting> found;
    for (const WaitEdge& edge : facts.get<Waits>().edges) {
        const TextId node = node_of(facts.snapshot(), edge.target);
        if (node == TextId::none) continue;
        Waiting& waiting = found[node];
        waiting.node = node;
        waiting.exact = waiting.exact && edge.confidence == Confidence::exact;
        if (edge.via == "distribution") {
            waiting.senders.push_back(edge.waiter);
            continue;
        }
        waiting.callers.push_back(edge.waiter);
        waiting.forever += edge.infinite;
        ++waiting.calls[edge.function];
    }
    std::map<ProcId, const WaitFanIn*> asked;
    for (const WaitFanIn& fan : facts.get<Waits>().fan_in)
        if (fan.target.process != ProcId::none) asked.emplace(fan.target.process, &fan);
    std::vector<Waiting> nodes;
    for (auto& [name, waiting] : found) {
        add_behind(facts.get<Waits>(), asked, waiting);
        nodes.push_back(std::move(waiting));
    }
    std::ranges::stable_sort(nodes, std::ranges::greater(), &Waiting::all);
    return nodes;
}

// "; 60 of them through inventory_proxy <0.87.0> (9,168 messages queued) in inventory:sync/1"
void say_behind(const Facts& facts, const Waiting& waiting, Finding& finding) {
    const Snapshot& s = facts.snapshot();
    if (waiting.callers.size() + waiting.senders.size() != 1) {
        if (!waiting.behind.empty()) finding.title.say("; {} more wait for those", number(waiting.behind.size()));
        return;
    }
    const ProcId first = finding.members.front();
    if (waiting.behind.empty() && waiting.senders.empty()) return;
    if (waiting.behind.empty()) finding.title.say(": {}", first);
    else finding.title.say("; {} of them through {}", number(waiting.behind.size()), first);
    if (const std::uint64_t queued = s[first].msgq_len.value_or(0); queued != 0)
        finding.title.say(" ({} queued)", messages(queued));
    if (const FunctionId by = caller_of(s, s[first]); by != FunctionId::none) finding.title.say(" in {}", by);
}

// A node that is silent, and that nobody waits for yet.
Finding silence_of(const Facts& facts, TextId node) {
    const std::uint64_t silent = silent_ms(facts, node).value_or(0);
    Finding finding;
    finding.severity = FindingSeverity::medium;
    finding.subject = {SubjectKind::node, sentence("{}", Name{node})};
    finding.confidence = Confidence::lower_bound;
    finding.title.say("Nothing has come from node {} for {}, and nobody waits for it", Name{node},
                      Amount{silent, AmountUnit::milliseconds});
    tell_silence(facts, silent, finding);
    finding.advise(
        "Look at that node, and at the way to it: it answers no tick of net_kernel. If it lives, take a core image of "
        "it too.");
    finding.advise("See nodes and connections: `beamheap nodes DUMP`");
    return finding;
}

void add_steps(bool setting_up, bool full, Finding& finding) {
    if (setting_up)
        finding.advise(
            "The connection is being set up: its other end is reached and does not finish the handshake (a node that "
            "hangs, something else that listens on its port), or packets are lost on the way; it is given up after "
            "net_setuptime.");
    finding.advise(
        "Look at that node: whatever holds these processes up is there, or on the way. If it lives, take a core image "
        "of it too.");
    finding.advise(
        "Give calls to other nodes a timeout, and handle its exit; a lower net_ticktime ends the wait for a node that "
        "is gone sooner.");
    if (full)
        finding.advise(
            "Send with [nosuspend] where a message may be lost, large data by a connection of its own, and see "
            "+zdbbl for the limit of the queue.");
    finding.advise("See nodes and connections: `beamheap nodes DUMP`");
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    std::size_t left = most_findings;
    const std::vector<Waiting> nodes = by_node(facts);
    for (const DistNode& peer : s.nodes)
        if (left != 0 && peer.controller != TextId::none && is_silent(facts, peer.name) &&
            std::ranges::find(nodes, peer.name, &Waiting::node) == nodes.end()) {
            --left;
            findings.push_back(silence_of(facts, peer.name));
        }
    for (const Waiting& waiting : nodes) {
        const std::uint64_t all = waiting.all();
        const double percent = percent_of(all, std::uint64_t{s.processes.size()}).value_or(0);
        const bool full = waiting.senders.size() >= least_senders;
        const bool few = all < (percent >= crowd::least_percent ? crowd::least : crowd::many);
        if (!full && few && !is_silent(facts, waiting.node)) continue;
        if (left == 0) break;
        --left;
        Finding finding;
        finding.severity = few && !full                             ? FindingSeverity::medium
                           : percent >= crowd::critical_percent     ? FindingSeverity::critical
                           : full || percent >= crowd::high_percent ? FindingSeverity::high
                                                                    : FindingSeverity::medium;
        finding.subject = {SubjectKind::node, sentence("{}", Name{waiting.node})};
        finding.count = all;
        finding.percent = percent;
        finding.confidence = waiting.exact ? Confidence::exact : Confidence::estimate;
        finding.members = waiting.callers;
        finding.members.insert(finding.members.end(), waiting.senders.begin(), waiting.senders.end());
        finding.members.insert(finding.members.end(), waiting.behind.begin(), waiting.behind.end());
        finding.title.say("{} of {} processes ({}) wait for node {}", number(all), number(s.processes.size()),
                          Percent{percent}, Name{waiting.node});
        const Port* port = port_to(s, waiting.node);
        const bool busy = port != nullptr && is_busy(s, *port);
        const bool setting_up = port == nullptr && not_connected(s, waiting.node);
        if (setting_up) finding.title.say(", which is not connected yet");
        std::vector<Sentence> parts;
        const bool few_call =
            10 * waiting.callers.size() <= waiting.senders.size();  // then what most of them wait in says enough
        if (!few_call)
            for (const auto& [count, function] : most_usual(waiting))
                parts.push_back(sentence("{} in {}", number(count), function));
        if (!waiting.senders.empty() && !waiting.callers.empty())
            parts.push_back(sentence("{} suspended while sending to it", number(waiting.senders.size())));
        if (parts.empty()) finding.title.say(", suspended while sending to it");
        else finding.title.say(": {}", joined(parts, ", "));
        say_behind(facts, waiting, finding);
        if (few && !full)
            finding.title.say("; nothing has come from it for {}",
                              Amount{silent_ms(facts, waiting.node).value_or(0), AmountUnit::milliseconds});
        if (busy) {
            finding.title.say("; its connection is full");
            if (port->queue_bytes.value_or(0) != 0 && waiting.behind.empty())
                finding.title.say(", with {} waiting in {}", bytes(*port->queue_bytes), port->port);
        }
        Sum held;
        for (const ProcId id : finding.members) held.add(process_bytes(facts, s[id]));
        finding.bytes = held.value();
        finding.evidence.push_back(figure("processes that call it", waiting.callers.size(), AmountUnit::count));
        finding.evidence.push_back(
            figure("processes that are suspended on the connection", waiting.senders.size(), AmountUnit::count));
        if (!waiting.behind.empty())
            finding.evidence.push_back(
                figure("processes that wait for those", waiting.behind.size(), AmountUnit::count));
        if (port != nullptr)
            finding.evidence.push_back(
                figure(sentence("waiting in {}", port->port), port->queue_bytes, AmountUnit::bytes));
        if (const auto silent = silent_ms(facts, waiting.node)) tell_silence(facts, *silent, finding);
        if (waiting.forever != 0)
            finding.evidence.push_back(figure("of the calls without a timeout", waiting.forever, AmountUnit::count));
        finding.evidence.push_back(figure("memory that the waiters hold", held.value(), AmountUnit::bytes));
        finding.evidence.push_back(fact("one of them", frames_text(facts, finding.members.front())));
        add_steps(setting_up, full, finding);
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace node_hung_rule

Rule node_hung() { return {"node-hung", 42, node_hung_rule::run}; }

}  // namespace beamheap::analyses::rule
