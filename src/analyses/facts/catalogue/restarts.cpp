// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/restarts.hpp"

namespace beamheap::analyses {

Result<RecentRestarts> find_fact(FactOf<RecentRestarts>, const Facts&, Artifact& artifact) {
    return RecentRestarts{supervisor_restarts(artifact)};
}

namespace fact {
void restarts(FactNeeds& needs) {
    needs.plan.labels = true;
    needs.whose_terms.emplace_back(keeps_restarts);
}
}  // namespace fact

}  // namespace beamheap::analyses
