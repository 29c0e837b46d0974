// SPDX-License-Identifier: Apache-2.0
// What a presenter gets: the document with its tables' columns chosen, rows sorted and cut. Internal to present.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "present/document.hpp"
#include "present/render.hpp"
#include "present/secrets/redact.hpp"

namespace beamheap::present {

/// A table as it is to be shown. Row and column numbers are those of the view.
class TableView {
public:
    std::size_t rows() const { return rows_; }    ///< to show
    std::size_t total() const { return total_; }  ///< that there are
    std::size_t columns() const { return columns_.size(); }
    const Column& column(std::size_t c) const { return table_->columns[columns_[c]]; }
    const std::string& empty() const { return table_->empty; }
    const std::string& ranked_by() const { return table_->ranked_by; }
    Value cell(std::size_t row, std::size_t c) const {
        return table_->cell(order_.empty() ? row : order_[row], columns_[c]);
    }
    /// The text in this row's key column, for columns that are `keyed_by` it; else empty.
    std::string key_of(std::size_t row, std::size_t c) const;
    /// The unit of this cell: the column's, or what the column says that it has its unit by.
    Unit unit_of(std::size_t row, std::size_t c) const;
    /// How deep text indents this cell: the number in the column that it is `indent_by`.
    std::size_t depth_of(std::size_t row, std::size_t c) const;

private:
    friend class View;
    static constexpr std::uint32_t no_column = 0xFFFFFFFFu;
    const Table* table_ = nullptr;
    std::vector<std::uint32_t> columns_;
    std::vector<std::uint32_t> keys_;     // by column of the view: the table's column that it is keyed by
    std::vector<std::uint32_t> indents_;  // and that it is indented by
    std::vector<std::uint32_t> units_;    // and that it has its unit by
    std::vector<std::uint32_t> order_;    // empty: as they come
    std::size_t rows_ = 0;
    std::size_t total_ = 0;
};

class View {
public:
    struct Item {
        const Member* member = nullptr;
        TableView table;        ///< when is_table
        bool is_table = false;  ///< shown as a table, or as an object where member->object
        /// The primary member where it is no table: an object as a table of one row, or a list as one of a row each.
        enum class Adapted : std::uint8_t { no, object, list } adapted = Adapted::no;
        bool object() const { return is_table && member->object; }
    };

    static Result<View> make(const Document& document, const RenderOptions& options, const Presenter& presenter);

    const Document& document() const { return *document_; }
    const RenderOptions& options() const { return *options_; }
    const std::vector<Item>& items() const { return items_; }
    /// What CSV, TSV and NDJSON print: a table, or an object as a table of one row; nullptr: there is neither.
    const TableView* primary() const { return has_primary_ ? &primary_table_ : nullptr; }
    bool is_primary(const Item& item) const { return &item == primary_item_; }
    /// One table was asked for (RenderOptions::table): people get it alone.
    bool chosen() const { return !options_->table.empty(); }
    /// Whether people see this member.
    bool for_people(const Item& item) const { return chosen() ? is_primary(item) : item.member->in_text; }
    const Redactor& redactor() const { return redactor_; }

    /// A text of the document, redacted; not yet sanitised.
    std::string text(std::string_view raw, Content content, std::string_view key = {}) const {
        return redactor_.apply(raw, content, key);
    }
    std::string text(const Text& sentence) const { return redactor_.apply(sentence); }

private:
    View(const Document& document, const RenderOptions& options)
        : document_(&document), options_(&options), redactor_(options.redact) {}
    Status choose_columns(TableView& view, bool for_people) const;
    void own_columns(TableView& view, bool for_people) const;
    /// The first `wanted` rows are in their places then; 0: all are.
    Status sort_rows(TableView& view, std::size_t wanted) const;
    /// How many rows are asked for; 0: all.
    std::size_t rows_wanted(const Table& table, bool for_people) const;
    void cut_rows(TableView& view, bool for_people) const;

    const Document* document_;
    const RenderOptions* options_;
    Redactor redactor_;
    std::vector<Item> items_;
    const Item* primary_item_ = nullptr;
    bool has_primary_ = false;
    TableView primary_table_;
    std::shared_ptr<Table> adapted_;  // an object as a table
};

/// The unit that a name ends in: total_bytes, stack_words, left_ms, percent.
Unit unit_of(std::string_view name);
/// What people read in place of a name in JSON, without its unit, which the value says: "stack_words" is "stack".
std::string label_of(std::string_view name);
/// Texts by their letters, numbers within them by value: <0.9.0> stands before <0.10.0>.
std::strong_ordering natural_order(std::string_view a, std::string_view b);
/// Whether values of this unit are set to the right.
bool numeric(Unit unit);
/// A value for people, without any escape: "1.9 GiB", "12,345", "-" for null; texts redacted and sanitised. Arrays are
/// joined by spaces.
std::string people_text(const View& view, const Value& value, Unit unit, Content content, std::string_view key = {});
/// A value for CSV and TSV: bare numbers, empty for null, texts redacted (not sanitised); lists and
/// objects as JSON.
std::string machine_text(const View& view, const Value& value, Content content, std::string_view key = {});
class JsonWriter;
/// A value as JSON, texts redacted.
void write_json(const View& view, const Value& value, Content content, std::string_view key, JsonWriter& json);
void write_json(const Redactor& redactor, const Value& value, Content content, std::string_view key, JsonWriter& json);

/// Defines the row of an output format, at the end of its file: BH_DEFINE_FORMAT(csv){.name = "csv", ...};
#define BH_DEFINE_FORMAT(format)            \
    extern const Presenter format_##format; \
    constinit const Presenter format_##format

}  // namespace beamheap::present
