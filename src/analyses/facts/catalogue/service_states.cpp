// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/service_states.hpp"

#include "analyses/logs/service_keepers.hpp"

namespace beamheap::analyses {

Result<ServiceStates> find_fact(FactOf<ServiceStates>, const Facts&, Artifact& artifact) {
    return service_states(artifact);
}

namespace fact {
void service_states(FactNeeds& needs) {
    needs.plan.stacks = true;
    needs.whose_terms.emplace_back(ServiceKeepers());
}
}  // namespace fact

}  // namespace beamheap::analyses
