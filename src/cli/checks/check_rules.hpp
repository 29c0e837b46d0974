// SPDX-License-Identifier: Apache-2.0
// Rules of a project's own in .beamheap.toml: a query each, whose rows are what is wrong.
//
//     [[rule]]
//     name = "orders-behind"
//     severity = "high"                  # unless told otherwise
//     title = "Order workers are behind"
//     sql = "SELECT pid, name, msgq_len FROM process WHERE name LIKE 'order%' AND msgq_len > 100"
//
// The file may come from somebody who is not trusted: a query does nothing but read (sql/query.hpp), and its time and
// rows are bounded. One that can't be run is a finding, too: a gate does not open because its lock is broken.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/checks/check_config.hpp"
#include "cli/tables/node_model.hpp"
#include "present/check_report.hpp"

namespace beamheap::cli {

/// What a rule's query gave of one input.
struct RuleRows {
    std::uint64_t rows = 0;
    std::vector<std::string> lines;  ///< the first of them, redacted: "pid <0.9.0>, msgq_len 120000"
    std::string failure;             ///< why there are none: the query could not be run; empty: it was
};

/// Compiles all rules and adds what they need loaded. Errors (usage, with file and line): what SQLite says of the
/// statement; what it may not do; columns for which all heaps would have to be decoded, which a gate does not.
Status demand_rules(const CheckConfig& config, const Options& options, Demand& demand);
/// Runs all rules on an input that was loaded with `plan`, which has what they demand. `options.redact` is what queries
/// see.
std::vector<RuleRows> run_rules(const CheckConfig& config, const Options& options,
                                const std::shared_ptr<Artifact>& artifact, const LoadPlan& plan);
/// As a finding; its verdict is the caller's.
present::CheckedFinding finding_of(const SqlRule& rule, const RuleRows& rows);

}  // namespace beamheap::cli
