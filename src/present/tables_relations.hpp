// SPDX-License-Identifier: Apache-2.0
// Tables that have a row for each thing that other answers show as lists: frames of all stacks, links, references.
#pragma once

#include <span>

#include "analyses/code/applications.hpp"
#include "analyses/memory/binary_holders.hpp"
#include "analyses/processes/totals.hpp"
#include "beamheap/terms.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"
#include "present/secrets/redact.hpp"
#include "present/tables_terms.hpp"

namespace beamheap::present {

/// A row for each frame of each process, youngest first. Needs stacks.
Table all_frames_table(const Names& names);
/// A row for each entry of each process's list of links and monitors. Needs links.
Table link_table(const Names& names);
/// A row for each figure that the VM keeps of its memory: total, processes, binary, ...
Table memory_table(const Names& names);
/// A row for each reference from a heap to a binary outside the heaps. `references` must outlive it.
Table binary_reference_table(const Names& names, std::span<const analyses::HeldBinary> references);
/// One row: the input and its node, and how it was read. `full`: with --full.
Table input_table(const Names& names, RedactLevel level, bool full, const std::optional<analyses::Release>& release);
/// A row for each kind of oddity that was met while the input was read (warnings_of()): what it lost, above all.
Table warning_table(const Names& names);
/// A row for each application: those that run, and others of the code path. `applications` must outlive it.
Table application_table(const Names& names, std::span<const analyses::Application> applications);
/// A row for each object of a process's heap, in the order in which they lie there.
Table object_list_table(const TermView& view);

/// The table with one more column in front, the same in each row: whose rows they are.
Table with_column(Table table, Column column, Value value);
/// The table with the number of the row in front, from 0 on.
Table with_row_numbers(Table table, Column column);

}  // namespace beamheap::present
