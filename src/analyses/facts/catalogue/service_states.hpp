// SPDX-License-Identifier: Apache-2.0
// What OTP's own servers keep of the node's troubles.
#pragma once

#include "analyses/facts/facts.hpp"
#include "analyses/logs/service_states.hpp"

namespace beamheap::analyses {

Result<ServiceStates> find_fact(FactOf<ServiceStates>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
