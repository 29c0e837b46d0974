// SPDX-License-Identifier: Apache-2.0
// node-ended: the node had started, and was stopped because something that it may not run without ended.
//
// Theory. A permanent application whose top supervisor gives up, one of kernel's processes, one of the VM's own, or the
// helper that starts programs: each of them takes the node with it, by a slogan that looks like that of a failed start
// ("Kernel pid terminated"). But the node was at work, perhaps for weeks; what ended it is in its life, and not in what
// it was started with.
//
// Thresholds: none; the slogan is a fact. Of a process of kernel's or the VM's, that the node had started is known by
// kernel's last process, or by modules of the program's own.
#include "analyses/rules/start_finding.hpp"

namespace beamheap::analyses::rule {
namespace node_ended_rule {
namespace {

void run(const Facts& facts, std::vector<Finding>& findings) {
    if (!ended_at_work(facts.get<Slogan>(), facts.get<StartFailure>().cause(), facts.snapshot())) return;
    if (auto finding = start_finding(facts)) findings.push_back(*std::move(finding));
}

}  // namespace
}  // namespace node_ended_rule

Rule node_ended() { return {"node-ended", 12, node_ended_rule::run}; }

}  // namespace beamheap::analyses::rule
