// SPDX-License-Identifier: Apache-2.0
// What those who wait in one place all name.
#pragma once

#include <vector>

#include "analyses/facts/facts.hpp"
#include "analyses/heaps/shared_names.hpp"

namespace beamheap::analyses {

struct SharedNames {
    std::vector<SharedName> names;
};

Result<SharedNames> find_fact(FactOf<SharedNames>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
