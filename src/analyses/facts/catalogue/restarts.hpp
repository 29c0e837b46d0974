// SPDX-License-Identifier: Apache-2.0
// How often supervisors have restarted their children of late.
#pragma once

#include <vector>

#include "analyses/facts/facts.hpp"
#include "analyses/processes/restarts.hpp"

namespace beamheap::analyses {

struct RecentRestarts {
    std::vector<SupervisorRestarts> supervisors;  ///< those with the most restarts first
};

Result<RecentRestarts> find_fact(FactOf<RecentRestarts>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
