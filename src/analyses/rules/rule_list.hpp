// The functions of all rules, each in the file of its name.
#pragma once

#include "analyses/rules/rules.hpp"

namespace beamheap::analyses::rule {

using Findings = std::vector<Finding>;

void wait_convoy(const RuleInput& input, Findings& findings);
void wait_cycle(const RuleInput& input, Findings& findings);
void queue_flood(const RuleInput& input, Findings& findings);
void big_heap(const RuleInput& input, Findings& findings);
void idle_garbage(const RuleInput& input, Findings& findings);
void binary_pinning(const RuleInput& input, Findings& findings);
void native_crash(const RuleInput& input, Findings& findings);
void slow_socket(const RuleInput& input, Findings& findings);
void incomplete_dump(const RuleInput& input, Findings& findings);
void start_up(const RuleInput& input, Findings& findings);
void atom_exhaustion(const RuleInput& input, Findings& findings);
void ets_growth(const RuleInput& input, Findings& findings);
void process_leak(const RuleInput& input, Findings& findings);
void port_leak(const RuleInput& input, Findings& findings);
void allocator_loss(const RuleInput& input, Findings& findings);

}  // namespace beamheap::analyses::rule
