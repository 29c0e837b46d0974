// SPDX-License-Identifier: Apache-2.0
#include "analyses/facts/facts.hpp"

#include <algorithm>
#include <atomic>

#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/facts/needs.hpp"

namespace beamheap::analyses {

// Each file of catalogue/ defines the function of its name.
namespace fact {
#define BEAMHEAP_FACT(name) void name(FactNeeds& needs);
#include "fact_list.inc"
#undef BEAMHEAP_FACT
}  // namespace fact

void FactNeeds::terms_of(std::vector<ProcId> (*choose)(const Snapshot&)) {
    whose_terms.emplace_back([choose, chosen = std::vector<bool>()](const Snapshot& snapshot, ProcId process) mutable {
        if (chosen.empty()) {
            chosen.resize(snapshot.processes.size());
            for (const ProcId id : choose(snapshot)) chosen[index_of(id)] = true;
        }
        return index_of(process) < chosen.size() && chosen[index_of(process)];
    });
}

Facts::Facts(const FactOptions& options, const HeapStats* gathered) : options_(options), gathered_(gathered) {
    if (gathered == nullptr)
        stats_.emplace(options.threads,
                       HeapWishes{.binaries = true, .binaries_of = &binaries_of_, .sizes = options.sizes});
}

Facts::~Facts() = default;

std::size_t Facts::next_slot() {
    static std::atomic<std::size_t> next{0};
    return next++;
}

void Facts::need(LoadPlan& plan) {
    plan |= need::terms;
    FactNeeds needs{plan, *this};
#define BEAMHEAP_FACT(name) fact::name(needs);
#include "fact_list.inc"
#undef BEAMHEAP_FACT
    plan.terms_of = [this, whose = std::move(needs.whose_terms)](const Snapshot& snapshot, ProcId process) {
        snapshot_ = &snapshot;
        get<Suspects>();  // now, when the process table is complete, whoever is asked about first
        return std::ranges::any_of(whose, [&](const auto& needs) { return needs(snapshot, process); });
    };
    if (gathered_ != nullptr) return;
    stats_->demand(plan, [this, chosen = false](const Snapshot& snapshot, ProcId process) mutable {
        snapshot_ = &snapshot;
        const Suspects& suspects = get<Suspects>();
        if (!std::exchange(chosen, true)) binaries_of_ = suspects.binaries;
        return suspects.decode(process) || options_.full;
    });
}

void Facts::bind(Artifact& artifact) {
    artifact_ = &artifact;
    snapshot_ = &std::as_const(artifact).snapshot();
    if (stats_) stats_->store(artifact);
}

}  // namespace beamheap::analyses
