// SPDX-License-Identifier: Apache-2.0
// Rows of a table as lines of a file, piece by piece: a table that has no end in memory is written as it comes.
#pragma once

#include <string_view>

#include "present/document.hpp"
#include "present/secrets/redact.hpp"
#include "present/sink.hpp"

namespace beamheap::present {

/// A line of JSON for each row, as --format ndjson has it.
void write_ndjson_rows(const Table& table, const Redactor& redactor, Sink& sink);
/// The line of names, and a line for each row, as --format csv has them.
void write_csv_names(const Table& table, Sink& sink);
void write_csv_rows(const Table& table, const Redactor& redactor, Sink& sink);

}  // namespace beamheap::present
