// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/diagnose.hpp"

#include "analyses/diagnosis/follow.hpp"
#include "analyses/diagnosis/halt.hpp"
#include "analyses/diagnosis/summary.hpp"
#include "analyses/facts/catalogue/application_starts.hpp"
#include "analyses/facts/needs.hpp"

namespace beamheap::analyses {

void Diagnoser::demand(LoadPlan& plan) {
    plan |= need::rules;
    facts_.need(plan);
}

Result<Diagnosis> Diagnoser::judge(Artifact& artifact) {
    facts_.bind(artifact);
    Diagnosis diagnosis;
    diagnosis.largest_place = largest_place(facts_.get<Ledger>());
    diagnosis.findings = run_rules(facts_);
    BH_CHECK(facts_.status());
    diagnosis.slogan = facts_.get<Slogan>();
    diagnosis.totals = facts_.get<Totals>();
    diagnosis.death = facts_.get<Death>();
    if (Sentence who =
            halted_by(facts_.snapshot(), diagnosis.death, diagnosis.slogan, facts_.get<ApplicationStarts>().starting);
        !who.empty()) {
        diagnosis.slogan.meaning = std::move(who);
        diagnosis.tells_who_halted = true;
    }
    if (const auto& all = diagnosis.findings;
        !all.empty() && (all.front().severity != FindingSeverity::info || all.front().leads))
        diagnosis.largest_place.text = second_sentence(facts_, all.front(), diagnosis.largest_place);
    summarise(facts_.snapshot(), diagnosis);
    return diagnosis;
}

Result<Diagnosis> diagnose(Artifact& artifact, const DiagnosisOptions& options) {
    Diagnoser diagnoser(options);
    LoadPlan plan;
    diagnoser.demand(plan);
    BH_CHECK(artifact.load(plan));
    return diagnoser.judge(artifact);
}

Result<Diagnosis> diagnose_loaded(Artifact& artifact, const DiagnosisOptions& options, const HeapStats* gathered) {
    Diagnoser diagnoser(options, gathered);
    LoadPlan plan;
    diagnoser.demand(plan);
    if (plan.heaps != nullptr) BH_CHECK(artifact.visit_heaps(*plan.heaps));
    return diagnoser.judge(artifact);
}

}  // namespace beamheap::analyses
