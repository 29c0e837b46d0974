// SPDX-License-Identifier: Apache-2.0
// The rules: each looks at a node for one thing that kills nodes, and says what it found.
//
// A rule is one file of catalogue/, with its theory, its thresholds and its place among the others, and the page of
// `explain` of its name (docs/explain): the build finds both. It is a pure function of the facts (facts/facts.hpp). It
// says nothing rather than something doubtful.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/causes/told_causes.hpp"
#include "analyses/facts/catalogue/application_starts.hpp"
#include "analyses/facts/catalogue/locks.hpp"
#include "analyses/facts/catalogue/memory_ledger.hpp"
#include "analyses/facts/catalogue/native_hold.hpp"
#include "analyses/facts/catalogue/node_figures.hpp"
#include "analyses/facts/catalogue/pinned.hpp"
#include "analyses/facts/catalogue/put_off.hpp"
#include "analyses/facts/catalogue/restarts.hpp"
#include "analyses/facts/catalogue/service_states.hpp"
#include "analyses/facts/catalogue/shared_names.hpp"
#include "analyses/facts/catalogue/start_failure.hpp"
#include "analyses/facts/catalogue/suspects.hpp"
#include "analyses/facts/catalogue/unheld.hpp"
#include "analyses/facts/catalogue/waits.hpp"
#include "analyses/facts/facts.hpp"
#include "analyses/rules/finding.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct Rule {
    std::string_view id;  ///< "queue-flood": what findings, ignores and `explain` call it
    unsigned order = 0;   ///< at equal findings the smaller comes first: a cause before its consequences
    void (*run)(const Facts& facts, std::vector<Finding>& findings);
};

/// All rules, by their order.
std::span<const Rule> rules();
/// The rule with this id; nullptr where there is none.
const Rule* find_rule(std::string_view id);

/// Runs all rules. The findings come worst first: by severity, causes before victims, then by the order of rules().
std::vector<Finding> run_rules(const Facts& facts);

}  // namespace beamheap::analyses
