// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/put_off.hpp"

namespace beamheap::analyses {

Result<PutOffs> find_fact(FactOf<PutOffs>, const Facts&, Artifact& artifact) { return PutOffs{put_off(artifact)}; }

namespace fact {
void put_off(FactNeeds& needs) {
    needs.plan.links = needs.plan.stacks = true;
    needs.whose_terms.emplace_back(MayPutOff());
}
}  // namespace fact

}  // namespace beamheap::analyses
