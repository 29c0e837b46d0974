// SPDX-License-Identifier: Apache-2.0
// Limits that users set on a node's figures: `msgq>10000`, `heap>512MiB`, `atoms>80%`.
//
// A limit on a figure of processes is broken by any process that is over it; a limit on a figure of the node by the
// node. Shares (%) are of the VM's own limit for processes, ports and atoms, of the total for kinds of memory, and of
// the sum over all processes for figures of processes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/processes/totals.hpp"
#include "analyses/rules/finding.hpp"
#include "analyses/selectors/selectors.hpp"
#include "beamheap/error.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

enum class LimitMetric : std::uint8_t {
    msgq,
    memory,
    heap,
    stack,
    links,
    processes,
    ports,
    atoms,
    ets_tables,
    timers,
    messages,
    total,
    binary,
    ets,
    code
};

struct LimitMetricInfo {
    LimitMetric metric;
    Ours name;              ///< "msgq": as users write it
    std::string_view rule;  ///< "limit-msgq": what a finding about it is called
    bool of_process;        ///< a figure of each process, not of the node
    bool bytes;             ///< bytes; else a count
    Ours says;              ///< "messages in its queue"
};
std::span<const LimitMetricInfo> limit_metrics();
const LimitMetricInfo& info(LimitMetric metric);

struct Limit {
    LimitMetric metric = LimitMetric::msgq;
    bool inclusive = false;  ///< >=
    Quantity quantity;
    std::string text;  ///< as it was written
};

/// Reads `NAME>QUANTITY` or `NAME>=QUANTITY`. Errors: ErrorCode::usage, with what there is.
Result<Limit> parse_limit(std::string_view text);
/// The limit on the metric called `name`, as a file of limits has it: broken by what is larger than `quantity`.
Result<Limit> make_limit(std::string_view name, std::string_view quantity);
/// What a number is over a limit; `whole` is what a share is of (missing: a share can't be told, so it is not over).
bool exceeds(const Limit& limit, Count figure, Count whole);

/// A limit held against a node.
struct LimitVerdict {
    bool known = true;               ///< false: the input does not hold the figure
    std::optional<Finding> finding;  ///< where it is broken: the worst process, or the node
};
/// `snapshot` was loaded with tables, and with stacks for `stack`. `heap` is both blocks, young and old. O(processes).
LimitVerdict check_limit(const Limit& limit, const Snapshot& snapshot, const Totals& totals);

/// What makes a gate fail: findings of a severity or worse, and limits.
struct FailOn {
    std::optional<FindingSeverity> severity;
    std::vector<Limit> limits;
};
/// "critical", "high", "medium", "info"; nullopt for another word.
std::optional<FindingSeverity> severity_named(std::string_view word);
/// Adds one word of --fail-on: a severity (the last one holds) or a limit. Errors: ErrorCode::usage.
Status add_fail_on(FailOn& fail_on, std::string_view word);

}  // namespace beamheap::analyses
