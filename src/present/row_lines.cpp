// SPDX-License-Identifier: Apache-2.0
#include "present/row_lines.hpp"

#include <string>
#include <variant>

#include "present/json_writer.hpp"
#include "present/sanitise.hpp"
#include "present/view.hpp"

namespace beamheap::present {
namespace {

// The text of the column that this one is keyed by, for redaction.
std::string key_of(const Table& table, std::size_t row, const Column& column) {
    if (column.keyed_by.empty()) return {};
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (table.columns[c].name != column.keyed_by) continue;
        const Value key = table.cell(row, c);
        if (const auto* text = std::get_if<std::string>(&key.data())) return *text;
    }
    return {};
}

bool is_number(const Value& value) {
    return !value.is_null() && value.data().index() >= 1 && value.data().index() <= 4;
}

}  // namespace

void write_ndjson_rows(const Table& table, const Redactor& redactor, Sink& sink) {
    for (std::size_t row = 0; row < table.rows; ++row) {
        JsonWriter json(sink);
        json.begin_object();
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            const Column& column = table.columns[c];
            json.key(column.name);
            write_json(redactor, table.cell(row, c), column.content, key_of(table, row, column), json);
        }
        json.end_object();
        sink.put('\n');
    }
}

void write_csv_names(const Table& table, Sink& sink) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (c != 0) sink.put(',');
        append_csv(table.columns[c].name, sink.buffer());
    }
    sink.put('\n');
}

void write_csv_rows(const Table& table, const Redactor& redactor, Sink& sink) {
    for (std::size_t row = 0; row < table.rows; ++row) {
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            const Column& column = table.columns[c];
            const Value value = table.cell(row, c);
            if (c != 0) sink.put(',');
            if (value.is_null()) continue;
            std::string text;
            const std::string key = key_of(table, row, column);
            if (const auto* held = std::get_if<std::string>(&value.data())) {
                text = redactor.apply(*held, column.content, key);
            } else if (const auto* sentence = std::get_if<std::shared_ptr<const Text>>(&value.data())) {
                text = redactor.apply(**sentence);
            } else {
                StringSink whole;
                JsonWriter json(whole);
                write_json(redactor, value, column.content, key, json);
                text = whole.text();
            }
            if (is_number(value)) sink.buffer() += text;
            else append_csv(text, sink.buffer());
        }
        sink.put('\n');
        sink.settle();
    }
}

}  // namespace beamheap::present
