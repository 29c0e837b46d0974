// SPDX-License-Identifier: Apache-2.0
// Functions of queries besides SQLite's, and those of SQLite's that would take for ever, or say nothing where their
// answer is too long. Internal to sql.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace beamheap::sql {

/// What functions share with the query that calls them.
struct FunctionHost {
    std::function<bool()> late;              ///< whether its time is over
    std::uint64_t value_bytes = 0;           ///< the longest text that a function may give
    std::shared_ptr<sqlite3> elsewhere{};    ///< where SQLite's own printf() is asked; made when it is first needed
    std::shared_ptr<sqlite3_stmt> printf{};  ///< that question, of so many arguments
    int printf_arguments = 0;
};

/// X REGEXP Y (regular_expression.hpp), median(X), percentile(X, P), and for those of SQLite's: instr, replace, LIKE,
/// GLOB, trim, ltrim, rtrim and printf. Text takes at most its length times that of a pattern, and patterns are short.
/// Also the collation PID (compare_ids). Gives SQLite's code; `host` must outlive the connection.
int add_functions(sqlite3* connection, FunctionHost& host);

/// The order of texts in which those like <0.9.0> and #Port<0.10> come first, by their numbers; all others are in the
/// order of their bytes. Negative, 0 (they are the same bytes) or positive.
int compare_ids(std::string_view a, std::string_view b);

}  // namespace beamheap::sql
