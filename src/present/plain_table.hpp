// SPDX-License-Identifier: Apache-2.0
// A table as databases take it: each cell is nothing, an integer, a real or a text, and every text is redacted.
//
// Whoever asks a database for a part of a text (substr, hex, a comparison) gets a part of what redaction left: it is
// done here, before anything else sees the text. Lists and objects are JSON, truth is 1 or 0, and text is UTF-8.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "present/document.hpp"
#include "present/secrets/redact.hpp"

namespace beamheap::present {

using PlainValue = std::variant<std::monostate, std::int64_t, double, std::string>;

/// The value as a database takes it. Integers from 2^63 on become reals. `key` is what the text is filed under.
PlainValue plain_value(const Redactor& redactor, const Value& value, Content content, std::string_view key = {});

/// The text for files of databases, whose readers show it on a terminal: no control characters but ends of lines and
/// tabs.
std::string fit_to_keep(std::string_view text);

/// Whether a column holds numbers alone, and then which: none of text, pids, truth.
enum class PlainKind : std::uint8_t { any, integer, real };
PlainKind plain_kind(const Column& column);

class PlainTable {
public:
    /// What the table refers to must outlive this.
    PlainTable(Table table, std::shared_ptr<const Redactor> redactor);
    std::span<const Column> columns() const { return table_.columns; }
    std::size_t rows() const { return table_.rows; }
    PlainValue cell(std::size_t row, std::size_t column) const;
    /// The same of a column of numbers, as what holds every 64-bit integer; none where it is missing.
    std::optional<long double> number(std::size_t row, std::size_t column) const;
    /// A copy of its cells, which refers to nothing else.
    std::shared_ptr<const PlainTable> copy() const;

private:
    Table table_;
    std::shared_ptr<const Redactor> redactor_;
    std::vector<std::size_t> keys_;  // by column: the column that it is keyed by, or none
};

}  // namespace beamheap::present
