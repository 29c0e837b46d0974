// SPDX-License-Identifier: Apache-2.0
// node-halted: a VM of which no thread runs, though it has not ended.
//
// Theory. What a signal, a debugger or a paused container stops looks healthy: all processes stand where they stood,
// queues grow by nothing, and the counters of the VM say nothing of it. To others it is a node that hangs, until they
// give it up (net_ticktime). The operating system says it: state T or t, a control group that is frozen.
//
// Always critical: the node does nothing.
#include "analyses/rules/phrases.hpp"

namespace beamheap::analyses::rule {
namespace node_halted_rule {
namespace {

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Source& source = facts.snapshot().source;
    if (!source.live || source.live->halt == VmHalt::none) return;
    const Amount pid{source.live->pid, AmountUnit::plain};
    Finding finding;
    finding.severity = FindingSeverity::critical;
    finding.subject = {SubjectKind::node, sentence("process {}", pid)};
    switch (source.live->halt) {
        case VmHalt::stopped:
            finding.title.say(
                "The node does nothing: process {} has been stopped by a signal (SIGSTOP, or a terminal's)", pid);
            finding.advise("Let it go on: kill -CONT {}", pid);
            break;
        case VmHalt::traced:
            finding.title.say("The node does nothing: process {} is held by a debugger", pid);
            finding.advise("Let it go on there (`continue`), or detach: TracerPid in /proc/{}/status says who it is.",
                           pid);
            break;
        default:
            finding.title.say("The node does nothing: process {} is frozen with its control group", pid);
            finding.advise("Let it go on: `docker unpause`, `systemctl thaw`, or 0 into its cgroup.freeze.");
            break;
    }
    finding.advise(
        "Other nodes give it up after net_ticktime, a minute unless it was set, and it is not told until it goes on.");
    findings.push_back(std::move(finding));
}

}  // namespace
}  // namespace node_halted_rule

Rule node_halted() { return {"node-halted", 1, node_halted_rule::run}; }

}  // namespace beamheap::analyses::rule
