// SPDX-License-Identifier: Apache-2.0
// The tables of an input by which `sql` and `export` know it: one schema, with the columns that other verbs show.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tables/node_model.hpp"
#include "sql/query.hpp"
#include "sql/tables.hpp"

namespace beamheap::cli {

/// The tables as queries read them; `model` must outlive them, and may be without an input until rows are asked for.
std::vector<sql::Table> query_tables(NodeModel& model);
/// What has to be loaded for these columns.
Demand demand_of(const std::vector<sql::Table>& tables, const std::vector<sql::ColumnUse>& uses);

/// Whether a file of `export` has them with --full alone.
bool needs_full(const std::vector<sql::Table>& tables, const std::vector<sql::ColumnUse>& uses);

/// A table with all its rows for a file, piece by piece.
struct ExportTable {
    std::string_view name;
    std::string_view doc;
    bool of_heaps = false;  ///< it needs all heaps decoded: --full has it
    Demand demand;
    std::vector<present::Column> columns;
    /// Gives all rows, in pieces that hold during the call only; empty where rows are terms (parted_rows).
    std::function<Status(const std::function<Status(const present::Table&)>& take)> rows;
};
std::vector<ExportTable> export_tables(NodeModel& model, bool full);

/// The rows of tables whose `rows` is empty, process by process: the terms of each are read once for all tables. `take`
/// is given a table's place in `tables` with a piece that holds during the call only.
Status parted_rows(NodeModel& model, std::span<const ExportTable* const> tables, When progress,
                   const std::function<Status(std::size_t table, const present::Table& piece)>& take);

/// What tells this input from others: a hash of all its (decompressed) bytes, 32 hexadecimal digits, whatever the file
/// is called and however it is compressed. A VM that runs is another input each time that it is read: of its pid and
/// the time. Errors: those of reading it; standard input, which is gone.
Result<std::string> dump_id_of(const std::string& path);

}  // namespace beamheap::cli
