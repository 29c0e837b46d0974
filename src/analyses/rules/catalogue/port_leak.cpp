// SPDX-License-Identifier: Apache-2.0
// port-leak: the port table fills up.
//
// Theory. Ports are sockets, files and external programs. A port ends with its owner, so an owner that never closes and
// never ends leaks them until every open fails (system_limit). One process that owns nearly all of them is named
// itself, else the kind of their owners.
//
// Programs that one process has started and keeps open are a leak long before that: each is a process of the operating
// system, with memory of its own. So are files, of which the operating system allows a process 1,024 unless told
// otherwise: each that is open monitors the process that has it by a resource of prim_file, or, where that is a process
// of file_io_server, which serves one that was opened without [raw], that one monitors who has opened it.
//
// Thresholds: 80 % of the limit is high, 95 % critical; 100 programs, 500 files or 1,000 connections of one owner are
// medium.
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analyses/base/links_of.hpp"
#include "analyses/facts/catalogue/descriptors.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/functions.hpp"
#include "erlang/modules.hpp"

namespace beamheap::analyses::rule {
namespace port_leak_rule {
namespace {

constexpr double high_percent = 80;
constexpr double critical_percent = 95;
constexpr std::uint64_t many_programs = 100, many_files = 500, many_connections = 1'000;

// What one process keeps open, of one kind.
Finding kept_by(const Facts& facts, const Pid& owner, Ours what, std::uint64_t count) {
    Finding finding;
    finding.severity = FindingSeverity::medium;
    finding.pid = owner;
    finding.process = facts.snapshot().find(owner);
    finding.subject = {SubjectKind::port, what};
    if (finding.process != ProcId::none) finding.subject.text.say(" of {}", process_subject(facts, finding.process));
    finding.count = count;
    return finding;
}

// The process that has most files open, where these are many.
void files_of_one(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    std::map<Pid, std::uint64_t> owners;
    std::uint64_t all = 0;
    for (const Process& process : s.processes) {
        const auto files =
            static_cast<std::uint64_t>(std::ranges::count_if(links_of(s, process), [&](const Link& link) {
                return link.kind == LinkKind::resource && s.text(link.name) == erlang::module_of_files;
            }));
        if (files == 0) continue;
        all += files;
        owners[opener_of(s, process)] += files;
    }
    const auto most = std::ranges::max_element(owners, {}, [](const auto& each) { return each.second; });
    if (most == owners.end() || most->second < many_files) return;
    const auto& [owner, files] = *most;
    Finding finding = kept_by(facts, owner, Ours("files"), files);
    finding.title.say("{} has {} open, which it has not closed", AnyProcess{owner}, Counted{files, "file", "files"});
    finding.evidence = {figure("files of this process", files, AmountUnit::count),
                        figure("files that the node has open", all, AmountUnit::count)};
    if (finding.process != ProcId::none) add_stack(facts, finding.process, finding);
    finding.advise(
        "Close each file where it was opened (`file:close/1` in an `after`), or read it with `file:read_file/1`; the "
        "operating system allows a node `ulimit -n` of them, sockets included, and then every open fails with emfile.");
    finding.advise("See who has them: `ls -l /proc/PID/fd` on the machine; what the process does: {}",
                   Command{"proc", owner});
    findings.push_back(std::move(finding));
}

// The process that keeps most programs open, where these are many; of a table that is not full.
void programs_of_one(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    std::map<Pid, std::vector<const Port*>> owners;
    for (const Port& port : s.ports)
        if (s.text(port.kind) == "external process" && port.connected.has()) owners[port.connected].push_back(&port);
    const auto most = std::ranges::max_element(owners, {}, [](const auto& each) { return each.second.size(); });
    if (most == owners.end() || most->second.size() < many_programs) return;
    const auto& [owner, ports] = *most;
    const std::string_view program = s.text(ports.front()->driver);
    const bool same = std::ranges::all_of(ports, [&](const Port* port) { return s.text(port->driver) == program; });
    Finding finding = kept_by(facts, owner, Ours("programs"), ports.size());
    finding.title.say("{} has {} open", AnyProcess{owner},
                      Counted{ports.size(), "external program", "external programs"});
    finding.title.say(same ? Form<1>(", all of them {}") : Form<1>(", one of them {}"), message(program));
    finding.evidence = {figure("external programs of this process", ports.size(), AmountUnit::count),
                        figure("ports of the node", s.ports.size(), AmountUnit::count)};
    finding.advise(
        "Find out who should close them (`port_close/1`): a port ends with its owner, and a program, if it is one that "
        "heeds it, when its standard input is closed.");
    finding.advise("See these ports, and the programs' own process ids: `beamheap ports DUMP`");
    findings.push_back(std::move(finding));
}

// Processes that were started alike and have a connection each, as many as one process has: of a node that connects to
// itself (a test, a load generator beside what it loads, a client and a server in one program) these are most likely
// the two ends.
struct OtherEnds {
    FunctionId kind = FunctionId::none;
    std::uint64_t count = 0;
    ProcId example = ProcId::none;
    Pid starter;  // who has started nine in ten of them, and lives
};

std::optional<OtherEnds> other_ends(const Snapshot& s, const Pid& owner, std::uint64_t connections) {
    std::map<FunctionId, std::map<ProcId, std::uint64_t>> kinds;
    for (const Port& port : s.ports) {
        if (!port.connected.has() || port.connected == owner || s.text(port.driver) != "tcp_inet") continue;
        if (const ProcId has = s.find(port.connected); has != ProcId::none) ++kinds[first_call(s[has])][has];
    }
    for (const auto& [kind, owners] : kinds) {
        if (kind == FunctionId::none || owners.size() * 10 < connections * 9 || owners.size() * 9 > connections * 10)
            continue;
        OtherEnds found{kind, owners.size(), owners.begin()->first, {}};
        std::map<Pid, std::uint64_t> starters;
        for (const auto& [id, count] : owners)
            if (s[id].parent.has() && ++starters[s[id].parent] * 10 >= owners.size() * 9) found.starter = s[id].parent;
        if (found.starter.has() && s.find(found.starter) == ProcId::none) found.starter = {};
        return found;
    }
    return std::nullopt;
}

// The process that has most connections itself, where these are many; of a table that is not full. A server gives each
// connection to a process of its own, with which it ends.
void connections_of_one(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    std::map<Pid, std::uint64_t> owners;
    std::uint64_t all = 0;
    for (const Port& port : s.ports) {
        if (!port.connected.has() || s.text(port.driver) != "tcp_inet") continue;
        ++all;
        ++owners[port.connected];
    }
    const auto most = std::ranges::max_element(owners, {}, [](const auto& each) { return each.second; });
    if (most == owners.end() || most->second < many_connections) return;
    const auto& [owner, connections] = *most;
    Finding finding = kept_by(facts, owner, Ours("connections"), connections);
    if (const auto ends = other_ends(s, owner, connections)) {
        finding.title.say("{} of {}", processes(ends->count), ends->kind);
        if (ends->starter.has()) finding.title.say(", started by {},", AnyProcess{ends->starter});
        finding.title.say(" have a connection (TCP) each, most likely to {} of the same node, which has {}",
                          AnyProcess{owner}, number(connections));
        finding.evidence.push_back(fact("one of those that have one",
                                        sentence("{}: {}", ends->example, frames_text(facts, ends->example)),
                                        Confidence::estimate));
        finding.advise("Look for who should close them, or end with them: {}", Command{"proc", s[ends->example].pid});
    } else {
        finding.title.say("{} itself has {} open", AnyProcess{owner},
                          Counted{connections, "connection (TCP)", "connections (TCP)"});
    }
    if (finding.process != ProcId::none) finding.title.say("; it {}", doing(facts, finding.process));
    finding.evidence.push_back(figure("connections of this process", connections, AmountUnit::count));
    finding.evidence.push_back(figure("connections of the node", all, AmountUnit::count));
    if (finding.process != ProcId::none) add_stack(facts, finding.process, finding);
    finding.advise(
        "A connection lasts until its owner closes it or ends, also when the other side has closed it (CLOSE_WAIT in "
        "`ss -tn` on the machine): give each to a process of its own (`gen_tcp:controlling_process/2`), or close it.");
    finding.advise("See these ports: `beamheap ports DUMP`");
    findings.push_back(std::move(finding));
}

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    const Fill& fill = facts.get<Totals>().port_fill;
    if (fill.percent.value_or(0) < high_percent) {
        programs_of_one(facts, findings);
        files_of_one(facts, findings);
        connections_of_one(facts, findings);
        return;
    }
    const PortReport report = ports(s);
    if (report.groups.empty()) return;
    const PortGroup& group = report.groups.front();
    const Port& example = s.ports[group.example];
    const auto of_one = static_cast<std::uint64_t>(
        std::ranges::count_if(s.ports, [&](const Port& port) { return port.connected == example.connected; }));
    const bool one = of_one * 10 >= group.count * 9 && s.find(example.connected) != ProcId::none;
    const Sentence kind = group_sentence(facts, group.owner);
    const Sentence owner = one ? sentence("{}", AnyProcess{example.connected}) : kind;
    Finding finding;
    finding.severity = *fill.percent >= critical_percent ? FindingSeverity::critical : FindingSeverity::high;
    const Sentence subject = one ? process_subject(facts, s.find(example.connected)) : kind;
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
