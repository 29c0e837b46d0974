// SPDX-License-Identifier: Apache-2.0
// failed-call: the node ran, and what -s, -run, -eval, mix, an escript or a shell called in it failed.
//
// Theory. init's boot process calls what the command line names when the boot script is done, and the node ends with
// it where that fails ("init terminating in do_boot"): the same slogan as of a node that never started. The node is
// well, and so are boot files and code of OTP: what was called is to blame, and who reads it looks there.
//
// Thresholds: none; the slogan is a fact. That the node ran is known by kernel's last process, or by init's frames on
// the stack of what failed.
#include "analyses/rules/start_finding.hpp"

namespace beamheap::analyses::rule {
namespace failed_call_rule {
namespace {

void run(const Facts& facts, std::vector<Finding>& findings) {
    if (!ran_before_it_failed(facts.get<Slogan>(), facts.get<StartFailure>().cause(), facts.snapshot()))
        return;  // start-up
    if (auto finding = start_finding(facts)) findings.push_back(*std::move(finding));
}

}  // namespace
}  // namespace failed_call_rule

Rule failed_call() { return {"failed-call", 11, failed_call_rule::run}; }

}  // namespace beamheap::analyses::rule
