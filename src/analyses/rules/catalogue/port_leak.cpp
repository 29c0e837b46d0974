// port-leak: the port table fills up.
//
// Theory. Ports are sockets, files and external programs. A port ends with its owner, so an owner that never closes and
// never ends leaks them until every open fails (system_limit). One process that owns nearly all of them is named itself,
// else the kind of their owners.
//
// Thresholds: 80 % of the limit is high, 95 % critical.
#include <algorithm>

#include "analyses/processes/inventory.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace port_leak_rule {
namespace {

constexpr double high_percent = 80;
constexpr double critical_percent = 95;

void run(const RuleInput& input, std::vector<Finding>& findings) {
    const Snapshot& s = input.snapshot;
    const Fill& fill = input.totals.port_fill;
    if (fill.percent.value_or(0) < high_percent) return;
    const PortReport report = ports(s);
    if (report.groups.empty()) return;
    const PortGroup& group = report.groups.front();
    const Port& example = s.ports[group.example];
    const auto of_one = static_cast<std::uint64_t>(
        std::ranges::count_if(s.ports, [&](const Port& port) { return port.connected == example.connected; }));
    const bool one = of_one * 10 >= group.count * 9 && s.find(example.connected) != ProcId::none;
    const Sentence kind = group_sentence(input, group.owner);
    const Sentence owner = one ? sentence("{}", AnyProcess{example.connected}) : kind;
    Finding finding;
    finding.severity = *fill.percent >= critical_percent ? FindingSeverity::critical : FindingSeverity::high;
    const Sentence subject = one ? process_subject(input, s.find(example.connected)) : kind;
    finding.subject = {SubjectKind::port, sentence("{}", names(group.driver))};
    if (!subject.empty()) finding.subject.text.say(" of {}", subject);
    finding.count = group.count;
    finding.percent = fill.percent;
    finding.pid = example.connected;
    finding.process = s.find(example.connected);
    finding.title.say("{} of {} ports are open ({}): {} of them are {}, owned by {}", number(*fill.used),
                      number(*fill.limit), Percent{*fill.percent}, number(group.count), names(group.driver),
                      owner.empty() ? Sentence(Ours("processes that are gone")) : owner);
    finding.evidence = {figure("ports of this kind", group.count, AmountUnit::count),
                        figure("bytes waiting in them", group.queue_bytes.value(), AmountUnit::bytes),
                        fact("the owner of one", sentence("{}", AnyProcess{example.connected}))};
    finding.advise("Find out who should close them: a port ends with its owner, or by an explicit close.");
    finding.advise("See ports by driver and owner: `beamheap ports DUMP`");
    finding.advise("A larger limit (+Q, ulimit -n) only buys time.");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace port_leak_rule

Rule port_leak() { return {"port-leak", 130, port_leak_rule::run}; }

}  // namespace beamheap::analyses::rule
