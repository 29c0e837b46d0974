#include "cli/diagnose.hpp"

#include <utility>

#include "cli/unreferenced.hpp"

namespace beamheap::cli {

namespace {

// What --full may look into: a process of 256 MB takes a second or two.
constexpr analyses::SuspectBudget everything{.sample_words = 64'000'000, .term_words = 32'000'000, .messages = 200'000};

constexpr std::uint64_t many_binary_bytes = 64u << 20;

}  // namespace

Diagnoser::Diagnoser(const Options& options, bool full)
    : full_(full),
      threads_(options.threads),
      stats_(options, {.binaries = true, .binaries_of = &suspects_.binaries, .sizes = options.full}) {}

const analyses::Suspects& Diagnoser::suspects(const Snapshot& snapshot) {
    if (!std::exchange(chosen_, true))
        suspects_ = analyses::suspects(snapshot, full_ ? everything : analyses::SuspectBudget{});
    return suspects_;
}

void Diagnoser::demand(LoadPlan& plan) {
    plan.tables = plan.links = plan.stacks = plan.labels = plan.atoms = plan.to_the_end = true;
    plan.slots_of = analyses::is_waiting_function;
    plan.terms = true;
    plan.terms_of = [this](const Snapshot& snapshot, ProcId id) { return suspects(snapshot).look_into(id); };
    stats_.demand(plan, [this](const Snapshot& snapshot, ProcId id) { return suspects(snapshot).decode(id) || full_; });
}

std::vector<analyses::TermFacts> Diagnoser::look_into_terms(Artifact& artifact) {
    std::vector<analyses::TermFacts> facts;
    for (const ProcId id : suspects(artifact.snapshot()).terms)
        if (const auto terms = artifact.terms(id))
            facts.push_back(analyses::look_into(artifact.snapshot(), id, **terms));
    return facts;
}

Result<Diagnosis> Diagnoser::diagnose(Artifact& artifact) {
    stats_.store(artifact);
    const Snapshot& snapshot = artifact.snapshot();
    std::vector<analyses::HeldBinary> held;
    for (const BinaryHold& hold : stats_.binaries())
        held.push_back({{hold.address, hold.offset, hold.size, hold.process}, hold.named});
    const auto size_of = [&](std::uint64_t address) { return artifact.binary_bytes(address); };
    const std::vector<analyses::PinnedBinaries> pinned = analyses::pinned_binaries(snapshot, held, size_of);
    const std::vector<analyses::TermFacts> terms = look_into_terms(artifact);
    // Where binaries are much of the node, an input with the allocator's blocks tells how much nothing refers to.
    std::optional<analyses::UnheldBinaries> unheld;
    if (snapshot.memory_bytes("binary").value_or(0) >= many_binary_bytes) {
        BH_TRY(unheld, unheld_binaries(artifact, threads_));
    }
    Diagnosis diagnosis;
    diagnosis.slogan = analyses::read_slogan(snapshot.node.slogan);
    diagnosis.totals = analyses::totals(snapshot);
    diagnosis.death = analyses::death(snapshot);
    diagnosis.waits = analyses::waits(snapshot);
    diagnosis.findings = analyses::run_rules({snapshot, diagnosis.slogan, diagnosis.totals, diagnosis.death,
                                              diagnosis.waits, terms, pinned, unheld ? &*unheld : nullptr});
    return diagnosis;
}

}  // namespace beamheap::cli
