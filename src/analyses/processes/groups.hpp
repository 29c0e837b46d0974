// SPDX-License-Identifier: Apache-2.0
// Processes grouped by what they have in common: the same stack, the same initial call, the same group.
//
// A node with 100,000 processes has a few dozen kinds of process; who died, grew or waits is a kind first and a pid
// second. Stacks and functions are interned, so grouping is counting by a 32-bit id.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyses/base/sum.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// What a process belongs to: the nearest registered ancestor, else its label ($process_label), else its
/// $initial_call; failing all of these what it was spawned as.
struct GroupKey {
    enum class Kind : std::uint8_t { none, ancestor, label, initial_call, spawned_as } kind = Kind::none;
    TextId text = TextId::none;              ///< of ancestor (an atom's name) and label (a printed term)
    FunctionId function = FunctionId::none;  ///< of initial_call and spawned_as
    friend bool operator==(const GroupKey&, const GroupKey&) = default;
};
GroupKey group_key(const Process& process);
/// As it is shown: the atom quoted, the label as printed, m:f/a. Empty for none.
std::string group_text(const Snapshot& snapshot, const GroupKey& key);

struct ProcessGroup {
    StackId stack = StackId::none;           ///< of group_by_stack; none: processes whose stack the input does not hold
    FunctionId function = FunctionId::none;  ///< of group_by_initial_call; none: not in the input
    GroupKey key;                            ///< of group_by_key
    std::uint64_t count = 0;
    double percent = 0;             ///< of the processes that were grouped
    std::uint32_t first = 0;        ///< its members are ProcessGroups::members[first .. first + count)
    ProcId example = ProcId::none;  ///< the largest member, the first of equals
    Sum memory_bytes;
    Sum size_bytes;  ///< of process_bytes: memory, or heaps where that is not known
    Sum msgq_len;
    Sum reductions;
};

/// The largest is who has most process_bytes.
struct ProcessGroups {
    std::vector<ProcessGroup> groups;  ///< most processes first, then the largest, then the input's order
    std::vector<ProcId> members;       ///< by group; within a group in the input's order
    std::span<const ProcId> members_of(const ProcessGroup& group) const {
        return std::span(members).subspan(group.first, static_cast<std::size_t>(group.count));
    }
};

/// Groups of `processes` (all_processes() for all) by identical stack: same functions, offsets and lines. O(n).
ProcessGroups group_by_stack(const Snapshot& snapshot, std::span<const ProcId> processes);
/// By $initial_call, or what the process was spawned as where it has none.
ProcessGroups group_by_initial_call(const Snapshot& snapshot, std::span<const ProcId> processes);
/// Rows of one kind as one: processes without a name that were started as the same and are in the same function. Each
/// that has a name is a group of its own. `function` is what they were started as. The largest first.
ProcessGroups group_alike(const Snapshot& snapshot, std::span<const ProcId> processes);
/// What a process was started as: its $initial_call, else what it was spawned as.
FunctionId first_call(const Process& process);
/// By group_key.
ProcessGroups group_by_key(const Snapshot& snapshot, std::span<const ProcId> processes);

}  // namespace beamheap::analyses
