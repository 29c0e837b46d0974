// SPDX-License-Identifier: Apache-2.0
// Tables of what the heaps of all processes hold: binaries outside of them, and words by function.
#pragma once

#include <memory>
#include <vector>

#include "analyses/diagnosis/function_words.hpp"
#include "analyses/facts/unreferenced.hpp"
#include "analyses/memory/binary_holders.hpp"
#include "analyses/memory/hidden_binaries.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// One row per binary, with who holds it. Takes the rows out of `report`, and keeps the rest of it.
Table binary_table(const Names& names, const std::shared_ptr<analyses::BinaryReport>& report);
/// Processes that hold more than the input lists.
Table hidden_table(const Names& names, std::vector<analyses::HiddenBinaries> rows);
/// Blocks that nothing refers to, by their size.
Table unheld_table(std::vector<analyses::UnheldGroup> groups);
/// Words by function, or by function and process; `total` is all of them, of which each has a share.
Table profile_table(const Names& names, std::vector<analyses::FunctionWords> rows, std::uint64_t total,
                    bool per_process);

}  // namespace beamheap::present
