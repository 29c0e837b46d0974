// SPDX-License-Identifier: Apache-2.0
// Who started and supervises whom: the processes as a forest, with sums.
//
// A dump doesn't hold supervisors' child lists without decoding their heaps; the tree is told from what every process
// has. The parent of a process is, in this order of trust:
//   1. its spawner ("Spawned by"), if both are linked: how start_link of OTP behaviours leaves it;
//   2. the oldest of the supervisors ($initial_call supervisor:_/_ or supervisor_bridge:_/_) that it is linked to and
//      that are older than itself;
//   3. init or application_controller, if linked to it (the kernel's processes, application masters);
//   4. its spawner without a link, where that still lives;
//   5. its nearest registered ancestor ($ancestors).
// A process whose spawner is gone and for which nothing else holds is an orphan. Where links were not loaded, 1 to 3
// fall back to the spawner alone. Loops, which no real node has, are cut at the process that comes first in the input.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "analyses/base/sum.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

enum class ParentBy : std::uint8_t { none, spawned_linked, supervisor_link, system_link, spawned, ancestor };
std::string_view name_of(ParentBy by);  ///< "spawned_linked", ...

struct TreeNode {
    ProcId parent = ProcId::none;
    ParentBy by = ParentBy::none;
    bool supervisor = false;                      ///< $initial_call says so; needs labels
    bool orphan = false;                          ///< a root whose spawner is known and gone
    bool cut = false;                             ///< a root because its ancestors go round in a circle
    std::uint32_t depth = 0;                      ///< 0: a root
    std::uint32_t first_child = 0, children = 0;  ///< SupervisionTree::children[first_child ..]
    std::uint64_t processes = 1;                  ///< in its subtree, itself included; so are the sums
    Sum memory_bytes, msgq_len, reductions;
};

struct SupervisionTree {
    std::vector<TreeNode> nodes;   ///< by ProcId
    std::vector<ProcId> children;  ///< by parent, oldest first (see below)
    std::vector<ProcId> roots;     ///< oldest first, without orphans
    std::vector<ProcId> orphans;   ///< most memory first
    std::uint64_t cut = 0;         ///< loops that were cut
    bool links_used = false;       ///< false: the input's links were not loaded
    bool labels_used = false;      ///< false: no process had $initial_call
    const TreeNode& operator[](ProcId id) const { return nodes[index_of(id)]; }
    std::span<const ProcId> children_of(ProcId id) const {
        return std::span(children).subspan(nodes[index_of(id)].first_child, nodes[index_of(id)].children);
    }
};

/// O(processes + links), no recursion.
SupervisionTree supervision(const Snapshot& snapshot);

/// A line of the tree as it is shown, depth first.
struct TreeRow {
    ProcId process = ProcId::none;
    std::uint32_t depth = 0;
    std::uint64_t alike = 1;  ///< processes that the line stands for (fold_alike)
    struct Sums {
        Sum memory_bytes, msgq_len, reductions;
    };
    std::shared_ptr<Sums> sums = {};  ///< of these, where it stands for several; a million lines have none
};
/// Depth first from `top` (ProcId::none: all roots, then orphans), down to `max_depth` (0: no bound).
std::vector<TreeRow> tree_rows(const SupervisionTree& tree, ProcId top, std::uint32_t max_depth);
/// Children of one parent that nothing is below, that have neither name nor label and were started as the same: from
/// `least` of them on one line, in the place of the first, stands for all.
std::vector<TreeRow> fold_alike(const Snapshot& snapshot, const SupervisionTree& tree, std::span<const TreeRow> rows,
                                std::uint64_t least);
/// All below `top`, without it, in the order of ProcId.
std::vector<ProcId> descendants(const SupervisionTree& tree, ProcId top);

}  // namespace beamheap::analyses
