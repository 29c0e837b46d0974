// SPDX-License-Identifier: Apache-2.0
#include "cli/exports/clickhouse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "beamheap_version.hpp"
#include "present/parquet.hpp"

namespace beamheap::cli {
namespace {

constexpr std::array<std::string_view, 2> objects{"title_parts", "evidence"};

std::string_view clickhouse_type(present::FileType type) {
    switch (type) {
        case present::FileType::integer: return "Nullable(Int64)";
        case present::FileType::real: return "Nullable(Float64)";
        case present::FileType::flag: return "Nullable(UInt8)";
        case present::FileType::texts: return "Array(Nullable(String))";  // lists are never missing
        case present::FileType::text: break;
    }
    return "Nullable(String)";
}

// Each on a line of its own: who loads files finds those that a table of an earlier release lacks.
std::string columns_of(const ExportTable& table) {
    std::string out = "  `dump_id` String,\n  `month` UInt32";
    if (table.name == "dump") out += ",\n  `export` String";  // how it was made, which tells it from an earlier export
    for (const present::Column& column : table.columns)
        if (std::ranges::find(objects, column.name) == objects.end())
            out += fmt::format(",\n  `{}` {}", column.name, clickhouse_type(present::file_type(column)));
    return out;
}

}  // namespace

std::string clickhouse_definitions(const std::vector<ExportTable>& tables) {
    std::string out = fmt::format(
        "-- beamheap {}\n-- Tables of its exports, on each server of a cluster named fleet. docs/fleets.md tells how "
        "files get into them.\n",
        BEAMHEAP_VERSION);
    for (const ExportTable& table : tables) {
        out += fmt::format("\n-- {}\nCREATE TABLE IF NOT EXISTS {} (\n{}\n", table.doc, table.name, columns_of(table));
        out += ") ENGINE = MergeTree PARTITION BY month ORDER BY dump_id;\n";
        out += fmt::format(
            "CREATE TABLE IF NOT EXISTS all_{0} AS {0} ENGINE = Distributed(fleet, currentDatabase(), {0}, "
            "cityHash64(dump_id));\n",
            table.name);
    }
    return out;
}

}  // namespace beamheap::cli
