// SPDX-License-Identifier: Apache-2.0
// Locks of libraries that processes wait for, and who holds them.
#pragma once

#include <vector>

#include "analyses/facts/facts.hpp"
#include "analyses/processes/locks.hpp"

namespace beamheap::analyses {

struct Locks {
    std::vector<LockQueue> queues;
};

Result<Locks> find_fact(FactOf<Locks>, const Facts& facts);

}  // namespace beamheap::analyses
