// SPDX-License-Identifier: Apache-2.0
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
#include <algorithm>
#include <map>
#include <span>

#include "analyses/facts/catalogue/process_kinds.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/rules/phrases.hpp"
#include "analyses/selectors/selectors.hpp"

namespace beamheap::analyses::rule {
namespace process_leak_rule {
namespace {

constexpr double high_percent = 80;
constexpr double critical_percent = 95;
constexpr std::uint64_t large_group = 10000;
constexpr double alone_percent = 90;
constexpr double spawner_percent = 75;  // of a group, of one who is told

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

// Who has spawned most of a group, and how many.
struct Spawner {
    Pid pid;
    std::uint64_t spawned = 0;
};
Spawner spawner_of(const Snapshot& s, std::span<const ProcId> members) {
    std::map<Pid, std::uint64_t> counts;
    for (const ProcId id : members)
        if (s[id].parent.has()) ++counts[s[id].parent];
    Spawner most;
    for (const auto& [pid, count] : counts)
        if (count > most.spawned) most = {pid, count};
    return most;
}

// Members without a link, a monitor and a name, and the largest of them.
struct Alone {
    std::uint64_t count = 0;
    ProcId largest = ProcId::none;
};
Alone alone_of(const Snapshot& s, std::span<const ProcId> members) {
    Alone alone;
    std::uint64_t most = 0;
    for (const ProcId id : members) {
        const Process& p = s[id];
        if (p.link_range.count != 0 || p.links != 0 || p.monitors != 0 || p.name != TextId::none) continue;
        ++alone.count;
        const std::uint64_t bytes = analyses::process_bytes(p, s.source.word_size).value_or(0);
        if (alone.largest != ProcId::none && bytes <= most) continue;
        alone.largest = id;
        most = bytes;
    }
    return alone;
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    if (s.processes.empty()) return;
    const double percent = facts.get<Totals>().process_fill.percent.value_or(0);
    const ProcessGroups& groups = facts.get<ProcessKinds>().groups;
    const ProcessGroup& group = groups.groups.front();
    const Alone alone_members = alone_of(s, groups.members_of(group));
    const std::uint64_t alone = alone_members.count;
    const double alone_share = percent_of(alone, group.count).value_or(0);
    const bool full = percent >= high_percent;
    if (!full && (group.count < large_group || group.percent < 50 || alone_share < alone_percent)) return;

    const PortReport port_report = ports(s);
    // One of those that nobody will end: a kind as wide as erlang:apply/2 has others, too, and who spawned them all.
    const ProcId shown = alone_share >= alone_percent ? alone_members.largest : group.example;
    const Process& example = s[shown];
    Finding finding;
    finding.severity = full ? severity_of(percent) : FindingSeverity::medium;
    finding.subject = {SubjectKind::group, sentence("{}", group.function)};
    finding.count = group.count;
    finding.bytes = group.memory_bytes.value();
    finding.percent = group.percent;
    if (full)
        finding.title.say("{} of {} processes that the node may have exist ({}): {} of them are {}",
                          number(*facts.get<Totals>().process_fill.used),
                          number(*facts.get<Totals>().process_fill.limit), Percent{percent}, number(group.count),
                          group.function);
    else
        finding.title.say("{} of {} processes ({}) are {}, and nothing is linked to or monitors {} of them",
                          number(group.count), number(s.processes.size()), Percent{group.percent}, group.function,
                          alone == group.count ? Sentence(Ours("any")) : sentence("{}", number(alone)));
    if (const Sentence state = in_state(facts, group.function); !state.empty()) finding.title.say(",{}", state);
    const Spawner spawner = spawner_of(s, groups.members_of(group));
    if (percent_of(spawner.spawned, group.count).value_or(0) >= spawner_percent) {
        if (spawner.spawned == group.count) finding.title.say("; {} has spawned them", AnyProcess{spawner.pid});
        else finding.title.say("; {} has spawned {} of them", AnyProcess{spawner.pid}, number(spawner.spawned));
    }
    if (const Sentence pile = full ? pile_of_waiters(facts) : Sentence(); !pile.empty())
        finding.behind = sentence("Of all that there are, {}", pile);
    finding.confidence = facts.get<Totals>().lower_bounds ? Confidence::lower_bound : Confidence::exact;
    finding.evidence = {figure("processes of this kind", group.count, AmountUnit::count, finding.confidence),
                        figure("their memory", group.memory_bytes.value(), AmountUnit::bytes, finding.confidence),
                        figure("without link, monitor and name", alone, AmountUnit::count, finding.confidence),
                        figure("sockets (ports) of the node", sockets(port_report), AmountUnit::count)};
    if (const ProcId id = s.find(spawner.pid);
        id != ProcId::none && percent_of(spawner.spawned, group.count).value_or(0) >= spawner_percent)
        finding.evidence.push_back(fact("who has spawned them", doing(facts, id)));
    else if (example.parent.has())
        finding.evidence.push_back(fact("one was spawned by", sentence("{}", AnyProcess{example.parent})));
    add_stack(facts, shown, finding);
    finding.advise("Find out what should end them, and see one: {}", Command{"proc", example.pid});
    finding.advise(
        "Spawn them linked or monitored, under a supervisor (simple_one_for_one, DynamicSupervisor) with a bound on "
        "how many there may be.");
    finding.advise("A larger limit (+P) only buys time.");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace process_leak_rule

Rule process_leak() { return {"process-leak", 120, process_leak_rule::run}; }

}  // namespace beamheap::analyses::rule
