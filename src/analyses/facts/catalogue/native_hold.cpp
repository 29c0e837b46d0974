// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/native_hold.hpp"

#include "analyses/facts/catalogue/node_figures.hpp"
#include "analyses/processes/native_stacks.hpp"

namespace beamheap::analyses {

Result<NativeHold> find_fact(FactOf<NativeHold>, const Facts& facts, Artifact& artifact) {
    if (!facts.snapshot().source.jit.value_or(false) || facts.get<AllSchedulers>().function == FunctionId::none)
        return NativeHold{};
    const auto native = artifact.native_threads();
    return NativeHold{native && all_schedulers_in_native(*native)};
}

namespace fact {
void native_hold(FactNeeds& needs) { needs.plan.tables = needs.plan.stacks = true; }
}  // namespace fact

}  // namespace beamheap::analyses
