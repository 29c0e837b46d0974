// SPDX-License-Identifier: Apache-2.0
// What `check` is told besides its options: .beamheap.toml, and the baseline.
//
//     fail-on = "high"                # or a list: ["critical", "msgq>10000"]
//     baseline = "known.json"         # of an earlier check --json; relative to this file
//     [limits]
//     msgq = 10000
//     heap = "512MiB"
//     atoms = "80%"
//     [[ignore]]
//     rule = "idle-garbage"           # * stands for any bytes
//     subject = "tls_connection:*"    # all without it
//     until = 2027-01-01              # the first day on which it no longer holds
//     reason = "OPS-12"
//     [[rule]]                        # of the project's own; check_rules.hpp
//     name = "orders-behind"
//     sql = "SELECT pid, msgq_len FROM process WHERE name LIKE 'order%' AND msgq_len > 100"
//
// check_config.cpp is the only file that includes toml++.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/diagnosis/limits.hpp"
#include "beamheap/error.hpp"

namespace beamheap::cli {

struct Ignore {
    std::string rule;
    std::string subject = "*";
    std::string until;  ///< "2027-01-01"; empty: for good
    std::string reason;
    std::size_t line = 0;
    bool expired(std::string_view today) const { return !until.empty() && today >= until; }
    /// `of`: the finding's subject, as text.
    bool fits(std::string_view of_rule, std::string_view of) const;
};

/// A rule of the project's own: the rows of a query are what is wrong.
struct SqlRule {
    std::string name;
    std::string title;  ///< its name unless told otherwise
    std::string query;
    analyses::FindingSeverity severity = analyses::FindingSeverity::high;
    std::size_t line = 0;
};

struct CheckConfig {
    std::string path;  ///< empty: there is none
    analyses::FailOn fail_on;
    std::vector<Ignore> ignores;
    std::vector<SqlRule> rules;
    std::string baseline;
};

/// `rules` are the rules that an ignore may name. Errors: ErrorCode::usage with the line: what is no TOML, keys that
/// there are not, values of another type, limits that mean nothing.
Result<CheckConfig> parse_check_config(std::string_view text, const std::string& path,
                                       const std::vector<std::string_view>& rules);
/// Reads the file `path`; where that is empty, .beamheap.toml of the current folder or the nearest one above it.
Result<CheckConfig> read_check_config(const std::string& path, const std::vector<std::string_view>& rules);

/// The fingerprints in what an earlier `check --json` (or `analyze --json`) printed. Errors: unreadable, usage (not
/// such a file).
Result<std::set<std::string, std::less<>>> read_baseline(const std::string& path);

/// "2026-08-31", in UTC.
std::string today();

}  // namespace beamheap::cli
