// SPDX-License-Identifier: Apache-2.0
// How far the applications of this node have come.
#pragma once

#include "analyses/facts/facts.hpp"
#include "analyses/processes/application_starts.hpp"

namespace beamheap::analyses {

/// Not `known` where the application controller's state was not read.
Result<ApplicationStarts> find_fact(FactOf<ApplicationStarts>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
