// SPDX-License-Identifier: Apache-2.0
// sql: a query over the tables of an input.
#include <fmt/format.h>

#include <algorithm>

#include "cli/frame/commands.hpp"
#include "cli/tables/node_tables.hpp"
#include "cli/tables/recipes.hpp"
#include "present/sanitise.hpp"
#include "present/spelling.hpp"
#include "present/view.hpp"

namespace beamheap::cli {
namespace {

using present::Column;
using present::Content;
using present::Unit;
using present::Value;

// The schema: a row for each column of each table. The input is not read for it.
Status show_tables(const Context& context) {
    struct Row {
        const sql::Table* table;
        const Column* column;
        bool hidden;
    };
    NodeModel model(context.options());
    const std::vector<sql::Table> tables = query_tables(model);
    std::vector<Row> rows;
    for (const sql::Table& table : tables)
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            rows.push_back({&table, &table.columns[c], c < table.hidden.size() && table.hidden[c]});
    const auto name = [](const sql::Table& table) {
        return table.kind == sql::Table::Kind::function ? fmt::format("{}({})", table.name, table.key) : table.name;
    };
    const auto type = [](const Column& column) -> Value {
        switch (present::plain_kind(column)) {
            case present::PlainKind::integer: return "integer";
            case present::PlainKind::real: return "real";
            case present::PlainKind::any: break;
        }
        return {};
    };
    present::Document document;
    document.kind = context.options().verb;
    document.lead = {present::spell(analyses::sentence("{} for one SELECT; ready ones: `beamheap recipes`",
                                                       analyses::Counted{tables.size(), "table", "tables"}))};
    present::Columns<const sql::Table*> of_tables{
        {{.name = "table", .title = "TABLE", .doc = "its name"},
         [=](const sql::Table* const& t) { return Value(name(*t)); }},
        {{.name = "about", .title = "WHAT IT HAS", .doc = "a row for each of these"},
         [](const sql::Table* const& t) { return Value(t->doc); }},
        {{.name = "columns", .title = "COLUMNS", .doc = "their names"},
         [](const sql::Table* const& t) {
             std::string names;
             for (const Column& column : t->columns) names.append(names.empty() ? "" : " ").append(column.name);
             return Value(names);
         }},
    };
    std::vector<const sql::Table*> all;
    for (const sql::Table& table : tables) all.push_back(&table);
    // For people a paragraph each: no terminal is as wide as the columns of a process.
    present::Array lines;
    for (const sql::Table& table : tables) {
        std::string names;
        for (const Column& column : table.columns) names.append(" ").append(column.name);
        lines.emplace_back(
            fmt::format("- {}: {}. {}", name(table), table.doc, std::string_view(names).substr(names.empty() ? 0 : 1)));
    }
    document.members.push_back({.key = {},
                                .title = "Tables and their columns",
                                .body = Value(std::move(lines)),
                                .in_json = false,
                                .prose = true});
    document.members.push_back({.key = "tables",
                                .title = "Tables",
                                .body = present::table_of(std::move(of_tables), std::move(all), {}),
                                .in_text = false});
    present::Columns<Row> columns{
        {{.name = "table", .title = "TABLE", .doc = "the table"}, [=](const Row& r) { return Value(name(*r.table)); }},
        {{.name = "column", .title = "COLUMN", .doc = "its column"},
         [](const Row& r) { return Value(r.column->name); }},
        {{.name = "type", .title = "TYPE", .doc = "integer or real; null where it is text, or truth as 1 and 0"},
         [=](const Row& r) { return type(*r.column); }},
        {{.name = "hidden", .title = "HIDDEN", .doc = "`*` leaves it out: all heaps are decoded for it"},
         [](const Row& r) { return Value(r.hidden); }},
        {{.name = "meaning", .title = "MEANING", .doc = "one sentence"},
         [](const Row& r) { return r.column->doc.empty() ? Value() : Value(r.column->doc); }},
    };
    document.members.push_back({.key = "columns",
                                .title = "Columns",
                                .body = present::table_of(std::move(columns), std::move(rows), {}),
                                .in_text = false});
    document.primary = "tables";
    return context.print(document);
}

Value value_of(const present::PlainValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return *number < 0 ? Value(*number) : Value(static_cast<std::uint64_t>(*number));
    if (const auto* real = std::get_if<double>(&value)) return *real;
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return {};
}

bool is_pid(const present::PlainValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return std::holds_alternative<std::monostate>(value);
    return (text->starts_with('<') || text->starts_with("#PID<")) && text->ends_with('>') &&
           text->find_first_not_of("#PID<0123456789.>") == text->npos;
}

/// What a query gave as a table. Units are told by names, as everywhere: total_bytes, stack_words, percent.
present::Table table_of_answer(sql::Answer answer) {
    constexpr std::size_t least_text = 12;  // of a terminal's columns
    present::Table table;
    const std::size_t width = answer.columns.size();
    for (std::size_t c = 0; c < width; ++c) {
        const present::Label name = present::Label::interned(present::safe_text(answer.columns[c]));
        Column column{.name = name, .title = name, .unit = present::unit_of(name), .doc = {}, .least = least_text};
        bool numbers = answer.rows() != 0, pids = true;
        for (std::size_t i = c; i < answer.values.size() && (numbers || pids); i += width) {
            numbers = numbers && !std::holds_alternative<std::string>(answer.values[i]);
            pids = pids && is_pid(answer.values[i]);
        }
        if (pids) column.least = 0;  // they are copied: never cut
        if (!numbers) column.unit = Unit::none;
        else if (column.unit == Unit::none) column.unit = Unit::count;
        table.columns.push_back(std::move(column));
    }
    table.rows = answer.rows();
    table.total = answer.total;
    table.empty = "no rows";
    auto values = std::make_shared<const std::vector<present::PlainValue>>(std::move(answer.values));
    table.cell = [values, width](std::size_t row, std::size_t column) {
        return value_of((*values)[row * width + column]);
    };
    return table;
}

}  // namespace

static Status cmd_sql(const Context& context) {
    const Options& options = context.options();
    if (options.inputs.size() < 2) return show_tables(context);
    std::string statement = context.argument(1);
    sql::Limits limits;
    // Its LIMIT is for those who run it elsewhere: here it is what is shown unasked, and the others are counted.
    if (const Recipe* recipe = find_recipe(statement)) {
        const Limited whole = without_limit(recipe->query);
        statement = whole.query;
        if (const std::uint64_t wanted = options.top.value_or(whole.rows.value_or(0)); wanted != 0)
            limits.kept = wanted;
    }
    NodeModel model(options);
    limits.time = std::chrono::seconds(options.max_seconds);
    limits.rows = options.max_rows;
    std::vector<sql::Table> tables = query_tables(model);
    BH_TRY(const std::unique_ptr<sql::Query> query, sql::Query::compile(tables, statement, limits));
    BH_CHECK(model.open(context, demand_of(tables, query->uses())));
    BH_TRY(sql::Answer answer, query->run([&] { return dump_id_of(context.argument(0)); }));
    present::Document document = context.document(model.snapshot());
    document.members.push_back({.key = "rows", .body = table_of_answer(std::move(answer))});
    return context.print(document, model.snapshot(), model.secrets());
}

BH_DEFINE_VERB(sql){
    .name = "sql",
    .arguments = {argument::input, optional({"QUERY", ArgumentKind::query})},
    .options = "--max-rows --max-seconds --term-bytes",
    .summary = "one SELECT over the tables of an input: processes, stacks, messages, waits, ...",
    .details =
        "SQLite's dialect, on the input itself: what a query does not read is not loaded, and it can't do anything "
        "but\n"
        "read. Columns are called as in JSON; texts are redacted before a query sees them. QUERY may be the name "
        "of\n"
        "one of `beamheap recipes`, of whose rows -n N shows more than its LIMIT; without QUERY the tables are "
        "listed,\nand their columns with --table columns.\n"
        "terms('<0.89.0>') has every object of a heap, path_to('7FEDD8C3E990') the path to a term. Columns that "
        "need\n"
        "all heaps decoded (process.live_words) are not in `*`. Texts are in the order of pids where they are some. "
        "Beside SQLite's\n"
        "functions there are X REGEXP Y (as grep -E), median(X) and percentile(X, 95); json_each and json_tree take "
        "lists apart. Names are in Erlang's syntax unless --syntax elixir is said.",
    .examples =
        "sql erl_crash.dump 'SELECT pid, name, msgq_len FROM process ORDER BY msgq_len DESC LIMIT 10'\n"
        "sql erl_crash.dump wait-cycles\nsql erl_crash.dump --table columns",
    .run = &cmd_sql,
};

}  // namespace beamheap::cli
