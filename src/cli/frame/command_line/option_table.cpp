// SPDX-License-Identifier: Apache-2.0
// What options there are. A row holds all of an option: its names, its meaning, who takes it and what it does.
#include "cli/frame/command_line/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <type_traits>

#include "analyses/processes/process_columns.hpp"
#include "cli/frame/commands.hpp"
#include "present/render.hpp"

namespace beamheap::cli {
namespace {

Error wrong(std::string message) { return Error{ErrorCode::usage, std::move(message), {}}; }

Result<std::uint64_t> as_number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return wrong(fmt::format("'{}' is not a number", text));
    return value;
}

// The usual setters: a flag that gives a member a value, a member that takes the text, one that gathers texts.
template <auto member, auto value = true>
Status set_flag(Options& options, std::string_view) {
    options.*member = value;
    return ok();
}
template <auto member>
Status set_text(Options& options, std::string_view value) {
    options.*member = value;
    return ok();
}
template <auto member>
Status add_text(Options& options, std::string_view value) {
    (options.*member).emplace_back(value);
    return ok();
}

// A number, at most as large as the member can be.
template <auto member>
Status set_number(Options& options, std::string_view value) {
    using Member = std::remove_reference_t<decltype(options.*member)>;
    BH_TRY(const std::uint64_t given, as_number(value));
    if constexpr (std::unsigned_integral<Member>)
        options.*member = static_cast<Member>(std::min<std::uint64_t>(given, std::numeric_limits<Member>::max()));
    else options.*member = given;
    return ok();
}
template <auto member>
Status set_when(Options& options, std::string_view value) {
    options.*member = value == "always" ? When::always : value == "never" ? When::never : When::automatic;
    return ok();
}

Status set_columns(Options& options, std::string_view value) {
    for (const std::string_view column : split(value, ',')) options.columns.emplace_back(column);
    return ok();
}
constexpr const char* salt_advice =
    "Make one that nobody else has: head -c 32 /dev/urandom > FILE. Who has it can try out what a placeholder stands "
    "for.";

Status set_redaction(Options& options, std::string_view value) {
    using Level = present::RedactLevel;
    options.redact = value == "none"     ? Level::none
                     : value == "values" ? Level::values
                     : value == "full"   ? Level::full
                                         : Level::secrets;
    options.redact_chosen = true;
    return ok();
}
// The file is a secret: none of it is told.
Status set_salt(Options& options, std::string_view value) {
    constexpr std::size_t largest = 64 * 1024;
    const std::string path(value);
    std::ifstream file(path, std::ios::binary);
    std::string secret(largest + 1, '\0');
    file.read(secret.data(), static_cast<std::streamsize>(secret.size()));
    secret.resize(static_cast<std::size_t>(file.gcount()));
    if (file.bad() || (!file.eof() && secret.size() <= largest))
        return Error{ErrorCode::usage, fmt::format("{}: can't be read", path), salt_advice};
    if (secret.size() < present::shortest_salt || secret.size() > largest)
        return Error{ErrorCode::usage,
                     secret.size() > largest ? fmt::format("{}: has more than {} bytes", path, largest)
                                             : fmt::format("{}: has {} bytes; a salt has at least {}", path,
                                                           secret.size(), present::shortest_salt),
                     salt_advice};
    options.salt = present::salt_of(secret);
    return ok();
}
Status set_syntax(Options& options, std::string_view value) {
    options.syntax.reset();
    if (value != "auto") options.syntax = value == "elixir" ? present::Syntax::elixir : present::Syntax::erlang;
    return ok();
}
Status set_threads(Options& options, std::string_view value) {
    BH_TRY(const std::uint64_t threads, as_number(value));
    if (threads == 0 || threads > 1024) return wrong("between 1 and 1024");
    options.threads = static_cast<unsigned>(threads);
    return ok();
}
Status set_json(Options& options, std::string_view) {
    options.format = "json";
    return ok();
}

std::string format_names() {
    std::string names;
    for (const present::Presenter* each : present::presenters())
        names.append(names.empty() ? "" : " ").append(each->name);
    return names;
}
std::string figure_names() {
    std::string names;
    for (const analyses::ProcessColumn& each : analyses::process_columns())
        if (!each.key.empty()) names.append(names.empty() ? "" : " ").append(each.key);
    return names;
}

std::vector<OptionRow> answer_options() {
    return {
        {.names = "--format",
         .argument = "FORMAT",
         .values = format_names(),
         .other_values = true,
         .preset = "table",
         .help = "output format",
         .holds = true,
         .set = &set_text<&Options::format>},
        {.names = "--json", .help = "the same as --format json", .holds = true, .set = &set_json},
        {.names = "--columns", .argument = "A,B,...", .help = "columns to show, in this order", .set = &set_columns},
        {.names = "--sort",
         .argument = "COLUMN",
         .help = "sort the main table by this column",
         .set = &set_text<&Options::sort>},
        {.names = "--table",
         .argument = "NAME",
         .help = "another table of the answer, as JSON names it",
         .set = &set_text<&Options::table>},
        {.names = "--desc", .help = "largest first", .set = &set_flag<&Options::descending>},
        {.names = "--asc", .help = "smallest first", .set = &set_flag<&Options::descending, false>},
        {.names = "-n,--top",
         .argument = "N",
         .preset = "20 for people, else all",
         .help = "rows to show of each table; 0 is all",
         .holds = true,
         .set = &set_number<&Options::top>},
    };
}

// Verbs name those that they take, here and below.
std::vector<OptionRow> question_options() {
    constexpr Scope named = Scope::named;
    return {
        {.names = "--by",
         .argument = "COLUMN",
         .values = figure_names() + " shape sender",
         .other_values = true,
         .preset = "msgq",
         .help = "what to rank or group by",
         .scope = named,
         .set = &set_text<&Options::by>},
        {.names = "--pattern",
         .argument = "M:F/A",
         .help = "only functions that fit; M:F, M, with * and _",
         .scope = named,
         .set = &set_text<&Options::pattern>},
        {.names = "--traced",
         .help = "what tracing had counted when the image was taken (core images)",
         .scope = named,
         .set = &set_flag<&Options::traced>},
        {.names = "--per-process",
         .help = "a row per process, of profile per function and process",
         .scope = named,
         .set = &set_flag<&Options::per_process>},
        {.names = "--procs",
         .argument = "SELECTOR",
         .help = "only these processes: pids, names, 'msgq>1000', running, 'children(P)', 'all_children(P)', ...",
         .scope = named,
         .set = &set_text<&Options::procs>},
        {.names = "--no-fold",
         .help = "rows that are alike one by one",
         .scope = named,
         .set = &set_flag<&Options::no_fold>},
        {.names = "--depth",
         .argument = "N",
         .preset = "all",
         .help = "levels of the tree to show; of heap: below each root",
         .scope = named,
         .set = &set_number<&Options::depth>},
        {.names = "--full",
         .help = "decode every heap: live and garbage words of all processes",
         .scope = named,
         .set = &set_flag<&Options::full>},
        {.names = "--running",
         .help = "what ran when the inputs were taken, added up over all of them",
         .scope = named,
         .set = &set_flag<&Options::running>},
        {.names = "--dead",
         .help = "garbage in place of roots: what the next collection would free (core images)",
         .scope = named,
         .set = &set_flag<&Options::dead>},
        {.names = "--into",
         .argument = "ADDRESS",
         .help = "the elements of this term in place of the roots, largest first",
         .scope = named,
         .set = &set_text<&Options::into>},
        {.names = "--page",
         .argument = "N",
         .preset = "1",
         .help = "which page of a term's elements, of -n rows each",
         .scope = named,
         .set = &set_number<&Options::page>},
        {.names = "--for",
         .argument = "TIME",
         .help = "how long to watch a running VM: 10s, 500ms, 2m, 1h",
         .scope = named,
         .set = &set_text<&Options::duration>},
        {.names = "--term-bytes",
         .argument = "N",
         .preset = "200",
         .help = "cut printed terms after N bytes; 0 is whole",
         .scope = named,
         .holds = true,
         .set = &set_number<&Options::term_bytes>},
    };
}

// --keep: so many windows, or what of a death's own files.
Status set_kept(Options& options, std::string_view value) {
    if (value == "dump" || value == "core" || value == "none") {
        options.keep_what = value;
        return ok();
    }
    if (set_number<&Options::keep>(options, value)) {
        options.keep_what.clear();
        return ok();
    }
    return wrong(fmt::format("'{}' is no number of files, and none of dump, core, none", value));
}

// Of verbs that watch a running VM for a while.
std::vector<OptionRow> sampling_options() {
    constexpr Scope named = Scope::named;
    return {
        {.names = "--hz",
         .argument = "N",
         .help = "samples a second, for each second of CPU time of a thread",
         .scope = named,
         .set = &set_number<&Options::hertz>},
        {.names = "--only-erlang",
         .help = "only samples that were taken in Erlang code",
         .scope = named,
         .set = &set_flag<&Options::only_erlang>},
        {.names = "--blame",
         .argument = "FUNCTION",
         .help = "only samples inside this native function, by who called it",
         .scope = named,
         .set = &set_text<&Options::blamed>},
        {.names = "--pstack",
         .help = "one stack of each scheduler that runs now",
         .scope = named,
         .set = &set_flag<&Options::pstack>},
        {.names = "--stop",
         .help = "hold each thread for an instant as a debugger does: exact callers of C code, at a price",
         .scope = named,
         .set = &set_flag<&Options::stop_threads>},
        {.names = "--all",
         .help = "all VMs that run on this machine, also those that start later",
         .scope = named,
         .set = &set_flag<&Options::every_vm>},
        {.names = "--until",
         .argument = "CONDITION",
         .help = "end with exit code 1 as soon as it holds: 'grows(memory)', 'grows(any)', 'wall<2h'",
         .scope = named,
         .set = &set_text<&Options::until>},
        {.names = "--listen",
         .argument = "ADDRESS",
         .help = "answer Prometheus at 127.0.0.1:PORT/metrics meanwhile",
         .scope = named,
         .set = &set_text<&Options::listen>},
    };
}

// Of verbs that sample a running VM, and write files.
std::vector<OptionRow> window_options() {
    constexpr Scope named = Scope::named;
    return {
        {.names = "--every",
         .argument = "TIME",
         .help =
             "go on, a file for each of these windows in the folders of --out: 10s, 1m; of watch and top: time from "
             "one round to the next",
         .scope = named,
         .beside = true,
         .set = &set_text<&Options::every>},
        {.names = "--keep",
         .argument = "N|WHAT",
         .help = "files of windows in a folder, the oldest go (360); of a death: dump, core or none (none)",
         .scope = named,
         .set = &set_kept},
        {.names = "--keep-bytes",
         .argument = "SIZE",
         .preset = "256MiB",
         .help = "size of all of them together; the oldest go",
         .scope = named,
         .set = &set_text<&Options::keep_bytes>},
        {.names = "--perf-map",
         .help = "write names of Erlang functions for perf to /tmp/perf-PID.map (-o: elsewhere), and nothing else",
         .scope = named,
         .beside = true,
         .set = &set_flag<&Options::perf_map>},
    };
}

// Of what waits for nodes to die.
std::vector<OptionRow> catching_options() {
    constexpr Scope named = Scope::named;
    return {
        {.names = "--pipe",
         .argument = "PATH",
         .help = "the named pipe that ERL_CRASH_DUMP names; it is made, and read until SIGTERM (of watch: where the VM "
                 "would write)",
         .scope = named,
         .set = &set_text<&Options::pipe>},
        {.names = "--catch",
         .argument = "DIR",
         .help = "at its death answer as `catch` does, into this folder, and say what grew before",
         .scope = named,
         .set = &set_text<&Options::catch_in>},
        {.names = "--once", .help = "end after the first death", .scope = named, .set = &set_flag<&Options::once>},
        {.names = "--deadline",
         .argument = "TIME",
         .preset = "20s",
         .help = "a dying VM is held no longer: what is known by then is written",
         .scope = named,
         .set = &set_text<&Options::deadline>},
        {.names = "--disk",
         .argument = "SIZE",
         .preset = "2GiB",
         .help = "of all that is kept of deaths; the oldest go",
         .scope = named,
         .set = &set_text<&Options::disk>},
        {.names = "--free",
         .argument = "SIZE",
         .preset = "1GiB",
         .help = "so much of the file system is left free",
         .scope = named,
         .set = &set_text<&Options::spare>},
        {.names = "--else",
         .argument = "PROGRAM",
         .help = "takes core images of other programs than VMs, with the same words behind it",
         .scope = named,
         .set = &set_text<&Options::otherwise>},
        {.names = "--exec",
         .argument = "PROGRAM",
         .help = "is started with the names of each death's files, without a shell",
         .scope = named,
         .set = &set_text<&Options::execute>},
        {.names = "--install",
         .argument = "HOW",
         .values = "systemd sidecar docker",
         .help = "print what sets it up, and change nothing",
         .scope = named,
         .set = &set_text<&Options::install>},
        {.names = "--check",
         .help = "what is missing on this machine",
         .scope = named,
         .set = &set_flag<&Options::check_setup>},
    };
}

std::vector<OptionRow> file_options() {
    constexpr Scope named = Scope::named;
    return {
        {.names = "--max-rows",
         .argument = "N",
         .preset = "1000000",
         .help = "rows that a query may give",
         .scope = named,
         .holds = true,
         .set = &set_number<&Options::max_rows>},
        {.names = "--max-seconds",
         .argument = "N",
         .preset = "60",
         .help = "seconds that a query may run",
         .scope = named,
         .holds = true,
         .set = &set_number<&Options::max_seconds>},
        {.names = "--to",
         .argument = "FORMAT",
         .values = "sqlite parquet ndjson csv heapsnapshot hprof clickhouse-ddl",
         .preset = "sqlite",
         .help = "a file, or for parquet, ndjson and csv a folder",
         .scope = named,
         .set = &set_text<&Options::to>},
        {.names = "--fail-on",
         .argument = "R",
         .help = "exit with 1 at this severity or limit: high, 'msgq>10000', 'heap>512MiB'; repeatable",
         .scope = named,
         .repeatable = true,
         .set = &add_text<&Options::fail_on>},
        {.names = "--out",
         .argument = "FORMAT=FILE",
         .help = "also write text, json, junit, md, github, gitlab or sarif to a file; with --every a format for each "
                 "window to a folder; of watch a folder or FILE.sqlite; repeatable",
         .scope = named,
         .repeatable = true,
         .beside = true,
         .set = &add_text<&Options::out>},
        {.names = "--baseline",
         .argument = "FILE",
         .help = "fail on what is not in this output of an earlier check --json",
         .scope = named,
         .set = &set_text<&Options::baseline>},
        {.names = "--config",
         .argument = "FILE",
         .preset = "the nearest .beamheap.toml",
         .help = "limits and what to ignore",
         .scope = named,
         .reads = "the configuration",
         .set = &set_text<&Options::config>},
        {.names = "--require-dump",
         .help = "exit with 3 where there is no dump",
         .scope = named,
         .set = &set_flag<&Options::require_dump>},
        {.names = "-o,--output",
         .argument = "FILE",
         .preset = "standard output",
         .help = "the file to write",
         .scope = named,
         .beside = true,
         .set = &set_text<&Options::output>},
        {.names = "--since",
         .argument = "OTHER",
         .help = "an earlier input of the same node: the report tells what grew since",
         .scope = named,
         .reads = "the input of --since",
         .set = &set_text<&Options::since>},
        {.names = "--html-full",
         .help = "list every process in the report, however large it gets",
         .scope = named,
         .set = &set_flag<&Options::everything>},
        {.names = "-f,--force", .help = "overwrite files", .scope = named, .set = &set_flag<&Options::overwrite>},
    };
}

std::vector<OptionRow> serving_options() {
    constexpr Scope named = Scope::named;
    return {
        {.names = "--max-memory",
         .argument = "SIZE",
         .preset = "half of what there is",
         .help = "memory that all answers together may take",
         .scope = named,
         .set = &set_text<&Options::max_memory>},
        {.names = "--root",
         .argument = "FOLDER",
         .help = "also files below this folder may be asked for",
         .scope = named,
         .set = &set_text<&Options::root>},
    };
}

std::vector<OptionRow> code_options() {
    return {
        {.names = "--code",
         .argument = "PATH",
         .preset = "BEAMHEAP_CODE, else where the node had them from",
         .help =
             "the node's modules, for lines of a crash dump's frames: files, folders, archives; - is where the node "
             "had them from",
         .scope = Scope::inputs,
         .holds = true,
         .repeatable = true,
         .reads = "a module",
         .set = &add_text<&Options::code>},
        {.names = "--no-code",
         .help = "look for no modules",
         .scope = Scope::inputs,
         .holds = true,
         .set = &set_flag<&Options::no_code>},
        {.names = "--source",
         .argument = "DIR",
         .help = "sources of the program: names of records and their fields, where modules have been stripped of them",
         .scope = Scope::inputs,
         .holds = true,
         .repeatable = true,
         .reads = "sources",
         .set = &add_text<&Options::sources>},
        {.names = "--no-records",
         .help = "print records as the tuples that they are",
         .scope = Scope::inputs,
         .holds = true,
         .set = &set_flag<&Options::no_records>},
    };
}

std::vector<OptionRow> session_options() {
    return {
        {.names = "--exe",
         .argument = "FILE",
         .preset = "found by itself",
         .help = "the beam.smp that a core was written by",
         .scope = Scope::inputs,
         .holds = true,
         .reads = "the executable",
         .set = &set_text<&Options::executable>},
        {.names = "--syntax",
         .argument = "SYNTAX",
         .values = "erlang elixir auto",
         .preset = "auto",
         .help = "of names and terms",
         .holds = true,
         .set = &set_syntax},
        {.names = "--redact",
         .argument = "LEVEL",
         .values = "none secrets values full",
         .preset = "secrets",
         .help = "what to hide",
         .holds = true,
         .set = &set_redaction},
        {.names = "--stable-salt",
         .argument = "FILE",
         .help = "a secret of 16 bytes or more, by which placeholders of several answers are alike",
         .holds = true,
         .reads = "the salt",
         .set = &set_salt},
        {.names = "--color",
         .argument = "WHEN",
         .values = "auto always never",
         .preset = "auto",
         .help = "colours",
         .holds = true,
         .set = &set_when<&Options::color>},
        {.names = "--progress",
         .argument = "WHEN",
         .values = "auto always never",
         .preset = "auto",
         .help = "progress on standard error",
         .holds = true,
         .set = &set_when<&Options::progress>},
        {.names = "--no-pager",
         .help = "long answers without $BEAMHEAP_PAGER, $PAGER or less",
         .holds = true,
         .set = &set_flag<&Options::no_pager>},
        {.names = "--threads",
         .argument = "N",
         .preset = "all cores",
         .help = "threads to use",
         .holds = true,
         .set = &set_threads},
        {.names = "--strict",
         .help = "exit with 4 if the input is truncated or partly unreadable",
         .holds = true,
         .set = &set_flag<&Options::strict>},
        {.names = "-q,--quiet",
         .help = "no warnings on standard error",
         .holds = true,
         .set = &set_flag<&Options::quiet>},
        {.names = "-v,--verbose",
         .help = "analyze: everything, not one screen; also notes on what is merely odd, and what was read",
         .holds = true,
         .set = &set_flag<&Options::verbose>},
        {.names = "-h,--help",
         .help = "this help; VERB --help for one verb",
         .holds = true,
         .set = &set_flag<&Options::help>},
        {.names = "--version", .help = "version", .holds = true, .set = &set_flag<&Options::version>},
    };
}

// In the order of the help.
std::vector<OptionRow> make_table() {
    std::vector<OptionRow> table;
    const auto add = [&](OptionGroup group, std::vector<OptionRow> part) {
        for (OptionRow& row : part) {
            row.group = group;
            table.push_back(std::move(row));
        }
    };
    add(OptionGroup::answer, answer_options());
    add(OptionGroup::question, question_options());
    add(OptionGroup::question, sampling_options());
    add(OptionGroup::files, window_options());
    add(OptionGroup::files, catching_options());
    add(OptionGroup::files, file_options());
    add(OptionGroup::files, serving_options());
    add(OptionGroup::session, session_options());
    add(OptionGroup::session, code_options());
    return table;
}

}  // namespace

std::string_view OptionRow::long_name() const { return names.substr(names.find("--")); }

std::span<const OptionRow> option_table() {
    static const std::vector<OptionRow> table = make_table();
    return table;
}

bool takes(const Command& verb, const OptionRow& option) {
    if (verb.session && (option.holds || option.scope != Scope::named)) return option.holds;
    switch (option.scope) {
        case Scope::every: return true;
        case Scope::inputs:
            return (verb.takes(ArgumentKind::input) || verb.takes(ArgumentKind::path)) &&
                   !verb.takes(ArgumentKind::executable);
        case Scope::named: {
            const std::vector<std::string_view> names = split(verb.options, ' ');
            return std::ranges::find(names, option.long_name()) != names.end();
        }
    }
    return false;
}

std::string words_of(const Command* verb, const OptionRow& option) {
    if (verb == nullptr) return option.values;
    if (option.names == "--by") return verb->of_processes ? figure_names() : std::string(verb->groups);
    if (option.names == "--format" && !verb->formats.empty()) return option.values + ' ' + std::string(verb->formats);
    return option.values;
}

std::string takers(const OptionRow& option) {
    std::string names;
    for (const Command* command : commands())
        if (takes(*command, option)) names.append(names.empty() ? "" : " ").append(command->name);
    return names;
}

}  // namespace beamheap::cli
