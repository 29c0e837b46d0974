// SPDX-License-Identifier: Apache-2.0
// Who waits for whom, also where only the one who was asked can tell.
#pragma once

#include "analyses/facts/facts.hpp"
#include "analyses/processes/waits.hpp"

namespace beamheap::analyses {

Result<Waits> find_fact(FactOf<Waits>, const Facts& facts);

}  // namespace beamheap::analyses
