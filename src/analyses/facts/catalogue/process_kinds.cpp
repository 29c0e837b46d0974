// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/process_kinds.hpp"

#include "analyses/processes/process_columns.hpp"

namespace beamheap::analyses {

Result<ProcessKinds> find_fact(FactOf<ProcessKinds>, const Facts& facts) {
    return ProcessKinds{group_by_initial_call(facts.snapshot(), all_processes(facts.snapshot()))};
}

namespace fact {
void process_kinds(FactNeeds& needs) { needs.plan.labels = true; }
}  // namespace fact

}  // namespace beamheap::analyses
