// SPDX-License-Identifier: Apache-2.0
#include "cli/tables/node_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "analyses/base/sum.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/selectors/selectors.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/inputs.hpp"
#include "cli/tables/table_catalogue.hpp"
#include "formats/format.hpp"
#include "present/tables_relations.hpp"

namespace beamheap::cli {
namespace {

using present::Column;
namespace need = analyses::need;

constexpr std::string_view of_release = "release_";  // columns of `dump` for which terms are read

Column pid_column() { return {.name = "pid", .title = "PID", .doc = "the process"}; }

/// Rows of a table, and what they refer to.
struct HeldRows {
    std::shared_ptr<ProcessView> terms;
    present::PlainTable rows;
};
sql::Rows hold(NodeModel& model, present::Table table, std::shared_ptr<ProcessView> terms) {
    auto held =
        std::make_shared<HeldRows>(HeldRows{std::move(terms), present::PlainTable(std::move(table), model.redactor())});
    return {held, &held->rows};
}

Result<present::Table> part_of(NodeModel& model, const NodeTable& row, ProcId process,
                               std::shared_ptr<ProcessView>& terms) {
    BH_TRY(terms, model.terms(process, row.states));
    const present::Value pid =
        process == ProcId::none ? present::Value() : model.names().pid(model.snapshot()[process].pid);
    return present::with_column(row.part(model, *terms->view), pid_column(), pid);
}

// The columns of an empty table; the model has no input yet.
std::vector<Column> columns_of(NodeModel& model, const NodeTable& row) {
    std::shared_ptr<ProcessView> terms;
    auto table = row.part != nullptr ? part_of(model, row, ProcId::none, terms) : row.whole(model);
    return table ? std::move(table->columns) : std::vector<Column>{};
}

std::vector<ProcId> processes_with(const Snapshot& snapshot, bool (*has)(const Process&)) {
    std::vector<ProcId> found = analyses::all_processes(snapshot);
    std::erase_if(found, [&](ProcId id) { return !has(snapshot[id]); });
    return found;
}

sql::Table parted(NodeModel& model, const NodeTable& row) {
    sql::Table table;
    table.kind = sql::Table::Kind::parts;
    auto ids = std::make_shared<std::optional<std::vector<ProcId>>>();
    const auto all = [&model, &row, ids]() -> const std::vector<ProcId>& {
        if (!*ids) *ids = processes_with(model.snapshot(), row.has);
        return **ids;
    };
    table.parts = [all] { return all().size(); };
    table.part = [&model, &row, all](std::size_t part) -> Result<sql::Rows> {
        std::shared_ptr<ProcessView> terms;
        BH_TRY(present::Table rows, part_of(model, row, all()[part], terms));
        return hold(model, std::move(rows), terms);
    };
    table.find = [&model, all](std::string_view pid) {
        const auto process = analyses::resolve(model.snapshot(), pid);
        if (!process) return sql::Table::no_part;
        const auto found = std::ranges::lower_bound(all(), *process);
        return found == all().end() || *found != *process ? sql::Table::no_part
                                                          : static_cast<std::size_t>(found - all().begin());
    };
    return table;
}

sql::Table whole(NodeModel& model, const NodeTable& row) {
    sql::Table table;
    table.all = [&model, &row]() -> Result<sql::Rows> {
        BH_TRY(present::Table rows, row.whole(model));
        return hold(model, std::move(rows), nullptr);
    };
    // Nobody who asks for everything is to wait until all heaps are decoded.
    if (row.name == "process")
        for (const analyses::ProcessColumn& column : analyses::process_columns())
            table.hidden.push_back(column.needs.heaps);
    return table;
}

}  // namespace

std::vector<sql::Table> query_tables(NodeModel& model) {
    std::vector<sql::Table> tables;
    for (const NodeTable& row : node_tables()) {
        sql::Table table = row.part != nullptr ? parted(model, row) : whole(model, row);
        table.name = row.name;
        table.doc = row.doc;
        table.columns = columns_of(model, row);
        tables.push_back(std::move(table));
    }
    for (const ArgumentTable& row : argument_tables()) {
        sql::Table table{.name = std::string(row.name),
                         .doc = std::string(row.doc),
                         .kind = sql::Table::Kind::function,
                         .key = std::string(row.argument)};
        if (auto empty = row.of(model, {})) table.columns = std::move(empty->table.columns);
        table.of = [&model, &row](std::string_view argument) -> Result<sql::Rows> {
            BH_TRY(ArgumentTable::Made made, row.of(model, argument));
            return hold(model, std::move(made.table), std::move(made.terms));
        };
        tables.push_back(std::move(table));
    }
    return tables;
}

Demand demand_of(const std::vector<sql::Table>& tables, const std::vector<sql::ColumnUse>& uses) {
    Demand demand;
    for (const sql::ColumnUse& use : uses) {
        const sql::Table& table = tables[use.table];
        if (const NodeTable* row = find_node_table(table.name)) demand.add(row->needs);
        for (const ArgumentTable& row : argument_tables())
            if (row.name == table.name) demand.add(row.needs);
        if (table.name == "dump" && use.column < table.columns.size() &&
            std::string_view(table.columns[use.column].name).starts_with(of_release))
            demand.add(Demand{need::terms_and_stacks});
        if (table.name != "process" || use.column >= table.columns.size()) continue;
        const analyses::ProcessColumn* column = analyses::find_process_column(table.columns[use.column].name);
        if (column == nullptr) continue;
        demand.parts |= need::of(column->needs);
        demand.heaps |= column->needs.heaps;
    }
    return demand;
}

bool needs_full(const std::vector<sql::Table>& tables, const std::vector<sql::ColumnUse>& uses) {
    const auto of_terms = [&](const sql::ColumnUse& use) {
        const NodeTable* row = find_node_table(tables[use.table].name);
        return row == nullptr || row->part != nullptr;
    };
    return std::ranges::any_of(uses, of_terms) || demand_of(tables, uses).any_heaps();
}

std::vector<ExportTable> export_tables(NodeModel& model, bool full) {
    std::vector<ExportTable> tables;
    for (const NodeTable& row : node_tables()) {
        ExportTable table{.name = row.name, .doc = row.doc};
        table.demand.add(row.needs);
        table.of_heaps = row.part != nullptr || table.demand.any_heaps();
        if (row.name == "dump") table.demand.add(Demand{need::terms_and_stacks});  // of its release
        if (row.name == "process") {
            table.demand.parts |= need::links | need::stacks | need::labels;
            table.demand.heaps = full;
        }
        if (table.of_heaps && !full) continue;
        table.columns = columns_of(model, row);
        if (row.part == nullptr)
            table.rows = [&model, &row](const std::function<Status(const present::Table&)>& take) -> Status {
                BH_TRY(const present::Table rows, row.whole(model));
                return take(rows);
            };
        tables.push_back(std::move(table));
    }
    return tables;
}

Status parted_rows(NodeModel& model, std::span<const ExportTable* const> tables, When progress,
                   const std::function<Status(std::size_t table, const present::Table& piece)>& take) {
    std::vector<const NodeTable*> rows;
    for (const ExportTable* table : tables) rows.push_back(find_node_table(table->name));
    if (rows.empty()) return ok();
    const bool states = std::ranges::any_of(rows, &NodeTable::states);
    const std::vector<ProcId> processes = analyses::all_processes(model.snapshot());
    std::uint64_t all_bytes = 0, done_bytes = 0;
    for (const Process& process : model.snapshot().processes)
        all_bytes = analyses::saturating_add(all_bytes, process.memory_bytes.value_or(0));
    ProgressLine line(progress);
    const Progress show = line.callback();
    for (const ProcId id : processes) {
        const Process& process = model.snapshot()[id];
        if (show) show(done_bytes, all_bytes);
        done_bytes = analyses::saturating_add(done_bytes, process.memory_bytes.value_or(0));
        if (std::ranges::none_of(rows, [&](const NodeTable* row) { return row->has(process); })) continue;
        BH_TRY(const std::shared_ptr<ProcessView> terms, model.terms(id, states));
        if (states) terms->measures->measure_roots();  // first: a giant has not all of its measures in memory at once
        for (std::size_t t = 0; t < rows.size(); ++t)
            if (rows[t]->has(process))
                BH_CHECK(take(t, present::with_column(rows[t]->part(model, *terms->view), pid_column(),
                                                      model.names().pid(process.pid))));
    }
    return ok();
}

// Two chains of keyed hashes over pieces of a megabyte, each keyed by what both chains gave so far.
Result<std::string> dump_id_of(const std::string& path) {
    if (path == "-")
        return Error{ErrorCode::usage, "dump_id is a hash of the input, and standard input can be read once only",
                     "Name a file."};
    std::array<std::uint64_t, 2> state{0x6265616D68656170ull, 0x64756D705F696400ull};
    const auto take = [&state](std::string_view bytes) {
        state = {present::keyed_hash(state, bytes), present::keyed_hash({state[1], ~state[0]}, bytes)};
    };
    const auto told = [&state] { return fmt::format("{:016x}{:016x}", state[0], state[1]); };
    if (const auto pid = process_named(path)) {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        take(fmt::format("{} {}", *pid, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()));
        return told();
    }
    BH_TRY(const std::unique_ptr<bytes::Source> source, open_input_again(path));
    std::vector<char> piece(std::size_t{1} << 20);
    for (;;) {
        std::size_t filled = 0;
        while (filled < piece.size()) {
            BH_TRY(const std::size_t got, source->read(std::span(piece).subspan(filled)));
            if (got == 0) break;
            filled += got;
        }
        if (filled == 0) break;
        take(std::string_view(piece.data(), filled));
    }
    return told();
}

}  // namespace beamheap::cli
