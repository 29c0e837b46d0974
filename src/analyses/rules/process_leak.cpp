// process-leak and port-leak: tables of the VM that fill up with things of one kind.
//
// Theory. Processes and ports are few kinds, many times: of a leak there is one kind that outgrows the rest until the
// table is full and every spawn or open fails (system_limit). Ports are sockets, files and external programs; a port
// ends with its owner, so an owner that never closes and never ends leaks them. A process that nobody links to or
// monitors, that has no name and waits for a message, is one that nobody will ever end: the usual shape of a leak. How
// many sockets there are is told beside, since a hundred thousand processes for two thousand connections are not load.
//
// Thresholds: 80 % of the limit is high, 95 % or a slogan that says so critical. Below that a group of processes is
// medium if it has 10,000 members and half of all, and nine in ten of them have no link, monitor or name.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/processes/groups.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/rules/rule_list.hpp"
#include "analyses/rules/phrases.hpp"
#include "analyses/selectors/selectors.hpp"

namespace beamheap::analyses::rule {
namespace {

constexpr double high_percent = 80;
constexpr double critical_percent = 95;
constexpr std::uint64_t large_group = 10000;
constexpr double alone_percent = 90;

bool is_socket(std::string_view driver) {
    return driver == "tcp_inet" || driver == "udp_inet" || driver == "sctp_inet";
}

std::uint64_t sockets(const PortReport& report) {
    std::uint64_t count = 0;
    for (const PortGroup& group : report.groups) count += is_socket(group.driver) ? group.count : 0;
    return count;
}

FindingSeverity severity_of(double percent) {
    return percent >= critical_percent ? FindingSeverity::critical : FindingSeverity::high;
}

}  // namespace

void process_leak(const RuleInput& input, Findings& findings) {
    const Snapshot& s = input.snapshot;
    if (s.processes.empty()) return;
    const double percent = input.totals.process_fill.percent.value_or(0);
    const ProcessGroups groups = group_by_initial_call(s, all_processes(s));
    const ProcessGroup& group = groups.groups.front();
    std::uint64_t alone = 0;
    for (const ProcId id : groups.members_of(group)) {
        const Process& p = s[id];
        alone += p.link_range.count == 0 && p.links == 0 && p.monitors == 0 && p.name == TextId::none ? 1 : 0;
    }
    const double alone_share = percent_of(alone, group.count).value_or(0);
    const bool full = percent >= high_percent;
    if (!full && (group.count < large_group || group.percent < 50 || alone_share < alone_percent)) return;

    const PortReport port_report = ports(s);
    const std::string call = function_name(input, group.function);
    const Process& example = s[group.example];
    Finding finding;
    finding.severity = full ? severity_of(percent) : FindingSeverity::medium;
    finding.subject = {SubjectKind::group, call};
    finding.count = group.count;
    finding.bytes = group.memory_bytes.value();
    finding.percent = group.percent;
    finding.title =
        full ? fmt::format("{} of {} processes that the node may have exist ({}): {} of them are {}",
                           grouped(*input.totals.process_fill.used), grouped(*input.totals.process_fill.limit),
                           human_percent(percent), grouped(group.count), call)
             : fmt::format("{} of {} processes ({}) are {}, and nothing is linked to or monitors {} of them",
                           grouped(group.count), grouped(s.processes.size()), human_percent(group.percent), call,
                           alone == group.count ? std::string("any") : grouped(alone));
    finding.confidence = input.totals.lower_bounds ? Confidence::lower_bound : Confidence::exact;
    finding.evidence = {figure("processes of this kind", group.count, EvidenceUnit::count, finding.confidence),
                        figure("their memory", group.memory_bytes.value(), EvidenceUnit::bytes, finding.confidence),
                        figure("without link, monitor and name", alone, EvidenceUnit::count, finding.confidence),
                        figure("sockets (ports) of the node", sockets(port_report), EvidenceUnit::count)};
    if (example.parent.has())
        finding.evidence.push_back(fact("one was spawned by", process_text(input, example.parent)));
    add_stack(input, group.example, finding);
    finding.next_steps = {
        fmt::format("Find out what should end them, and see one: beamheap proc DUMP {}", shell_pid(example.pid)),
        "Spawn them linked or monitored, under a supervisor (simple_one_for_one, DynamicSupervisor) with a bound on "
        "how "
        "many there may be.",
        "A larger limit (+P) only buys time."};
    findings.push_back(std::move(finding));
}

void port_leak(const RuleInput& input, Findings& findings) {
    const Snapshot& s = input.snapshot;
    const Fill& fill = input.totals.port_fill;
    if (fill.percent.value_or(0) < high_percent) return;
    const PortReport report = ports(s);
    if (report.groups.empty()) return;
    const PortGroup& group = report.groups.front();
    const Port& example = s.ports[group.example];
    // One process that owns nearly all of them is named itself, else the kind of their owners.
    const auto of_one = static_cast<std::uint64_t>(
        std::ranges::count_if(s.ports, [&](const Port& port) { return port.connected == example.connected; }));
    const bool one = of_one * 10 >= group.count * 9 && s.find(example.connected) != ProcId::none;
    const std::string kind = group_text(s, group.owner);
    const std::string owner = one ? process_text(input, example.connected) : kind;
    Finding finding;
    finding.severity = severity_of(*fill.percent);
    const std::string subject = one ? process_subject(input, s.find(example.connected)) : kind;
    finding.subject = {SubjectKind::port, group.driver + (subject.empty() ? "" : " of " + subject)};
    finding.count = group.count;
    finding.percent = fill.percent;
    finding.pid = example.connected;
    finding.process = s.find(example.connected);
    finding.title = fmt::format("{} of {} ports are open ({}): {} of them are {}, owned by {}", grouped(*fill.used),
                                grouped(*fill.limit), human_percent(*fill.percent), grouped(group.count), group.driver,
                                owner.empty() ? "processes that are gone" : owner);
    finding.evidence = {figure("ports of this kind", group.count, EvidenceUnit::count),
                        figure("bytes waiting in them", group.queue_bytes.value(), EvidenceUnit::bytes),
                        fact("the owner of one", process_text(input, example.connected))};
    finding.next_steps = {"Find out who should close them: a port ends with its owner, or by an explicit close.",
                          "See ports by driver and owner: beamheap ports DUMP",
                          "A larger limit (+Q, ulimit -n) only buys time."};
    findings.push_back(std::move(finding));
}

}  // namespace beamheap::analyses::rule
