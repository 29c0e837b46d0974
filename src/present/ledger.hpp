// SPDX-License-Identifier: Apache-2.0
// Tables of the ledger.
#pragma once

#include "analyses/memory/ledger.hpp"
#include "present/document.hpp"
#include "present/erlang_text.hpp"

namespace beamheap::present {

/// Kinds of memory with their sums: parts of the total, then the others, the largest first.
Table ledger_area_table(const analyses::Ledger& ledger);
/// Rows that add up to all of it. `ledger` must outlive the table.
Table ledger_table(const Names& names, const analyses::Ledger& ledger);

}  // namespace beamheap::present
