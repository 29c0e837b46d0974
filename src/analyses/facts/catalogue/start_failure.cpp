// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/catalogue/start_failure.hpp"

#include "analyses/causes/boot_stage.hpp"
#include "analyses/facts/catalogue/node_figures.hpp"

namespace beamheap::analyses {

Result<StartFailure> find_fact(FactOf<StartFailure>, const Facts& facts, Artifact& artifact) {
    StartFailure found;
    const Slogan& slogan = facts.get<Slogan>();
    if (!is_failed_start(slogan.kind)) return found;
    found.events = log_events(artifact);
    found.told =
        told_cause(facts.snapshot(), slogan.reason, found.events, slogan.kind == SloganKind::application_terminated);
    found.loader_path = loader_path(artifact);
    found.folders_not_found = folders_not_found(artifact, found.loader_path);
    return found;
}

namespace {

/// Of such a node its loggers know why.
struct MayTellWhy {
    bool operator()(const Snapshot& snapshot, ProcId process) {
        if (!failed_start) failed_start = is_failed_start(read_death(snapshot.node).kind);
        return *failed_start && holders(snapshot, process);
    }
    std::optional<bool> failed_start;
    EventHolders holders;
};

}  // namespace

namespace fact {
void start_failure(FactNeeds& needs) {
    needs.plan.stacks = needs.plan.modules = true;
    needs.whose_terms.emplace_back(MayTellWhy());
}
}  // namespace fact

}  // namespace beamheap::analyses
