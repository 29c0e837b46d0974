// SPDX-License-Identifier: Apache-2.0
// The tables that a verb answers with, and their columns, without an input of anybody's.
//
// Columns are defined where tables are made (present/tables.hpp), and nowhere else. So that help, completions and the
// manual page can tell them, a verb is asked about a small dump that the program carries along, and what it answers is
// looked at instead of being printed.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/commands.hpp"
#include "present/document.hpp"

namespace beamheap::cli {

struct AnswerTable {
    std::string name;   ///< as --table and JSON have it
    bool main = false;  ///< the one that --sort orders, and that CSV prints
    std::vector<present::Column> columns;
};

/// The main table first; columns that only some of the verb's options show come last. Empty: its answer has no table,
/// or it is about core images alone.
std::vector<AnswerTable> answer_tables(const Command& command);

}  // namespace beamheap::cli
