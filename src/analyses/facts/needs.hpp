// SPDX-License-Identifier: Apache-2.0
// What of an input each kind of answer takes: the parts that have to be loaded for it, by what is asked.
//
// A question says what it asks, and the plan of loading follows: `context.open({need::ports})`. A verb, its table in
// `sql` and its section in the report name the same constant, so that they can't differ; what one takes more is added
// here. Facts of rules say theirs in their own files (facts/catalogue), columns of processes in process_columns.cpp.
#pragma once

#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/waits.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::analyses::need {

// What others are made of.
inline constexpr LoadParts processes{};             ///< the process table, which is read in any case
inline constexpr LoadParts node{.tables = true};    ///< memory, ETS, timers, allocators, nodes, schedulers, ...
inline constexpr LoadParts links{.links = true};    ///< who is linked to whom, and who monitors whom
inline constexpr LoadParts stacks{.stacks = true};  ///< frames
inline constexpr LoadParts labels{.labels = true};  ///< what processes are: names that are no registered ones
inline constexpr LoadParts terms{.terms = true};    ///< of single processes
inline constexpr LoadParts code{.modules = true};   ///< loaded modules
inline constexpr LoadParts code_versions{.modules = true, .module_versions = true};  ///< with what tells them apart
inline constexpr LoadParts code_path{.code_path = true};                             ///< where modules came from
inline constexpr LoadParts atom_table{.atoms = true};
inline constexpr LoadParts whole_input{.to_the_end = true};     ///< whether the input is complete
inline constexpr LoadParts binary_sizes{.binaries = true};      ///< of all binaries outside the heaps
inline constexpr LoadParts names_in_texts = node | atom_table;  ///< which free texts (a slogan) may hold, too

// Answers, each under its verb or table. What has a function in it is no constant expression to GCC's sanitizers.
inline constexpr LoadParts input = node | whole_input | code;
inline constexpr LoadParts tree = links | labels;
inline constexpr LoadParts relations = node | links;
inline const LoadParts waits = node | links | stacks | labels | LoadParts{.slots_of = slots_for_waits};
inline const LoadParts ports = waits;  // who waits for one is told
inline constexpr LoadParts atoms = node | atom_table;
inline constexpr LoadParts modules = node | code;
inline constexpr LoadParts schedulers = node | stacks;
inline constexpr LoadParts applications = code_path | terms;
inline constexpr LoadParts logs = stacks | terms;
inline constexpr LoadParts binaries = node | labels;
inline constexpr LoadParts ledger = node | links | labels | code | atom_table;
inline constexpr LoadParts objects = node | labels;         ///< those of ETS tables, and whose records they are
inline constexpr LoadParts process_terms = terms | labels;  ///< of a process that is named by what it is
inline constexpr LoadParts terms_and_stacks = process_terms | stacks;
inline constexpr LoadParts heap_file = node | terms_and_stacks | binary_sizes;
/// All but terms.
inline const LoadParts whole_node = waits | atom_table | code | whole_input;
/// What rules read in the snapshot itself; facts add to it.
inline constexpr LoadParts rules = node | links | stacks | labels | atom_table | code | whole_input;
/// Whatever may be asked, heaps aside.
inline const LoadParts everything = whole_node | terms | binary_sizes;

/// Of columns of processes; their heaps are gathered by HeapStats.
constexpr LoadParts of(const ProcessNeeds& columns) {
    return {.links = columns.links, .stacks = columns.stacks, .labels = columns.labels};
}

}  // namespace beamheap::analyses::need
