// export: the tables of an input as files that other programs open.
//
// For fleets a folder per table and input, TABLE/dump_id=HASH/TABLE.ndjson: what Spark, Trino, Athena, BigQuery and DuckDB
// take for partitions. The file of table `dump` is written last: an input is there when its row is, and an export that
// was interrupted is done again by the same command.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/node_tables.hpp"
#include "cli/output_file.hpp"
#include "present/row_lines.hpp"
#include "sql/database_file.hpp"

namespace beamheap::cli {
namespace {

namespace fs = std::filesystem;
using present::Value;

/// What was written of a table.
struct Written {
    std::string_view table;
    std::uint64_t rows = 0;
    std::string file;
};

Status to_database(NodeModel& model, const std::vector<ExportTable>& tables, const std::string& dump_id, const std::string& path, bool overwrite,
                   std::vector<Written>& written) {
    BH_TRY(OutputFile file, OutputFile::create(path, overwrite));
    BH_TRY(sql::DatabaseFile database, sql::DatabaseFile::create(file.partial()));
    for (const ExportTable& table : tables) {
        BH_CHECK(database.begin_table(table.name, table.doc, table.columns));
        BH_CHECK(table.rows([&](const present::Table& piece) { return database.add(present::PlainTable(piece, model.redactor()), dump_id); }));
        written.push_back({table.name, database.rows(), path});
    }
    BH_CHECK(database.finish());
    return file.finish();
}

// A folder of its owner alone, with those above it.
Status make_folder(const fs::path& path) {
    std::string so_far;
    for (const fs::path& part : path) {
        so_far = (fs::path(so_far) / part).string();
        if (!so_far.empty() && ::mkdir(so_far.c_str(), 0700) != 0 && errno != EEXIST)
            return Error{ErrorCode::unreadable, fmt::format("{}: can't be made: {}", so_far, std::strerror(errno)), {}};
    }
    return ok();
}

/// A sink into a file; what goes wrong is kept until somebody asks.
class FilePiece {
public:
    explicit FilePiece(OutputFile& file) : file_(file), sink_(&take, this) {}
    present::Sink& sink() { return sink_; }
    Status flush() {
        sink_.flush();
        return error_ ? Status(*error_) : ok();
    }

private:
    static bool take(void* context, std::string_view text) {
        auto& self = *static_cast<FilePiece*>(context);
        if (!self.error_)
            if (const Status status = self.file_.write(text); !status) self.error_ = status.error();
        return !self.error_;
    }
    OutputFile& file_;
    std::optional<Error> error_;
    present::Sink sink_;
};

Status to_lines(NodeModel& model, const ExportTable& table, bool csv, const std::string& path, std::uint64_t& rows) {
    // What is there under this name is of an export of this same input that did not end.
    BH_TRY(OutputFile file, OutputFile::create(path, true));
    FilePiece piece(file);
    present::Table names;
    names.columns = table.columns;
    if (csv) present::write_csv_names(names, piece.sink());
    BH_CHECK(table.rows([&](const present::Table& part) -> Status {
        rows += part.rows;
        csv ? present::write_csv_rows(part, *model.redactor(), piece.sink()) : present::write_ndjson_rows(part, *model.redactor(), piece.sink());
        return piece.flush();
    }));
    BH_CHECK(piece.flush());
    return file.finish();
}

std::string path_of_table(const std::string& folder, std::string_view table, const std::string& dump_id, const std::string& format) {
    return fmt::format("{}/{}/dump_id={}/{}.{}", folder, table, dump_id, table, format);
}

Status to_folder(NodeModel& model, const std::vector<ExportTable>& tables, const std::string& dump_id, const std::string& folder, const std::string& format,
                 std::vector<Written>& written) {
    for (auto table = tables.rbegin(); table != tables.rend(); ++table) {  // `dump`, the first one, last
        const std::string path = path_of_table(folder, table->name, dump_id, format);
        BH_CHECK(make_folder(fs::path(path).parent_path()));
        Written now{table->name, 0, path};
        BH_CHECK(to_lines(model, *table, format == "csv", path, now.rows));
        written.insert(written.begin(), std::move(now));
    }
    return ok();
}

present::Table table_of_files(std::vector<Written> written) {
    std::vector<present::ColumnOf<Written>> columns{
        {{.name = "table", .title = "TABLE", .doc = "the table"}, [](const Written& w) { return Value(w.table); }},
        {{.name = "rows", .title = "ROWS", .unit = present::Unit::count, .doc = "that were written"}, [](const Written& w) { return Value(w.rows); }},
        {{.name = "file", .title = "FILE", .doc = "where", .content = present::Content::message, .wide = true},
         [](const Written& w) { return Value(w.file); }},
    };
    const std::size_t all = written.size();
    present::Table table = present::table_of(std::move(columns), std::move(written), "nothing: this input was exported before");
    table.for_people = all;
    return table;
}

}  // namespace

static Status cmd_export(const Context& context) {
    Options options = context.options();
    // Files leave the machine: values are hidden unless somebody says otherwise.
    if (!options.redact_chosen) options.redact = present::RedactLevel::values;
    options.redact_chosen = true;
    const Context inner(options);
    const std::string& output = context.argument(1);
    const bool database = options.to == "sqlite";
    if (output == "-") return Error{ErrorCode::usage, "export: a database and a folder need a name", {}};
    if (database) {
        BH_CHECK(may_write(output, options.overwrite));
    }
    BH_TRY(const std::string dump_id, dump_id_of(context.argument(0)));
    const bool done = !database && !options.overwrite && fs::exists(path_of_table(output, "dump", dump_id, options.to));

    NodeModel model(options);
    const std::vector<ExportTable> tables = export_tables(model, options.full);
    Demand demand;
    for (const ExportTable& table : tables)
        if (!done || table.name == "dump") demand.add(table.demand);
    BH_CHECK(model.open(inner, demand));
    std::vector<Written> written;
    if (database) {
        BH_CHECK(to_database(model, tables, dump_id, output, options.overwrite, written));
    } else if (!done) {
        BH_CHECK(to_folder(model, tables, dump_id, output, options.to, written));
    }

    present::Document document = inner.document(model.snapshot());
    document.members.push_back({.key = "dump_id", .title = "dump_id", .body = Value(dump_id)});
    document.members.push_back({.key = "path", .title = "Written to", .body = Value(output), .content = present::Content::message});
    document.members.push_back({.key = "rows", .title = "Tables", .body = table_of_files(std::move(written))});
    document.primary = "rows";
    return inner.print(document, model.snapshot(), model.secrets());
}

BH_DEFINE_VERB(export){
    .name = "export",
    .arguments = {argument::input, {"OUT", ArgumentKind::path}},
    .options = "--to --full --force --term-bytes",
    .summary = "the tables of `sql` as a SQLite file, or as NDJSON or CSV in a folder for many inputs",
    .details = "The file, or OUT/TABLE/dump_id=HASH/TABLE.ndjson, has the columns that JSON has; dump_id is a hash of the input. --full\n"
               "adds what needs all heaps decoded: live words, binaries, messages, dictionaries, roots. Values of the node are\n"
               "hidden unless --redact says otherwise. In a folder `dump` is written last: an input that has it is not written again.",
    .examples = "export erl_crash.dump dump.sqlite\nexport erl_crash.dump fleet --to ndjson\nexport core.4711 dump.sqlite --full -f",
    .alone = true,
    .writes = true,
    .run = &cmd_export,
};

}  // namespace beamheap::cli
