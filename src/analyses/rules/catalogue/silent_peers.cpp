// silent-peers: processes have sent something over connections of their own, and wait for an answer of which no byte has come.
//
// Theory. Who calls a service outside the node by a socket of its own (gen_tcp:recv/2 without a time) waits as long as that takes;
// nothing in the node is wrong, and nothing of it stands out. A server reads from its connections in the same way while it is at
// rest, but then it has been asked before: the port has received something. Where a port has sent and never received, its owner
// was the first to speak and has had no answer. Connections that were answered before, and of which the next answer is late, can't
// be told from those of a server at rest, and are not told. Ports count bytes in both directions (erlang:port_info/2, input and
// output; in a dump "Input" and "Output").
//
// Thresholds: ten that are 5 % of all processes, or 100: medium. A server that greets its clients (mail, files), who then say
// nothing, looks the same, and does not serve them either.
#include <algorithm>
#include <map>

#include "analyses/base/erlang_syntax.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/senders.hpp"
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace silent_peers_rule {
namespace {

struct Silent {
    std::vector<ProcId> members;
    std::uint64_t sent = 0;  // bytes
};

// Whether it waits for data of a socket: prim_inet:recv0/3 and its kin, whoever has called that.
bool receives(const Snapshot& s, const Process& process) {
    return process.state == ProcessState::waiting && process.current_function != FunctionId::none && module_of(s, process.current_function) == "prim_inet" &&
           s.text(s.functions[process.current_function].name).starts_with("recv");
}

void run(const RuleInput& input, std::vector<Finding>& findings) {
    const Snapshot& s = input.snapshot;
    if (is_failed_start(input.slogan.kind)) return;
    std::map<FunctionId, Silent> by_caller;
    std::map<ProcId, std::uint64_t> sockets;  // of those who receive: how many each has
    for (const Port& port : s.ports)
        if (const ProcId owner = s.find(port.connected); owner != ProcId::none && receives(s, s[owner])) ++sockets[owner];
    for (const Port& port : s.ports) {
        const ProcId owner = s.find(port.connected);
        const auto found = sockets.find(owner);
        if (found == sockets.end() || found->second != 1) continue;  // of several it can't be told which it reads
        if (!port.input_bytes.has() || *port.input_bytes != 0 || port.output_bytes.value_or(0) == 0) continue;
        const FunctionId caller = caller_of(s, s[owner]);
        if (caller == FunctionId::none) continue;
        Silent& silent = by_caller[caller];
        silent.members.push_back(owner);
        silent.sent = saturating_add(silent.sent, *port.output_bytes);
    }
    for (auto& [caller, silent] : by_caller) {
        const std::uint64_t count = silent.members.size();
        const double percent = percent_of(count, std::uint64_t{s.processes.size()}).value_or(0);
        if (count < crowd::least || (count < crowd::many && percent < crowd::least_percent)) continue;
        std::ranges::sort(silent.members);
        const ProcId example = silent.members.front();
        Finding finding;
        finding.severity = FindingSeverity::medium;
        finding.confidence = Confidence::estimate;
        finding.subject = {SubjectKind::group, sentence("{}", caller)};
        finding.count = count;
        finding.percent = percent;
        finding.title.say("{} of {} processes ({}) wait in {} for answers over connections of their own, which have sent {} and received nothing", number(count),
                          number(s.processes.size()), Percent{percent}, caller, bytes(silent.sent));
        finding.evidence = {figure("sent over their connections", silent.sent, AmountUnit::bytes), figure("received over them", 0, AmountUnit::bytes),
                            fact("one of them", sentence("{}", example))};
        add_stack(input, example, finding);
        finding.advise("Look at the other side: what {} talks to took the connections and does not answer. Whom one of them has asked: {}", caller,
                       Command{"proc", s[example].pid});
        finding.advise("Bound the wait: `gen_tcp:recv/3` with a time, and tell the caller of it. Without one, each request keeps a process for ever.");
        finding.advise("See ports, and what came and went over them: `beamheap ports DUMP`");
        finding.advise("A server that greets its clients, who then say nothing, looks the same: then close such connections after a time.");
        finding.members = std::move(silent.members);
        findings.push_back(std::move(finding));
    }
}

}  // namespace
}  // namespace silent_peers_rule

Rule silent_peers() { return {"silent-peers", 95, silent_peers_rule::run}; }

}  // namespace beamheap::analyses::rule
