// slow-socket: processes that wait because what they send to does not take it.
//
// Theory. A port whose other side reads slowly or not at all (a stuck client, a full disk, a terminal that nobody looks
// at) queues what is sent; above its high watermark it is busy, and the VM suspends whoever sends to it until the queue
// has drained. The senders look stuck in port_command or prim_inet:send, and their queues grow: the socket is the
// cause, they are the victims. The VM lists the suspended processes with the port.
//
// Thresholds: two suspended senders are medium (one may be anybody's last packet), ten are high.
#include <algorithm>

#include "analyses/processes/inventory.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr std::size_t least_waiters = 2;
constexpr std::size_t many_waiters = 10;
constexpr std::size_t most_findings = 3;

void run(const RuleInput& input, std::vector<Finding>& findings) {
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
                           sentence("{} of {}", names(driver.substr(0, driver.find(' '))),
                                    owner == ProcId::none ? Sentence(Ours("a process that is gone"))
                                                          : process_subject(input, owner))};
        finding.process = owner;
        finding.pid = port.connected;
        finding.count = busy.suspended.size();
        finding.bytes = port.queue_bytes;
        finding.title.say("{} processes wait because {} ({}) is busy", number(busy.suspended.size()), port.port,
                          message(driver));
        if (port.queue_bytes.value_or(0) != 0)
            finding.title.say(", with {} that nobody has taken from it", bytes(*port.queue_bytes));
        finding.title.say("; its owner is {}", AnyProcess{port.connected});
        finding.evidence = {figure("waiting in the port", port.queue_bytes, AmountUnit::bytes),
                            figure("messages in the queues of those who wait", queued, AmountUnit::count),
                            figure("memory that they hold", held.value(), AmountUnit::bytes),
                            fact("one of them", sentence("{}", busy.suspended.front()))};
        add_stack(input, busy.suspended.front(), finding);
        finding.advise("Look at the other side: what reads from this socket, pipe or file, and why does it not?");
        finding.advise(
            "Bound the wait: {send_timeout, T} with {send_timeout_close, true} on sockets, or `gen_tcp:send/2` by a "
            "process of its own.");
        finding.advise("See ports, their queues and owners: `beamheap ports DUMP`");
        findings.push_back(std::move(finding));
    }
}

}  // namespace

Rule slow_socket() { return {"slow-socket", 60, run}; }

}  // namespace beamheap::analyses::rule
