// SPDX-License-Identifier: Apache-2.0
// Rows of a table as a file has them: separated values, or an array of JSON with a line for each row. Columns have
// their names in JSON, and figures are bare; a cell that tells nothing is empty, or null.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "present/page.hpp"

namespace beamheap::cli::ui {

enum class FileForm : std::uint8_t { separated, json };

class TableFile {
public:
    explicit TableFile(FileForm form) : form_(form) {}
    /// Appends rows of a table; before the first of them, what a file begins with. Wide columns are left out.
    void add(const present::PageTable& table, std::span<const std::uint32_t> rows, std::string& out);
    /// Appends what it ends with.
    void end(std::string& out) const;

private:
    static void add_separated(const present::PageTable& table, std::size_t row, std::string& out);
    void add_json(const present::PageTable& table, std::size_t row, std::string& out);
    FileForm form_;
    bool begun_ = false;
    bool has_row_ = false;
};

}  // namespace beamheap::cli::ui
