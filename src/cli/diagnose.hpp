// Running the rules on an input: what has to be loaded for them, and what they say.
#pragma once

#include <vector>

#include "analyses/rules.hpp"
#include "beamheap/artifact.hpp"
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
    explicit Diagnoser(const Options& options) : options_(options) {}
    Diagnoser(const Diagnoser&) = delete;
    Diagnoser& operator=(const Diagnoser&) = delete;

    /// Adds what the rules need to a plan; this must outlive load().
    void demand(LoadPlan& plan);
    /// After load().
    Diagnosis diagnose(Artifact& artifact);

private:
    [[maybe_unused]] const Options& options_;
};

}  // namespace beamheap::cli
