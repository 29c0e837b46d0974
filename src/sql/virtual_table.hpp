// SPDX-License-Identifier: Apache-2.0
// A Table as SQLite's virtual table. Internal to sql.
#pragma once

#include <sqlite3.h>

#include <functional>
#include <optional>
#include <string>

#include "sql/tables.hpp"

namespace beamheap::sql {

/// What all tables of a connection share.
struct TableHost {
    std::optional<Error> failure;  ///< of a table that could not give its rows
    std::function<Result<std::string>()> dump_id;
    /// Told while a query is compiled which columns of a table it reads, by their numbers; from 63 on all are one bit.
    std::function<void(const Table& table, std::uint64_t columns)> planned;
};

/// A table under its name in a connection; both must outlive it. Gives SQLite's code.
int add_table(sqlite3* connection, const Table& table, TableHost& host);

/// The column's type as a declaration says it: "INTEGER", "REAL", or nothing for what may be anything.
const char* declared_type(const present::Column& column);
/// A name as SQL quotes it.
std::string quoted_name(std::string_view name);

}  // namespace beamheap::sql
