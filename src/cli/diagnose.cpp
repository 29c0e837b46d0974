#include "cli/diagnose.hpp"

namespace beamheap::cli {

void Diagnoser::demand(LoadPlan& plan) {
    plan.tables = plan.links = plan.stacks = plan.labels = plan.to_the_end = true;
}

Diagnosis Diagnoser::diagnose(Artifact& artifact) {
    const Snapshot& snapshot = artifact.snapshot();
    Diagnosis diagnosis{
        analyses::read_slogan(snapshot.node.slogan), analyses::totals(snapshot), analyses::death(snapshot), {}};
    diagnosis.findings = analyses::run_rules({snapshot, diagnosis.slogan, diagnosis.totals, diagnosis.death});
    return diagnosis;
}

}  // namespace beamheap::cli
