// SPDX-License-Identifier: Apache-2.0
// export: the tables of an input as files that other programs open.
//
// For fleets a folder per table and input, TABLE/dump_id=HASH/TABLE.ndjson: what Spark, Trino, Athena, BigQuery and
// DuckDB take for partitions (Parquet, NDJSON or CSV). The file of table `dump` is written last: an input is there when
// its row is, and an export that was interrupted is done again by the same command. Beside it stands how it was made
// (.beamheap): what another release of this program made, or with less than is asked for, is made anew.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "beamheap_version.hpp"
#include "bytes/failed_reads.hpp"
#include "bytes/running_process.hpp"
#include "cli/console/output_file.hpp"
#include "cli/exports/clickhouse.hpp"
#include "cli/exports/heap_export.hpp"
#include "cli/frame/command_line/option_table.hpp"
#include "cli/frame/commands.hpp"
#include "cli/tables/node_tables.hpp"
#include "present/describe.hpp"
#include "present/parquet.hpp"
#include "present/row_lines.hpp"
#include "present/sanitise.hpp"
#include "present/spelling.hpp"
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

/// Where the rows of a table go.
class TableFile {
public:
    virtual ~TableFile() = default;
    virtual Status add(const present::Table& piece) = 0;
    /// No more rows follow.
    virtual Status finish() = 0;
};

class DatabaseTable final : public TableFile {
public:
    DatabaseTable(NodeModel& model, sql::DatabaseFile& database, std::size_t table, const std::string& dump_id)
        : model_(model), database_(database), table_(table), dump_id_(dump_id) {}
    Status add(const present::Table& piece) override {
        return database_.add(table_, present::PlainTable(piece, model_.redactor()), dump_id_);
    }
    Status finish() override { return ok(); }

private:
    NodeModel& model_;
    sql::DatabaseFile& database_;
    std::size_t table_;
    const std::string& dump_id_;
};

class ParquetTable final : public TableFile {
public:
    ParquetTable(NodeModel& model, const ExportTable& table, const std::string& dump_id, OutputFile file)
        : redactor_(*model.redactor()),
          file_(std::move(file)),
          parquet_(table.columns,
                   {{"beamheap.table", std::string(table.name)},
                    {"beamheap.dump_id", dump_id},
                    {"beamheap.redacted", std::string(present::name_of(redactor_.level()))}},
                   [this](std::string_view bytes) { return file_.write(bytes); }) {}
    Status add(const present::Table& piece) override { return parquet_.add(piece, redactor_); }
    Status finish() override {
        BH_CHECK(parquet_.finish());
        return file_.finish();
    }

private:
    const present::Redactor& redactor_;
    OutputFile file_;
    present::ParquetFile parquet_;
};

class LinesTable final : public TableFile {
public:
    LinesTable(NodeModel& model, const ExportTable& table, bool csv, OutputFile file)
        : redactor_(*model.redactor()), csv_(csv), file_(std::move(file)), piece_(file_) {
        present::Table names;
        names.columns = table.columns;
        if (csv) present::write_csv_names(names, piece_.sink());
    }
    Status add(const present::Table& rows) override {
        csv_ ? present::write_csv_rows(rows, redactor_, piece_.sink())
             : present::write_ndjson_rows(rows, redactor_, piece_.sink());
        return piece_.flush();
    }
    Status finish() override {
        BH_CHECK(piece_.flush());
        return file_.finish();
    }

private:
    const present::Redactor& redactor_;
    bool csv_;
    OutputFile file_;
    FilePiece piece_;
};

/// What is being written of a table.
struct Writing {
    const ExportTable* table;
    std::unique_ptr<TableFile> file;
    Written written;
    Status add(const present::Table& piece) {
        written.rows += piece.rows;
        return file->add(piece);
    }
};
using Begin = std::function<Result<Writing>(const ExportTable& table)>;

// All tables, `dump`, the first one, last. Those of terms are written side by side, so that each process's terms are
// read once.
Status write_tables(NodeModel& model, const std::vector<ExportTable>& tables, When progress, const Begin& begin,
                    std::vector<Written>& written) {
    std::vector<Writing> parted;
    std::vector<const ExportTable*> which;
    for (const ExportTable& table : tables) {
        if (table.rows) continue;
        BH_TRY(Writing one, begin(table));
        parted.push_back(std::move(one));
        which.push_back(&table);
    }
    BH_CHECK(parted_rows(model, which, progress,
                         [&](std::size_t place, const present::Table& piece) { return parted[place].add(piece); }));
    for (Writing& one : parted) BH_CHECK(one.file->finish());
    for (auto table = tables.rbegin(); table != tables.rend(); ++table) {
        if (table->rows) {
            BH_TRY(Writing one, begin(*table));
            BH_CHECK(table->rows([&](const present::Table& piece) { return one.add(piece); }));
            BH_CHECK(one.file->finish());
            written.push_back(std::move(one.written));
        } else {
            written.push_back(std::move(std::ranges::find(parted, &*table, &Writing::table)->written));
        }
    }
    std::ranges::reverse(written);
    return ok();
}

Status to_database(NodeModel& model, const std::vector<ExportTable>& tables, const std::string& dump_id,
                   const std::string& path, const Options& options, std::vector<Written>& written) {
    BH_TRY(OutputFile file, OutputFile::create(path, options.overwrite));
    BH_TRY(sql::DatabaseFile database, sql::DatabaseFile::create(file.descriptor()));
    std::vector<std::size_t> numbers;
    for (const ExportTable& table : tables) {  // in the order in which people look for them
        BH_TRY(const std::size_t number, database.begin_table(table.name, table.doc, table.columns));
        numbers.push_back(number);
    }
    const Begin begin = [&](const ExportTable& table) -> Result<Writing> {
        const std::size_t number = numbers[static_cast<std::size_t>(&table - tables.data())];
        return Writing{
            &table, std::make_unique<DatabaseTable>(model, database, number, dump_id), {table.name, 0, path}};
    };
    BH_CHECK(write_tables(model, tables, options.progress, begin, written));
    BH_CHECK(database.finish());
    return file.finish();
}

std::string path_of_table(const std::string& folder, std::string_view table, const std::string& dump_id,
                          const std::string& format) {
    return fmt::format("{}/{}/dump_id={}/{}.{}", folder, table, dump_id, table, format);
}

Status to_folder(NodeModel& model, const std::vector<ExportTable>& tables, const std::string& dump_id,
                 const std::string& folder, const Options& options, std::vector<Written>& written) {
    const Begin begin = [&](const ExportTable& table) -> Result<Writing> {
        const std::string path = path_of_table(folder, table.name, dump_id, options.to);
        BH_CHECK(make_folder(fs::path(path).parent_path().string()));
        // What is there under this name is of an export of this same input that did not end.
        BH_TRY(OutputFile file, OutputFile::create(path, true));
        std::unique_ptr<TableFile> out;
        if (options.to == "parquet") out = std::make_unique<ParquetTable>(model, table, dump_id, std::move(file));
        else out = std::make_unique<LinesTable>(model, table, options.to == "csv", std::move(file));
        return Writing{&table, std::move(out), {table.name, 0, path}};
    };
    return write_tables(model, tables, options.progress, begin, written);
}

Status to_definitions(const std::vector<ExportTable>& tables, const std::string& path, bool overwrite,
                      std::vector<Written>& written) {
    for (const ExportTable& table : tables) written.push_back({table.name, 0, path});
    return write_file(path, clickhouse_definitions(tables), overwrite);
}

constexpr std::uint64_t most_heap_nodes = 10'000'000;  // what Chrome still opens: a text of 512 MiB
// Eclipse MAT numbers objects with 31 bits, and wants some 100 bytes of memory for each.
constexpr std::uint64_t most_hprof_objects = 500'000'000;

present::Table table_of_files(std::vector<Written> written) {
    present::Columns<Written> columns{
        {{.name = "table", .title = "TABLE", .doc = "the table"}, [](const Written& w) { return Value(w.table); }},
        {{.name = "rows", .title = "ROWS", .unit = present::Unit::count, .doc = "that were written"},
         [](const Written& w) { return Value(w.rows); }},
        {{.name = "file", .title = "FILE", .doc = "where", .content = present::Content::message, .wide = true},
         [](const Written& w) { return Value(w.file); }},
    };
    const std::size_t all = written.size();
    present::Table table =
        present::table_of(std::move(columns), std::move(written), "nothing: this input was exported before");
    table.for_people = all;
    return table;
}

bool in_folder(std::string_view format) { return format == "parquet" || format == "ndjson" || format == "csv"; }

// What of the node the file has.
void add_heaps(const HeapFile& file, present::Document& document) {
    document.members.push_back({.key = "heaps",
                                .title = "Heaps",
                                .body = Value(present::Object{{"processes", file.processes},
                                                              {"folded", file.folded},
                                                              {"nodes", file.nodes},
                                                              {"cut_binaries", file.cut}})});
    if (file.folded != 0)
        document.lead.push_back(
            present::spell(analyses::sentence("{} as one node each: with their terms the file would be more than its "
                                              "readers open. Those with the most memory are whole.",
                                              analyses::Counted{file.folded, "process stands", "processes stand"})));
    if (file.cut != 0)
        document.lead.push_back(
            present::spell(analyses::sentence("{} in it without their bytes, which would be gigabytes of zeros.",
                                              analyses::Counted{file.cut, "binary stands", "binaries stand"})));
}

// Without --to it is a database that is written: a name that says something else was meant otherwise.
Status name_fits(const Options& options, const std::string& output) {
    if (std::ranges::any_of(options.given, [](const GivenOption& each) { return each.row->names == "--to"; }))
        return ok();
    std::string extension = fs::path(output).extension().string();
    if (extension.empty() || extension == ".sqlite" || extension == ".sqlite3" || extension == ".db") return ok();
    extension.erase(0, 1);
    const bool known = in_folder(extension) || extension == "hprof" || extension == "heapsnapshot";
    return Error{ErrorCode::usage, fmt::format("export: --to says what is written, the name .{} does not", extension),
                 fmt::format("beamheap export {} {} --to {}", present::shell_word(options.inputs[0]),
                             present::shell_word(output), known ? extension : "sqlite")};
}

// What else an engine would take for rows of the same tables: an export of another format in this folder.
Status one_format(const std::string& folder, const std::string& format) {
    std::error_code ignored;
    for (const auto& each : fs::directory_iterator(folder + "/dump", ignored))
        for (const std::string_view other : {"parquet", "ndjson", "csv"})
            if (other != format && fs::exists(each.path() / fmt::format("dump.{}", other), ignored))
                return Error{ErrorCode::usage, fmt::format("{}: holds exports as {}", folder, other),
                             "An engine would read both: a folder for each format."};
    return ok();
}

// How an export in a folder was made, in one line: what has to be the same for it to stand. Behind it stands what the
// input lost, so that it need not be read again to be told.
std::string how_made(const Options& options, bool full) {
    return fmt::format("beamheap {} {} redact={} term-bytes={} and", BEAMHEAP_VERSION, full ? "full" : "short",
                       present::name_of(options.redact), options.term_bytes);
}

/// What the folder has of an input.
struct Before {
    std::string note_path;
    bool there = false;                           ///< its row in `dump` is
    bool was_full = false;                        ///< and the heaps' tables: then a new one has them, too
    bool stands = false;                          ///< nothing is to be done
    std::vector<present::Warning> warnings = {};  ///< of its input, redacted
};

// A line for each thing that was odd: of which kind, how often, how bad, in words.
std::string note_of(std::string made, const std::vector<present::Warning>& warnings) {
    made += fmt::format(" warnings={}\n", warnings.size());
    for (const present::Warning& each : warnings)
        made += fmt::format("{} {} {} {}\n", each.severity, each.count, each.name, each.text.raw());
    return made;
}
std::vector<present::Warning> warnings_in(std::string_view note) {
    std::vector<present::Warning> warnings;
    for (note.remove_prefix(std::min(note.find('\n'), note.size() - 1) + 1); !note.empty();) {
        std::string_view line = note.substr(0, note.find('\n'));
        note.remove_prefix(std::min(line.size() + 1, note.size()));
        const auto word = [&line] {
            const std::string_view first = line.substr(0, line.find(' '));
            line.remove_prefix(std::min(first.size() + 1, line.size()));
            return first;
        };
        present::Warning warning;
        warning.severity = word();
        const std::string_view count = word();
        std::from_chars(count.data(), count.data() + count.size(), warning.count);
        warning.name = word();
        warning.text = present::Text{}.add(std::string(line));
        warnings.push_back(std::move(warning));
    }
    return warnings;
}

Before before_of(const Options& options, const std::string& output, const std::string& dump_id) {
    const std::string dump = path_of_table(output, "dump", dump_id, options.to);
    Before before{fs::path(dump).parent_path().string() + "/.beamheap"};
    std::error_code ignored;
    before.there = fs::exists(dump, ignored);
    std::string note;
    if (before.there) note = bytes::read_small_file(before.note_path);
    before.was_full = note.substr(0, note.find('\n')).find(" full ") != note.npos;
    before.stands = !options.overwrite &&
                    (note.starts_with(how_made(options, true)) || note.starts_with(how_made(options, options.full)));
    if (before.stands) before.warnings = warnings_in(note);
    return before;
}

/// What became of one input.
struct Exported {
    std::string input, dump_id;
    std::string_view state = "written";  ///< "written", "replaced", "there before", "failed"
    std::vector<Written> written;
    std::vector<present::Warning> warnings = {};  ///< what was odd of the input, redacted, behind its name
    std::uint64_t losses() const {
        return static_cast<std::uint64_t>(
            std::ranges::count_if(warnings, [](const present::Warning& each) { return each.severity != "info"; }));
    }
    std::uint64_t rows() const {
        std::uint64_t sum = 0;
        for (const Written& each : written) sum += each.rows;
        return sum;
    }
};

// One input into a folder; `model` is opened for who prints a document of it.
Status into_folder(const Context& context, std::optional<NodeModel>& model, Exported& made) {
    Options options = context.options();
    const std::string& output = context.argument(1);
    const Before before = before_of(options, output, made.dump_id);
    made.state = before.stands ? "there before" : before.there ? "replaced" : "written";
    options.full = options.full || before.was_full;
    model.emplace(options);
    const std::vector<ExportTable> tables = export_tables(*model, options.full);
    Demand demand;
    for (const ExportTable& table : tables)
        if (!before.stands || table.name == "dump") demand.add(table.demand);
    BH_CHECK(model->open(context, demand));
    made.warnings = before.warnings;
    if (before.stands) return ok();
    // Until its row is written anew it counts as one that did not end.
    if (before.there) BH_CHECK(write_file(before.note_path, "it is being replaced\n", true));
    BH_CHECK(to_folder(*model, tables, made.dump_id, output, options, made.written));
    BH_CHECK(bytes::failed_read());
    for (present::Warning& warning : present::warnings_of(model->snapshot())) {
        warning.text = present::Text{}.add(present::safe_text(model->redactor()->apply(warning.text)));
        made.warnings.push_back(std::move(warning));
    }
    return write_file(before.note_path, note_of(how_made(options, options.full), made.warnings), true);
}

present::Table table_of_inputs(std::vector<Exported> made) {
    present::Columns<Exported> columns{
        {{.name = "input", .title = "INPUT", .doc = "as it was named", .content = present::Content::message},
         [](const Exported& e) { return Value(e.input); }},
        {{.name = "state", .title = "STATE", .doc = "written, replaced, there before or failed"},
         [](const Exported& e) { return Value(e.state); }},
        {{.name = "rows", .title = "ROWS", .unit = present::Unit::count, .doc = "of all tables that were written"},
         [](const Exported& e) { return Value(e.rows()); }},
        {{.name = "losses",
          .title = "LOSSES",
          .unit = present::Unit::count,
          .doc = "kinds of damage that the warnings tell of it; null of one that failed"},
         [](const Exported& e) { return e.state == "failed" ? Value() : Value(e.losses()); }},
        {{.name = "dump_id", .title = "DUMP ID", .doc = "what tells it from others; null of one that failed"},
         [](const Exported& e) { return e.dump_id.empty() ? Value() : Value(e.dump_id); }},
    };
    return present::table_of(std::move(columns), std::move(made), {});
}

// One of several inputs: what is odd of it is told behind its name.
Status export_one(const Options& options, Exported& made) {
    BH_TRY(made.dump_id, dump_id_of(made.input));
    std::optional<NodeModel> model;
    BH_CHECK(into_folder(Context(options), model, made));
    BH_CHECK(bytes::failed_read());
    for (present::Warning& warning : made.warnings)
        warning.text = present::Text{}.add(made.input + ": ").add(warning.text);
    return ok();
}

// Several inputs into one folder, one after the other: one that can't be read is told, and the others are written.
Status export_all(const Context& context) {
    const Options& options = context.options();
    const std::string& output = options.inputs.back();
    present::Document document;
    document.kind = options.verb;
    std::vector<Exported> all;
    std::optional<Error> first;
    bool damaged = false;
    for (std::size_t i = 0; i + 1 < options.inputs.size(); ++i) {
        Options one = options;
        one.inputs = {options.inputs[i], output};
        Exported made{one.inputs[0], {}};
        if (const Status status = export_one(one, made); !status) {
            bytes::forget_failed_reads();
            made.state = "failed";
            document.warnings.push_back({"not_exported", 1, "error", present::Text{}.add(status.error().message)});
            if (!first) first = status.error();
        }
        damaged = damaged || made.losses() != 0;
        std::ranges::copy(made.warnings, std::back_inserter(document.warnings));
        all.push_back(std::move(made));
    }
    document.members.push_back(
        {.key = "path", .title = "Written to", .body = Value(output), .content = present::Content::message});
    document.members.push_back({.key = "inputs", .title = "Inputs", .body = table_of_inputs(std::move(all))});
    document.primary = "inputs";
    BH_CHECK(context.print(document));
    if (!first && options.strict && damaged)
        return Error{ErrorCode::damaged, "an input is incomplete or damaged", "The warnings say which, and where."};
    if (!first) return ok();
    return Error{first->code, "not all inputs were exported", "The warnings say which, and why."};
}

}  // namespace

static Status cmd_export(const Context& context) {
    Options options = context.options();
    // Files leave the machine: values are hidden unless somebody says otherwise.
    if (!options.redact_chosen) options.redact = present::RedactLevel::values;
    options.redact_chosen = true;
    const Context inner(options);
    const std::string& output = options.inputs.back();
    const bool folder = in_folder(options.to);
    const bool hprof = options.to == "hprof", heaps = hprof || options.to == "heapsnapshot",
               definitions = options.to == "clickhouse-ddl";
    if (output == "-") return Error{ErrorCode::usage, "export: a file and a folder need a name", {}};
    if (!folder) BH_CHECK(may_write(output, options.overwrite));
    BH_CHECK(name_fits(options, output));
    std::error_code none;
    if (const fs::file_status there = fs::status(output, none); folder && fs::exists(there) && !fs::is_directory(there))
        return Error{ErrorCode::usage, fmt::format("{}: is a file, and {} goes into a folder", output, options.to), {}};
    if (folder) BH_CHECK(one_format(output, options.to));
    if (options.inputs.size() > 2) {
        if (folder) return export_all(inner);
        return Error{ErrorCode::usage, "export: several inputs go into a folder: --to parquet, ndjson or csv", {}};
    }
    Exported made{context.argument(0), {}};
    BH_TRY(made.dump_id, dump_id_of(made.input));
    std::optional<NodeModel> model;
    std::vector<ExportTable> tables;
    if (folder) {
        BH_CHECK(into_folder(inner, model, made));
    } else {
        model.emplace(options);
        tables = export_tables(*model, options.full || definitions);
        Demand demand = heaps ? heap_file_demand() : Demand{};
        for (const ExportTable& table : tables)
            if (!heaps && !definitions) demand.add(table.demand);
        BH_CHECK(model->open(inner, demand));
    }
    present::Document document = inner.document(model->snapshot());
    const bool there_before = folder && made.written.empty();
    if (there_before) document.warnings = made.warnings;
    document.members.push_back({.key = "dump_id", .title = "dump_id", .body = Value(made.dump_id)});
    document.members.push_back(
        {.key = "path", .title = "Written to", .body = Value(output), .content = present::Content::message});
    if (heaps) {
        BH_TRY(const HeapFile file,
               hprof ? write_hprof(*model, output, options.overwrite, most_hprof_objects, options.progress)
                     : write_heap_snapshot(*model, output, options.overwrite, most_heap_nodes, options.progress));
        add_heaps(file, document);
    } else if (definitions) {
        BH_CHECK(to_definitions(tables, output, options.overwrite, made.written));
    } else if (!folder) {
        BH_CHECK(to_database(*model, tables, made.dump_id, output, options, made.written));
    }
    if (!heaps) {
        document.members.push_back({.key = "rows", .title = "Tables", .body = table_of_files(std::move(made.written))});
        document.primary = "rows";
    }
    BH_CHECK(inner.print(document, model->snapshot(), model->secrets()));
    if (!there_before || !options.strict || made.losses() == 0) return ok();
    return Error{ErrorCode::damaged, fmt::format("{}: the input is incomplete or damaged", made.input), {}};
}

BH_DEFINE_VERB(export){
    .name = "export",
    .arguments = {repeated(argument::input), {"OUT", ArgumentKind::path}},
    .options = "--to --full --force --term-bytes",
    .summary = "the tables of `sql` as a SQLite file, or as Parquet, NDJSON or CSV in a folder for many inputs",
    .details =
        "The file, or OUT/TABLE/dump_id=HASH/TABLE.ndjson, has the columns that JSON has; dump_id is a hash of the "
        "input. --full\n"
        "adds what needs all heaps decoded: live words, binaries, messages, dictionaries, roots. Values of the node "
        "are\n"
        "hidden unless --redact says otherwise. In a folder, which takes several inputs, `dump` is written last: an "
        "input that\n"
        "has it is written again where that was by another release, without the --full that is asked for now, with "
        "another\n"
        "--redact or --term-bytes, or with -f.\n"
        "heapsnapshot is all heaps for the memory panel of Chrome's DevTools and for memlab, hprof for Eclipse MAT "
        "and\n"
        "VisualVM: processes are threads there, with their stacks (MAT adds two words to each object); "
        "clickhouse-ddl\n"
        "is the definitions of the tables for ClickHouse.",
    .examples =
        "export erl_crash.dump dump.sqlite\nexport dumps/*.dump fleet --to parquet\nexport erl_crash.dump "
        "node.heapsnapshot --to heapsnapshot\nexport erl_crash.dump node.hprof --to hprof\nexport core.4711 "
        "dump.sqlite --full -f",
    .alone = true,
    .writes = true,
    .makes_folder = [](const Options& options) { return in_folder(options.to); },
    .run = &cmd_export,
};

}  // namespace beamheap::cli
