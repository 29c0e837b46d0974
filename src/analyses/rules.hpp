// The rules: each looks at a node for one thing that kills nodes, and says what it found.
//
// A rule is one function in a file of its own under rules/, with its theory and its thresholds, and one row of the
// table in rules.cpp. It is a pure function of RuleInput. It says nothing rather than something doubtful.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyses/finding.hpp"
#include "analyses/slogan.hpp"
#include "analyses/totals.hpp"
#include "analyses/waits.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// What rules look at. The snapshot was loaded with tables, links, stacks, labels, to_the_end and the
/// slots of waiting processes (src/cli/diagnose.cpp).
struct RuleInput {
    const Snapshot& snapshot;
    const Slogan& slogan;
    const Totals& totals;
    const Death& death;
    const Waits& waits;
};

struct Rule {
    std::string_view id;           ///< "queue-flood": what findings, ignores and `explain` call it
    std::string_view description;  ///< one line: what it looks for
    void (*run)(const RuleInput& input, std::vector<Finding>& findings);
};

/// All rules, in the order of their severity at equal findings: a cause before its consequences.
std::span<const Rule> rules();
/// The rule with this id; nullptr where there is none.
const Rule* find_rule(std::string_view id);

/// Runs all rules. The findings come worst first: by severity, causes before victims, then by the order of rules().
std::vector<Finding> run_rules(const RuleInput& input);

}  // namespace beamheap::analyses
