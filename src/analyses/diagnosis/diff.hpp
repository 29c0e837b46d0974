// SPDX-License-Identifier: Apache-2.0
// What grew between two inputs: the same node at two instants, or two nodes that should be alike.
//
// Pids, references and addresses differ in every run, so nothing is matched by them. A registered process is matched by
// its name; all others are summed by kind (label, else $initial_call, else what they were spawned as); besides,
// processes are counted by the functions on their stack. ETS tables go by their name and their owner's, ports by kind
// and driver, atoms by family (atom_families.hpp), timers by receiver and shape of message.
//
// Two moments of one running VM are another matter: there a process without a name is the same by its pid, so that each
// is a row of its own beside its kind's, with the work that it did, and what grew has a rate.
//
// Of more than two inputs, which stand in the order of time, the first is compared with the last. What rose from each
// to the next is growth; what is only more in the end than in the beginning may be the height of a wave, and counts a
// quarter.
//
// Figures of different kinds have to be in one order of growth. Each is weighed: a thousand messages are as much as a
// hundred processes, a hundred ports, ten thousand atoms or 10 MiB. Sums over the node (memory kinds, totals) count a
// quarter and stacks nine tenths, so that the thing that grew stands above the sum that it is part of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/diagnosis/limits.hpp"
#include "analyses/rules/finding.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// What a row is about, in the order in which equal growth is listed.
enum class GrowthOf : std::uint8_t {
    process,        ///< a registered process
    process_group,  ///< the processes without a name of one kind
    ets_table,
    atom_family,
    port_driver,
    timer_receiver,
    stack,   ///< processes that stand at the same place
    memory,  ///< a kind of memory
    total    ///< of the node
};
inline constexpr std::size_t kinds_of_growth = static_cast<std::size_t>(GrowthOf::total) + 1;
/// "process", "process_group", ...
std::string_view name_of(GrowthOf what);

struct Growth {
    GrowthOf what = GrowthOf::total;
    std::string key;           ///< what it is called, without pids
    std::string_view measure;  ///< "messages", "memory", "processes", "objects", "atoms", "ports", ...
    bool bytes = false;        ///< else a count
    Count before, after;       ///< missing: that input does not hold it; what was not there is 0
    std::optional<std::int64_t> delta;
    std::optional<double> percent;           ///< delta, of before; missing where that is 0
    std::optional<std::int64_t> per_minute;  ///< delta as a rate, between two moments of one running VM
    std::vector<Count> between;              ///< in the inputs between them, in their order
    bool steady = false;                     ///< more in each input than in the one before
    double weight = 0;                       ///< what rows are sorted by; negative where it shrank
};

/// Whether two inputs are moments of one running VM: the same process of the system, read first and read later.
bool same_vm(const Snapshot& before, const Snapshot& after);

/// Two loads of tables, stacks, labels, atoms and binaries.
/// Rows that did not change are left out, as are stacks whose number changed by one. Largest growth first. O(n log n).
std::vector<Growth> diff(const Snapshot& before, const Snapshot& after);
/// The same of more inputs; `between`: figures of those between (moment_figures.hpp), in the order of time.
struct Figures;
std::vector<Growth> diff(const Snapshot& before, std::span<const Figures> between, const Snapshot& after);

/// Whether a finding is in one of the inputs or in both, by its fingerprint.
enum class FindingChange : std::uint8_t { added, kept, gone };
/// "new", "kept", "gone".
std::string_view name_of(FindingChange change);
struct ChangedFinding {
    FindingChange change = FindingChange::kept;
    const Finding* finding = nullptr;  ///< the later one where it is in both
};
/// New ones first, then kept, then gone; each in the order of its input.
std::vector<ChangedFinding> diff_findings(const std::vector<Finding>& before, const std::vector<Finding>& after);

/// The rows whose growth breaks the limit: a share is of what was there before (what came from nothing breaks it).
/// Errors: ErrorCode::usage for a metric that is not compared (heap, stack, links).
Result<std::vector<const Growth*>> over_limit(const Limit& limit, const std::vector<Growth>& rows);

}  // namespace beamheap::analyses
