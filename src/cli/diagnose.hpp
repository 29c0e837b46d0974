// Running the rules on an input: what has to be loaded for them, and what they say.
#pragma once

#include <vector>

#include "analyses/rules/rules.hpp"
#include "analyses/diagnosis/suspects.hpp"
#include "beamheap/artifact.hpp"
#include "cli/heap_stats.hpp"
#include "cli/options.hpp"

namespace beamheap::cli {

struct Diagnosis {
    analyses::Slogan slogan;
    analyses::Totals totals;
    analyses::Death death;
    analyses::Waits waits;
    std::vector<analyses::Finding> findings;  ///< worst first
};

class Diagnoser {
public:
    /// `full`: all heaps are decoded (--full), else those that the rules need.
    Diagnoser(const Options& options, bool full);
    Diagnoser(const Diagnoser&) = delete;
    Diagnoser& operator=(const Diagnoser&) = delete;

    /// Adds what the rules need to a plan; this must outlive load().
    void demand(LoadPlan& plan);
    /// After load().
    Result<Diagnosis> diagnose(Artifact& artifact);
    /// What the heaps that were decoded gave.
    const HeapStats& heaps() const { return stats_; }

private:
    const analyses::Suspects& suspects(const Snapshot& snapshot);
    std::vector<analyses::TermFacts> look_into_terms(Artifact& artifact);

    bool full_;
    unsigned threads_;  // 0: one for each core
    bool chosen_ = false;
    analyses::Suspects suspects_;  // once the process table is complete
    HeapStats stats_;
};

}  // namespace beamheap::cli
