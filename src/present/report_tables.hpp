// SPDX-License-Identifier: Apache-2.0
// Tables that only the report has: the processes that its pictures show, and those that its sentences name.
#pragma once

#include <span>
#include <vector>

#include "analyses/processes/applications.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/queue_spread.hpp"
#include "analyses/processes/supervision.hpp"
#include "analyses/processes/waits.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// The processes to list, in the order of ProcId: all, or of more than `most` those with the largest subtrees by memory
/// and by queue, each with all of its ancestors. So what is left out below a process is the sum of its subtree less
/// what is listed.
std::vector<ProcId> processes_to_list(const analyses::SupervisionTree& tree, std::size_t most);

/// A row for each process of `rows`: what it is, the application that it belongs to, its figures, its place in the tree
/// with the sums of its subtree (tree_*), and `stack`, the index of its group in `stacks`. Columns have the names of
/// process_table and tree_table.
Table listed_process_table(const Names& names, const analyses::SupervisionTree& tree,
                           const analyses::ProcessGroups& stacks, const analyses::Applications& applications,
                           std::vector<ProcId> rows);
/// What a reader needs of a process that a sentence names, with its stack.
Table named_process_table(const Names& names, std::vector<ProcId> rows);
/// `table` with these of its columns only, in this order; names that it doesn't have are left out.
Table with_columns(Table table, std::span<const std::string_view> names);
Table queue_spread_table(std::vector<analyses::QueueBin> bins);

}  // namespace beamheap::present
