// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/shared_names.hpp"

namespace beamheap::analyses {

Result<SharedNames> find_fact(FactOf<SharedNames>, const Facts&, Artifact& artifact) {
    return SharedNames{shared_names(artifact)};
}

namespace fact {
void shared_names(FactNeeds& needs) {
    needs.plan.stacks = needs.plan.modules = true;
    needs.whose_terms.emplace_back(MayNameAlike());
}
}  // namespace fact

}  // namespace beamheap::analyses
