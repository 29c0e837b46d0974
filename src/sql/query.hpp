// SPDX-License-Identifier: Apache-2.0
// One SELECT over tables (tables.hpp), by SQLite in memory, which may come from somebody who is not trusted.
//
// What a query can do is read: SQLite's authorizer refuses all else (ATTACH, PRAGMA, writing, loading code), and bounds
// hold for its time, its rows, its memory, the length of a value, and the size of the statement.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "present/plain_table.hpp"
#include "sql/tables.hpp"

namespace beamheap::sql {

struct Limits {
    std::chrono::seconds time{60};
    std::uint64_t rows = 1'000'000;           ///< of the answer
    std::uint64_t kept = UINT64_MAX;          ///< rows behind so many are counted, and not kept
    std::uint64_t answer_bytes = 1u << 30;    ///< of the answer in memory
    std::uint64_t value_bytes = 16u << 20;    ///< of one text
    std::uint64_t memory_bytes = 2ull << 30;  ///< of SQLite itself: sorting, grouping, recursion
};

/// Rows, row after row.
struct Answer {
    std::vector<std::string> columns;  ///< each name once: a second `pid` is `pid_2`
    std::vector<present::PlainValue> values;
    std::uint64_t total = 0;  ///< rows that there are, those that were not kept among them
    std::size_t rows() const { return columns.empty() ? 0 : values.size() / columns.size(); }
};

class Query {
public:
    /// Compiles one statement. Errors (usage): what SQLite says of it, what it may not do; more than one statement.
    static Result<std::unique_ptr<Query>> compile(std::vector<Table> tables, std::string_view statement,
                                                  const Limits& limits);
    Query(const Query&) = delete;
    Query& operator=(const Query&) = delete;
    ~Query();

    /// What it reads, each once. A table of which it reads no column (count(*)) is there with the first one.
    const std::vector<ColumnUse>& uses() const;
    /// Runs it: now the tables are asked for rows. `dump_id` is asked where that column is read. Errors: those of the
    /// tables; a bound that was reached (resource_limit); what goes wrong in SQLite (usage).
    Result<Answer> run(std::function<Result<std::string>()> dump_id);

private:
    struct State;
    explicit Query(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace beamheap::sql
