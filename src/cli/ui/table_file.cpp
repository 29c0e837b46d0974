// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/table_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "present/json_writer.hpp"
#include "present/units.hpp"

namespace beamheap::cli::ui {
namespace {

using present::PageTable;

// A cell that holds a text, without what only a screen needs; empty: nothing.
std::string_view told_by(const PageTable& table, std::size_t row, std::size_t column) {
    if (table.columns[column].number) return {};
    std::string_view text = table.text(row, column);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return text == "-" ? std::string_view{} : text;
}

template <class Append>
void add_fields(const PageTable& table, std::string& out, Append append) {
    bool first = true;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (table.columns[c].wide) continue;
        if (!std::exchange(first, false)) out += ',';
        append(c);
    }
    out.append("\r\n");
}

}  // namespace

void TableFile::add(const PageTable& table, std::span<const std::uint32_t> rows, std::string& out) {
    if (!std::exchange(begun_, true)) {
        if (form_ == FileForm::json) out += '[';
        else add_fields(table, out, [&](std::size_t c) { present::append_csv(table.columns[c].name, out); });
    }
    for (const std::uint32_t row : rows)
        if (form_ == FileForm::json) add_json(table, row, out);
        else add_separated(table, row, out);
}

void TableFile::end(std::string& out) const {
    if (form_ == FileForm::json && begun_) out += "\n]\n";
}

void TableFile::add_separated(const PageTable& table, std::size_t row, std::string& out) {
    add_fields(table, out, [&](std::size_t c) {
        if (const auto number = table.number(row, c)) out += fmt::format("{}", *number);
        else if (const std::string_view text = told_by(table, row, c); !text.empty()) present::append_csv(text, out);
    });
}

void TableFile::add_json(const PageTable& table, std::size_t row, std::string& out) {
    present::StringSink sink;
    present::JsonWriter json(sink);
    json.begin_object();
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (table.columns[c].wide) continue;
        json.key(table.columns[c].name);
        if (const auto number = table.number(row, c)) json.number(*number);
        else if (const std::string_view text = told_by(table, row, c); !text.empty()) json.text(text);
        else json.null();
    }
    json.end_object();
    out += std::exchange(has_row_, true) ? ",\n" : "\n";
    out += sink.text();
}

}  // namespace beamheap::cli::ui
