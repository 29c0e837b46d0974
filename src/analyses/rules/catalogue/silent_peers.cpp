// SPDX-License-Identifier: Apache-2.0
// silent-peers: processes wait for answers over connections of their own.
//
// Theory. Who calls a service outside the node by a socket of its own (gen_tcp:recv/2 without a time, and its like of
// `socket` and ssl) waits as long as that takes; nothing in the node is wrong, and nothing of it stands out. A server
// reads from its connections in the same way while it is at rest. Neither ports nor sockets say which side has opened a
// connection, and a port counts what was sent, never what has come by TCP (the driver of sockets hands data over as
// messages, erlang:port_info/2 says 0). What tells a server's processes is who is near them: those that accept
// connections. A handler was started by one of these, or by a supervisor of the same family, or has been one itself.
// Where somebody accepts, or may, a loop that reads, as its first function, is a server's as well; a client's read is
// within the function that has asked. Connections to other nodes are no service.
//
// Thresholds: ten that are 5 % of all processes, or 100: medium; 100 that are half of all processes: high. Those of
// whom another finding tells, as others wait for them, are not told again. Who reads a stream of events that are rare
// looks the same.
#include <algorithm>
#include <map>

#include "analyses/processes/frame_marks.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/senders.hpp"
#include "analyses/rules/phrases.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "erlang/registered.hpp"
#include "erlang/waiting_functions.hpp"

namespace beamheap::analyses::rule {
namespace silent_peers_rule {
namespace {

// What functions on a stack tell: reads from a connection, by a port of its own or by a library's process or socket;
// accepts one. Or: it is about something else.
constexpr std::uint8_t by_port = 1, by_library = 2, accepts = 4, other = 8;

std::uint8_t mark(const Snapshot& s, FunctionId id) {
    using enum erlang::FunctionRole;
    const auto is = [&](erlang::FunctionRole role) { return has_role(s, id, role); };
    if (is(of_distribution)) return other;
    if (erlang::accepts_connections(module_of(s, id), s.text(s.functions[id].name))) return accepts;
    if (is(reads_port)) return by_port;
    if (is(begins_tls)) return other;  // stuck-servers tells of those
    return is(reads_socket) ? by_library : std::uint8_t{0};
}

// Those near whom a server's processes are.
class Acceptors {
public:
    Acceptors(const Snapshot& s, const std::vector<std::uint8_t>& marks) : s_(s) {
        for (const ProcId id : all_processes(s))
            if ((mark_of(marks, s[id]) & (accepts | other)) == accepts) families_.push_back(family_of(id));
    }

    bool any() const { return !families_.empty(); }

    // Whether it serves a connection that one of them has accepted.
    bool near(ProcId process) const {
        const Family own = family_of(process);
        return std::ranges::any_of(families_, [&](const Family& each) {
            const auto same = [](const Pid& left, const Pid& right) { return left.has() && left == right; };
            if (same(own.parent, each.self)) return true;
            if (same(own.parent, each.parent))
                return own.kind == each.kind && own.first == each.first;  // it has been one itself
            return same(own.second, each.parent) || same(own.second, each.second) || same(own.third, each.second);
        });
    }

private:
    struct Family {
        Pid self, parent, second, third;  // who has started it, and so on
        GroupKey kind;
        FunctionId first = FunctionId::none;  // of its stack, where it was spawned as a fun: that is called
                                              // erlang:apply/2, whatever it does
    };

    Pid parent_of(const Pid& pid) const {
        const ProcId process = pid.has() ? s_.find(pid) : ProcId::none;
        return process == ProcId::none ? Pid{} : s_[process].parent;
    }
    Family family_of(ProcId id) const {
        const Process& process = s_[id];
        Family family{process.pid, process.parent, {}, {}, group_key(process), FunctionId::none};
        family.second = parent_of(family.parent);
        family.third = parent_of(family.second);
        if (family.kind.kind == GroupKey::Kind::spawned_as &&
            has_role(s_, family.kind.function, erlang::FunctionRole::of_vm))
            for (const Frame& frame : s_.stacks[process.stack])
                if (frame.function != FunctionId::none) family.first = frame.function;
        return family;
    }

    const Snapshot& s_;
    std::vector<Family> families_;
};

// The function that reads is not the first of its process, which is how a server's loop looks: it goes on for another.
bool within_another(const Snapshot& s, const Process& process, FunctionId caller) {
    bool behind = false;
    for (const Frame& frame : s.stacks[process.stack]) {
        if (frame.function == FunctionId::none) break;
        if (behind && frame.function != caller)
            return !has_role(s, frame.function, erlang::FunctionRole::begins_processes);
        behind = behind || frame.function == caller;
    }
    return false;
}

// The one that has started all of them; none: there are several.
ProcId started_by(const Snapshot& s, const std::vector<ProcId>& members) {
    const Pid& first = s[members.front()].parent;
    const bool all = std::ranges::all_of(members, [&](ProcId id) { return s[id].parent == first; });
    return all && first.has() ? s.find(first) : ProcId::none;
}

struct Silent {
    std::vector<ProcId> members;
    std::uint64_t sent = 0;  // bytes, by ports
};

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Snapshot& s = facts.snapshot();
    if (is_failed_start(facts.get<Slogan>().kind)) return;
    const std::vector<std::uint8_t> marks = marks_of_stacks(s, [&](FunctionId id) { return mark(s, id); });
    const auto reads = [&](ProcId id) {
        const std::uint8_t found = mark_of(marks, s[id]);
        return s[id].state == ProcessState::waiting && (found & other) == 0 ? found & (by_port | by_library) : 0;
    };
    std::vector<bool> told(s.processes.size());
    for (const Finding& finding : findings)
        for (const ProcId id : finding.members) told[index_of(id)] = true;
    struct Sockets {
        std::uint64_t count = 0, sent = 0;
    };
    std::map<ProcId, Sockets> sockets;
    bool may_listen = false;  // a socket that has sent nothing, of somebody who does not read
    for (const Port& port : s.ports) {
        const ProcId owner = s.find(port.connected);
        if (owner == ProcId::none || !s.text(port.driver).ends_with("_inet")) continue;
        Sockets& own = sockets[owner];
        ++own.count;
        own.sent = saturating_add(own.sent, port.output_bytes.value_or(0));
        may_listen = may_listen || (s.text(port.driver) == erlang::tcp_driver && port.output_bytes.value_or(0) == 0 &&
                                    reads(owner) == 0 && s.text(s[owner].name) != erlang::registered::net_kernel);
    }
    const Acceptors acceptors(s, marks);
    std::map<FunctionId, Silent> by_caller;
    for (const ProcId id : all_processes(s)) {
        const int how = reads(id);
        if (how == 0 || told[index_of(id)]) continue;
        const FunctionId caller = caller_of(s, s[id]);
        if (caller == FunctionId::none || acceptors.near(id)) continue;
        if ((acceptors.any() || may_listen) && !within_another(s, s[id], caller)) continue;
        const auto own = sockets.find(id);
        // Of several it can't be told which it reads; over one that has sent nothing nobody was asked.
        if (how == by_port && (own == sockets.end() || own->second.count != 1 || own->second.sent == 0)) continue;
        Silent& silent = by_caller[caller];
        silent.members.push_back(id);
        if (how == by_port) silent.sent = saturating_add(silent.sent, own->second.sent);
    }
    for (auto& [caller, silent] : by_caller) {
        const std::uint64_t count = silent.members.size();
        const double percent = percent_of(count, std::uint64_t{s.processes.size()}).value_or(0);
        if (count < crowd::least || (count < crowd::many && percent < crowd::least_percent)) continue;
        const ProcId example = silent.members.front();
        Finding finding;
        finding.severity = percent >= crowd::critical_percent && count >= crowd::many ? FindingSeverity::high
                                                                                      : FindingSeverity::medium;
        finding.confidence = Confidence::estimate;
        finding.subject = {SubjectKind::group, sentence("{}", caller)};
        finding.count = count;
        finding.percent = percent;
        const ProcId starter = started_by(s, silent.members);
        const Sentence who = starter == ProcId::none ? Sentence() : sentence(", all started by {},", starter);
        finding.title.say("{} of {} processes ({}){} wait in {} for answers over connections of their own",
                          number(count), number(s.processes.size()), Percent{percent}, who, caller);
        if (silent.sent != 0)
            finding.evidence.push_back(figure("sent over their connections", silent.sent, AmountUnit::bytes));
        finding.evidence.push_back(fact("one of them", sentence("{}", example)));
        add_stack(facts, example, finding);
        finding.advise(
            "Look at the other side: what {} talks to took the connections and does not answer. Whom one of them has "
            "asked: {}",
            caller, Command{"proc", s[example].pid});
        finding.advise(
            "Bound the wait: `gen_tcp:recv/3` (`ssl:recv/3`, `socket:recv/3`) with a time, and tell the caller of it. "
            "Without one, each request keeps a process for ever.");
        if (silent.sent != 0)
            finding.advise(
                "See ports, and what was sent over them (what has come by TCP is not counted): `beamheap ports DUMP`");
        finding.advise("Who reads a stream of events that are rare looks the same.");
        finding.members = std::move(silent.members);
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace silent_peers_rule

Rule silent_peers() { return {"silent-peers", 95, silent_peers_rule::run}; }

}  // namespace beamheap::analyses::rule
