// SPDX-License-Identifier: Apache-2.0
// start-up: the node never ran.
//
// Theory. init(1) and the application controller end the node with a crash dump whose slogan tells what failed. Such a
// dump is no post-mortem of memory: whatever else stands out in it is what a node looks like in its first seconds. So
// this goes before everything else, and the slogan's reason, without the supervisors around it, is the culprit.
// Kinds of slogan and their words: slogan_tables.hpp.
//
// Thresholds: none; the slogan is a fact. A slogan of the VM's own limits is said as well: it is the cause by
// definition. Damaged data is what native-crash is about.
#include "analyses/rules/start_finding.hpp"

namespace beamheap::analyses::rule {
namespace start_up_rule {
namespace {

void run(const Facts& facts, std::vector<Finding>& findings) {
    const Slogan& slogan = facts.get<Slogan>();
    const ToldCause* const cause = facts.get<StartFailure>().cause();
    if (ran_before_it_failed(slogan, cause, facts.snapshot())) return;  // failed-call
    if (ended_at_work(slogan, cause, facts.snapshot())) return;         // node-ended
    if (auto finding = start_finding(facts)) findings.push_back(*std::move(finding));
}

}  // namespace
}  // namespace start_up_rule

Rule start_up() { return {"start-up", 10, start_up_rule::run}; }

}  // namespace beamheap::analyses::rule
