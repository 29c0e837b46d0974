// SPDX-License-Identifier: Apache-2.0
// The tables that beamheap shows, each column defined once: name, unit, meaning and how it is computed.
//
// All outputs (text, JSON, CSV, ...) show these columns under these names; the contract's names win. Tables keep
// references to the snapshot behind `names` and to the reports that they are made from: those must outlive them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analyses/heaps/unshared_terms.hpp"
#include "analyses/memory/allocators.hpp"
#include "analyses/memory/atom_families.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/process_growth.hpp"
#include "analyses/processes/supervision.hpp"
#include "beamheap/artifact.hpp"
#include "beamheap/code_module.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// Looks for what a process is where that is to be told, row by row. Where it is given, people are shown what processes
/// are called: who has no name by its label, or by what it was started as.
using Identify = std::function<void(ProcId)>;

/// What of a process the input was read for, and so which columns people see.
struct ProcessColumns {
    bool labels = false;     ///< label, group_key and real_initial_call were loaded; else they are null
    bool heaps = false;      ///< people see what decoded heaps tell: live and garbage words, binaries
    Identify identify = {};  ///< where it is given, initial_call is the real one
};

Table process_table(const Names& names, std::vector<ProcId> rows, const ProcessColumns& columns);
/// What processes did and came to hold within so many seconds.
Table process_growth_table(const Names& names, std::vector<analyses::ProcessGrowth> rows, double seconds);
/// Rows of one kind as one (analyses::group_alike): what they are, how many, an example. `groups` must outlive the
/// table.
Table alike_table(const Names& names, const analyses::ProcessGroups& groups);
/// Where a table of stacks has the lines of frames: in a column of their own, or, for people, with the functions.
enum class Places : std::uint8_t { apart, beside_functions };
/// One row per identical stack.
Table stack_group_table(const Names& names, const analyses::ProcessGroups& groups, Places places);
/// One row per process: its stack and who it is.
Table process_stack_table(const Names& names, std::vector<ProcId> processes, Places places,
                          const Identify& identify = {});
/// One row per initial call or group, whichever the groups were made by.
Table group_table(const Names& names, const analyses::ProcessGroups& groups);
/// The supervision tree, depth first.
Table tree_table(const Names& names, const analyses::SupervisionTree& tree, std::vector<analyses::TreeRow> rows);
/// Terms whose copy would be far larger than they are.
Table blown_table(const Names& names, std::vector<analyses::BlownTerm> terms);
/// How an entry of a link list is told: as what it is, a pid or port, or, for people, with what the process is called.
enum class LinkWords : std::uint8_t { plain, named };
/// The entries of a process's link list of these kinds, at most `most`, then one that says how many more there are.
Array link_array(const Names& names, const Process& process, std::span<const LinkKind> kinds, std::size_t most,
                 LinkWords words);

Table port_table(const Names& names, const Identify& identify = {});
Table port_group_table(const Names& names, const analyses::PortReport& report);
Table ets_table(const Names& names, const analyses::EtsReport& report, const Identify& identify = {});
Table ets_owner_table(const Names& names, const analyses::EtsReport& report, const Identify& identify = {});
Table timer_table(const Names& names, const Identify& identify = {});
Table timer_group_table(const Names& names, const analyses::TimerReport& report, const Identify& identify = {});
/// One row per scheduler, or per one of `only`, indices into Snapshot::schedulers.
Table scheduler_table(const Names& names, Places places, const Identify& identify = {},
                      std::optional<std::vector<std::size_t>> only = {});
Table node_table(const Names& names);
/// What became of the search for a module's file, by its place in Snapshot::modules.
struct ModuleCode {
    CodeMatch match = CodeMatch::not_there;
    std::string file;
};
/// `code` is empty where no files were looked for.
Table module_table(const Names& names, const analyses::ModuleReport& report, std::vector<ModuleCode> code);

Table atom_table(const Names& names);
Table atom_family_table(const Names& names, const analyses::AtomFamilies& families);
Table allocator_table(const Names& names, std::span<const analyses::AllocatorUse> uses);
Table segment_table(std::span<const analyses::SegmentUse> segments);
Table mmap_table(const Names& names, std::span<const analyses::MmapUse> mmaps);
Table area_table(const Names& names);
Table vm_table_table(const Names& names);
Table check_table(std::vector<Check> checks);

}  // namespace beamheap::present
