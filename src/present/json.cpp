// SPDX-License-Identifier: Apache-2.0
// The object of schema beamheap/1: schema, kind, source, warnings, then the verb's members in order.
#include "present/json_writer.hpp"
#include "present/view.hpp"

namespace beamheap::present {
namespace {

void write_row(const View& view, const TableView& table, std::size_t row, JsonWriter& json) {
    json.begin_object();
    for (std::size_t c = 0; c < table.columns(); ++c) {
        const Column& column = table.column(c);
        json.key(column.name);
        write_json(view, table.cell(row, c), column.content, table.key_of(row, c), json);
    }
    json.end_object();
}

void write_source(const View& view, const Object& source, JsonWriter& json) {
    if (source.empty()) return json.null();
    json.begin_object();
    for (const auto& entry : source) {
        json.key(entry.first);
        write_json(view, entry.second, Content::message, {}, json);
    }
    json.end_object();
}

}  // namespace

static void present_json(const View& view, Sink& sink) {
    const Document& document = view.document();
    JsonWriter json(sink);
    json.begin_object();
    json.key("schema");
    json.text("beamheap/1");
    json.key("kind");
    json.text(document.kind);
    json.line();
    if (document.sources.empty()) {
        json.key("source");
        write_source(view, document.source, json);
    } else {
        json.key("sources");
        json.begin_array();
        for (const Object& source : document.sources) {
            json.line();
            write_source(view, source, json);
        }
        json.end_array();
    }
    json.line();
    json.key("warnings");
    json.begin_array();
    for (const Warning& warning : document.warnings) {
        json.line();
        json.begin_object();
        json.key("name");
        json.text(warning.name);
        json.key("count");
        json.number(warning.count);
        json.key("severity");
        json.text(warning.severity);
        json.key("text");
        json.text(view.text(warning.text));
        json.end_object();
    }
    json.end_array();
    if (!document.lead.empty()) {
        json.line();
        json.key("summary");
        json.begin_array();
        for (const Text& sentence : document.lead) {
            json.line();
            json.text(view.text(sentence));
        }
        json.end_array();
    }
    for (const View::Item& item : view.items()) {
        if (!item.member->in_json) continue;
        json.line();
        json.key(item.member->key);
        if (item.object() || item.adapted == View::Item::Adapted::object) {
            write_row(view, item.table, 0, json);
        } else if (item.is_table) {
            json.begin_array();
            for (std::size_t row = 0; row < item.table.rows() && !sink.closed(); ++row) {
                json.line();
                write_row(view, item.table, row, json);
            }
            json.end_array();
            if (item.member->key == "rows") {
                json.line();
                json.key("total_rows");  // what -n cut from
                json.number(static_cast<std::uint64_t>(item.table.total()));
            }
        } else {
            write_json(view, std::get<Value>(item.member->body), item.member->content, {}, json);
        }
    }
    json.line();
    json.end_object();
    sink.write("\n");
}

static void present_ndjson(const View& view, Sink& sink) {
    const TableView* table = view.primary();
    if (table == nullptr) return;
    for (std::size_t row = 0; row < table->rows() && !sink.closed(); ++row) {
        JsonWriter json(sink);
        write_row(view, *table, row, json);
        sink.write("\n");
    }
}

BH_DEFINE_FORMAT(json){
    .name = "json",
    .doc = "one object, schema beamheap/1",
    .holds_warnings = true,
    .present = &present_json,
};

BH_DEFINE_FORMAT(ndjson){
    .name = "ndjson",
    .doc = "the main table, one JSON object a line",
    .present = &present_ndjson,
};

}  // namespace beamheap::present
