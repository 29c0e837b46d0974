// SPDX-License-Identifier: Apache-2.0
// A SQLite file of tables, written once and from front to back.
//
// It is for reading afterwards, so it is written without a journal, in one transaction: what is interrupted is no
// database. Whoever calls this has opened a file without a name, and gives it one when it is whole.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "beamheap/error.hpp"
#include "present/plain_table.hpp"

namespace beamheap::sql {

class DatabaseFile {
public:
    /// What the file says that it is (PRAGMA application_id, user_version): "bmhp", and the schema's number.
    static constexpr int application_id = 0x626D6870, schema_version = 1;

    /// `descriptor` is an empty file, open for reading and writing until this is destroyed. Errors: SQLite's.
    static Result<DatabaseFile> create(int descriptor);
    DatabaseFile(DatabaseFile&&) noexcept;
    DatabaseFile& operator=(DatabaseFile&&) = delete;
    ~DatabaseFile();

    /// A table of these columns behind dump_id; gives its number, from 0 on.
    Result<std::size_t> begin_table(std::string_view name, std::string_view doc,
                                    std::span<const present::Column> columns);
    /// Rows of a table. Errors: SQLite's (the disk is full).
    Status add(std::size_t table, const present::PlainTable& rows, const std::string& dump_id);
    /// Indexes on columns that queries join by, and the end of the transaction.
    Status finish();

private:
    struct State;
    explicit DatabaseFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace beamheap::sql
