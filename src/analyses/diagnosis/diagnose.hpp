// SPDX-License-Identifier: Apache-2.0
// The diagnosis of an input: what of it has to be read for the rules, and what they say.
//
// An embedder calls diagnose(). The command line, which reads more from the same pass over the input, adds the needs of
// a Diagnoser to its own plan and asks it afterwards.
#pragma once

#include <vector>

#include "analyses/facts/facts.hpp"
#include "analyses/rules/rules.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

using DiagnosisOptions = FactOptions;

struct Diagnosis {
    Slogan slogan;
    Totals totals;
    Death death;
    std::vector<Finding> findings;  ///< worst first

    LargestPlace largest_place;  ///< where most of the memory is, or what goes on behind a wait (follow.hpp)

    /// The sentences to begin with: the worst finding, unless it is of severity info; what the slogan or the signal
    /// means; who was running; what the input leaves out. Each is said once. The second one is where most of the memory
    /// is, or the first where no finding goes before it and that place stands out in a node that nothing has ended.
    std::vector<Sentence> summary;
    bool tells_who_halted = false;  ///< slogan.meaning names who called erlang:halt
    bool says_worst = false;        ///< the summary begins with the title of findings.front()
    /// What the slogan advises besides, and no finding does.
    std::vector<Sentence> next_steps;
};

class Diagnoser {
public:
    /// `gathered` as Facts takes it.
    explicit Diagnoser(const DiagnosisOptions& options, const HeapStats* gathered = nullptr)
        : facts_(options, gathered) {}

    /// Adds what the rules need to a plan; this must outlive load().
    void demand(LoadPlan& plan);
    /// After load(), once: runs the rules. Errors: those of reading heaps and tables again.
    Result<Diagnosis> judge(Artifact& artifact);
    /// What the rules have asked for, and what else is known of the node.
    const Facts& facts() const { return facts_; }

private:
    Facts facts_;
};

/// Loads what the rules need of an artifact that was just opened, and runs them. Errors: those of load() and judge().
Result<Diagnosis> diagnose(Artifact& artifact, const DiagnosisOptions& options = {});
/// The same of one that was loaded with need::everything; heaps are decoded again where they were not `gathered`.
Result<Diagnosis> diagnose_loaded(Artifact& artifact, const DiagnosisOptions& options, const HeapStats* gathered);

}  // namespace beamheap::analyses
