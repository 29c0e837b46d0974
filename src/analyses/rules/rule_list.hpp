// The functions of all rules, each in the file of its name.
#pragma once

#include "analyses/rules.hpp"

namespace beamheap::analyses::rule {

using Findings = std::vector<Finding>;

void wait_convoy(const RuleInput& input, Findings& findings);
void wait_cycle(const RuleInput& input, Findings& findings);
void start_up(const RuleInput& input, Findings& findings);

}  // namespace beamheap::analyses::rule
