// SPDX-License-Identifier: Apache-2.0
// Tables as Apache Parquet files, as its specification (parquet-format 2) has them.
//
// A file is a row of groups; a group has a chunk for each column, of pages that are compressed by zstd; behind all
// stands what is known of it: the columns with their types, where each chunk is, its smallest and largest value and how
// many are missing. A value that the input doesn't hold is missing by its definition level, never 0. Every column may
// miss values; a list of texts is a LIST of strings, which repetition levels hold together.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "beamheap/error.hpp"
#include "present/document.hpp"
#include "present/secrets/redact.hpp"

namespace beamheap::present {

/// What a column's values are in files with types: text (lists and objects of others than texts as JSON), or a number.
enum class FileType : std::uint8_t { text, integer, real, flag, texts };
FileType file_type(const Column& column);

class ParquetFile {
public:
    using Take = std::function<Status(std::string_view bytes)>;
    /// `about` is what the file says of itself, as names and values. Bytes go to `to`, from front to back.
    ParquetFile(std::vector<Column> columns, std::vector<std::pair<std::string, std::string>> about, Take to);
    ParquetFile(const ParquetFile&) = delete;
    ParquetFile& operator=(const ParquetFile&) = delete;
    ~ParquetFile();

    /// Rows of a table that has these columns (others are left out, missing ones are null), texts redacted. A group is
    /// written when it has 65,536 rows or 8 MiB before packing, and its pages are packed as they fill: memory does not
    /// grow with the table. Integers from 2^63 on become 2^63-1, since files hold signed ones. Errors: those of `to`.
    Status add(const Table& rows, const Redactor& redactor);
    /// The last group and the end of the file.
    Status finish();

private:
    struct Chunk;
    struct Group;
    Status write(std::string_view bytes);
    Status end_group();
    std::string footer() const;

    std::vector<Column> columns_;
    std::vector<std::pair<std::string, std::string>> about_;
    Take to_;
    std::vector<Chunk> chunks_;  // of the group that is being filled
    std::vector<Group> groups_;
    std::uint64_t rows_ = 0;     // of that group
    std::uint64_t written_ = 0;  // bytes of the file
};

}  // namespace beamheap::present
