#include "cli/diagnose.hpp"

namespace beamheap::cli {

Diagnoser::Diagnoser(const Options& options, bool full) : full_(full), stats_(options, {.sizes = options.full}) {}

void Diagnoser::demand(LoadPlan& plan) {
    plan.tables = plan.links = plan.stacks = plan.labels = plan.to_the_end = true;
    plan.slots_of = analyses::is_waiting_function;
    if (full_) stats_.demand(plan);
}

Diagnosis Diagnoser::diagnose(Artifact& artifact) {
    if (full_) stats_.store(artifact);
    const Snapshot& snapshot = artifact.snapshot();
    Diagnosis diagnosis;
    diagnosis.slogan = analyses::read_slogan(snapshot.node.slogan);
    diagnosis.totals = analyses::totals(snapshot);
    diagnosis.death = analyses::death(snapshot);
    diagnosis.waits = analyses::waits(snapshot);
    diagnosis.findings =
        analyses::run_rules({snapshot, diagnosis.slogan, diagnosis.totals, diagnosis.death, diagnosis.waits});
    return diagnosis;
}

}  // namespace beamheap::cli
