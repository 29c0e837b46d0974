// The diagnosis of an input: what of it has to be read for the rules, and what they say.
//
// An embedder calls diagnose(). The command line, which reads more from the same pass over the input, adds the needs of
// a Diagnoser to its own plan and asks it afterwards.
#pragma once

#include <optional>
#include <vector>

#include "analyses/diagnosis/heap_stats.hpp"
#include "analyses/diagnosis/suspects.hpp"
#include "analyses/logs/log_events.hpp"
#include "analyses/memory/ledger.hpp"
#include "analyses/rules/rules.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

struct DiagnosisOptions {
    unsigned threads = 0;  ///< 0: one for each core of this machine
    bool full = false;     ///< decode every heap, else only those that the rules need
    bool sizes = false;    ///< also look for terms that a message would copy without their sharing
};

struct Diagnosis {
    Slogan slogan;
    Totals totals;
    Death death;
    Waits waits;
    std::vector<Finding> findings;  ///< worst first

    LargestPlace largest_place;  ///< where most of the memory is

    /// The sentences to begin with: the worst finding, unless it is of severity info; what the slogan or the signal
    /// means; who was running; what the input leaves out. Each is said once. The second one is where most of the memory
    /// is, or the first where no finding goes before it and that place stands out in a node that nothing has ended.
    std::vector<Sentence> summary;
    bool says_worst = false;  ///< the summary begins with the title of findings.front()
    /// What the slogan advises besides, and no finding does.
    std::vector<Sentence> next_steps;
};

class Diagnoser {
public:
    /// `gathered`: figures of all heaps, with their references to binaries, that somebody else has gathered and stored;
    /// then none are decoded for the diagnosis. It must outlive this.
    explicit Diagnoser(const DiagnosisOptions& options, const HeapStats* gathered = nullptr);
    Diagnoser(const Diagnoser&) = delete;
    Diagnoser& operator=(const Diagnoser&) = delete;

    /// Adds what the rules need to a plan; this must outlive load().
    void demand(LoadPlan& plan);
    /// After load(): runs the rules. Errors: those of reading heaps and tables again.
    Result<Diagnosis> judge(Artifact& artifact);
    /// What the heaps that were decoded gave.
    const HeapStats& heaps() const { return gathered_ != nullptr ? *gathered_ : stats_; }

private:
    const Suspects& suspects(const Snapshot& snapshot);
    std::vector<TermFacts> look_into_terms(Artifact& artifact);
    std::optional<ApplicationStarts> read_starts(Artifact& artifact);
    bool may_tell_why(const Snapshot& snapshot, ProcId process);

    const HeapStats* gathered_;
    bool full_;
    unsigned threads_;
    bool chosen_ = false;
    Suspects suspects_;  // once the process table is complete
    std::optional<bool> failed_start_;
    EventHolders holders_;
    HeapStats stats_;
};

/// Loads what the rules need of an artifact that was just opened, and runs them. Errors: those of load() and judge().
Result<Diagnosis> diagnose(Artifact& artifact, const DiagnosisOptions& options = {});

}  // namespace beamheap::analyses
