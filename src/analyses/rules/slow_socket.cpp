// slow-socket: processes that wait because what they send to does not take it.
//
// Theory. A port whose other side reads slowly or not at all (a stuck client, a full disk, a terminal that nobody looks
// at) queues what is sent; above its high watermark it is busy, and the VM suspends whoever sends to it until the queue
// has drained. The senders look stuck in port_command or prim_inet:send, and their queues grow: the socket is the
// cause, they are the victims. The VM lists the suspended processes with the port.
//
// Thresholds: two suspended senders are medium (one may be anybody's last packet), ten are high.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/processes/inventory.hpp"
#include "analyses/base/erlang_syntax.hpp"
#include "analyses/rules/rule_list.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr std::size_t least_waiters = 2;
constexpr std::size_t many_waiters = 10;
constexpr std::size_t most_findings = 3;

}  // namespace

void slow_socket(const RuleInput& input, Findings& findings) {
    const Snapshot& s = input.snapshot;
    std::size_t left = most_findings;
    for (const BusyPort& busy : ports(s).busy) {
        if (left-- == 0 || busy.suspended.size() < least_waiters) break;
        const Port& port = s.ports[busy.port];
        const std::string driver(s.text(port.driver));
        std::uint64_t queued = 0;
        Sum held;
        for (const ProcId id : busy.suspended) {
            queued += s[id].msgq_len.value_or(0);
            held.add(process_bytes(input, s[id]));
        }
        Finding finding;
        finding.severity = busy.suspended.size() >= many_waiters ? FindingSeverity::high : FindingSeverity::medium;
        const ProcId owner = s.find(port.connected);
        finding.subject = {SubjectKind::port,
                           driver.substr(0, driver.find(' ')) + " of " +
                               (owner == ProcId::none ? "a process that is gone" : process_subject(input, owner))};
        finding.process = owner;
        finding.pid = port.connected;
        finding.count = busy.suspended.size();
        finding.bytes = port.queue_bytes;
        finding.title =
            fmt::format("{} processes wait because {} ({}) is busy{}; its owner is {}", grouped(busy.suspended.size()),
                        port_text(port.port), driver,
                        port.queue_bytes.value_or(0) == 0
                            ? std::string()
                            : fmt::format(", with {} that nobody has taken from it", human_bytes(*port.queue_bytes)),
                        process_text(input, port.connected));
        finding.evidence = {figure("waiting in the port", port.queue_bytes, EvidenceUnit::bytes),
                            figure("messages in the queues of those who wait", queued, EvidenceUnit::count),
                            figure("memory that they hold", held.value(), EvidenceUnit::bytes),
                            fact("one of them", process_text(input, busy.suspended.front()))};
        add_stack(input, busy.suspended.front(), finding);
        finding.next_steps = {"Look at the other side: what reads from this socket, pipe or file, and why does it not?",
                              "Bound the wait: {send_timeout, T} with {send_timeout_close, true} on sockets, or "
                              "gen_tcp:send/2 by a process "
                              "of its own.",
                              "See ports, their queues and owners: beamheap ports DUMP"};
        findings.push_back(std::move(finding));
    }
}

}  // namespace beamheap::analyses::rule
