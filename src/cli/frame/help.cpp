// SPDX-License-Identifier: Apache-2.0
#include "cli/frame/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyses/processes/process_columns.hpp"
#include "cli/frame/answer_tables.hpp"
#include "cli/frame/command_line/option_table.hpp"
#include "present/render.hpp"
#include "present/table_cells.hpp"

namespace beamheap::cli {
namespace {

constexpr std::string_view examples =
    "  beamheap erl_crash.dump                          what happened\n"
    "  beamheap top erl_crash.dump --by memory -n 5     the five largest processes\n"
    "  beamheap proc erl_crash.dump lager_event         one process\n"
    "  beamheap stacks erl_crash.dump                   what everybody was doing\n"
    "  zstdcat dump.zst | beamheap analyze - --json     for programs\n";

// What ends the options; to the parser it is no option.
constexpr std::string_view end_of_options = "  --                    what follows is no option\n";

// Options of every verb, or those that are a verb's own.
std::string option_lines(const Command* verb, bool own) {
    std::string text;
    for (const OptionRow& row : option_table()) {
        if ((row.scope != Scope::every) != own || (verb != nullptr && !takes(*verb, row))) continue;
        std::string names(row.names);
        if (const std::size_t comma = names.find(','); comma != names.npos) names.insert(comma + 1, " ");
        const std::string left = row.argument.empty() ? names : fmt::format("{} {}", names, row.argument);
        const std::string words = words_of(verb, row);
        std::string choices = words.empty() ? std::string() : fmt::format(": {}", words);
        const bool other_default = row.names == "--by" && verb != nullptr && !verb->of_processes;
        if (!row.preset.empty() && !other_default) choices += fmt::format(" (default: {})", row.preset);
        text += fmt::format("  {:<22}{}{}{}\n", left, left.size() > 20 ? "\n" + std::string(24, ' ') : "", row.help,
                            choices);
    }
    if (!own) text += end_of_options;
    return text;
}

// Where a column of a verb over processes has a short name for --by, it stands behind the column's.
std::string_view key_of(const Command& command, std::string_view column) {
    if (!command.of_processes) return {};
    for (const analyses::ProcessColumn& each : analyses::process_columns())
        if (each.name == column) return each.key;
    return {};
}

// The tables of a verb's answer, a line a column.
std::string column_lines(const Command& command) {
    std::string text;
    const std::vector<AnswerTable> tables = answer_tables(command);
    const auto same = [](const AnswerTable& a, const AnswerTable& b) {
        return std::ranges::equal(a.columns, b.columns, {}, &present::Column::name, &present::Column::name);
    };
    for (auto at = tables.begin(); at != tables.end(); ++at) {
        const AnswerTable& table = *at;
        if (std::any_of(tables.begin(), at, [&](const AnswerTable& before) { return same(before, table); })) continue;
        std::string what = !table.main            ? std::string()
                           : command.of_processes ? " (--columns, --sort, and the [key] for --by)"
                                                  : " (--columns, --sort)";
        if (!table.main) what = fmt::format(" of --table {}", table.name);
        for (auto other = at + 1; other != tables.end(); ++other)
            if (same(*other, table)) what += fmt::format(", --table {}", other->name);
        text += fmt::format("\ncolumns{}:\n", what);
        for (const present::Column& column : table.columns) {
            const std::string_view key = table.main ? key_of(command, column.name) : std::string_view();
            text += fmt::format("  {:<24}{}{}\n", column.name, key.empty() ? std::string() : fmt::format("[{}] ", key),
                                column.doc);
        }
    }
    return text;
}

std::string lines_with(std::string_view prefix, std::string_view lines) {
    std::string text;
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        text.append(prefix).append(lines.substr(0, end)).append("\n");
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    return text;
}

}  // namespace

std::string help_text() {
    std::string verbs;
    for (const Command* command : commands()) verbs += fmt::format("  {:<12}{}\n", command->name, command->summary);
    return fmt::format(
        "beamheap tells why an Erlang VM died or grew, from its crash dump or core image.\n\n"
        "usage: beamheap [VERB] INPUT [options]\n"
        "INPUT is a crash dump or a core, plain, .gz, .zst, .xz or .lz4; - is standard input; or the pid\n"
        "of a running VM, or its node's name. Without a verb: analyze.\n"
        "Verbs over many processes take --procs SELECTOR to look at some only.\n\n"
        "verbs:\n{}\nexamples:\n{}\n"
        "options of every verb (more: beamheap VERB --help):\n{}\n"
        "exit codes: 0 fine, 1 check found something, 2 usage or no such process, 3 no readable input,\n"
        "            4 damaged input with --strict, 5 a resource limit, 130 interrupted\n",
        verbs, examples, option_lines(nullptr, false));
}

std::string help_text(const Command& command, bool in_session) {
    std::string text = fmt::format("{} [options]\n\n{}\n", usage_line(command, in_session), command.summary);
    if (!command.details.empty()) text += fmt::format("\n{}\n", command.details);
    if (!command.examples.empty()) text += fmt::format("\nexamples:\n{}", lines_with("  beamheap ", command.examples));
    if (const std::string own = option_lines(&command, true); !own.empty()) text += fmt::format("\noptions:\n{}", own);
    text += column_lines(command);
    text += fmt::format("\noptions of every verb:\n{}", option_lines(&command, false));
    return text;
}

namespace {

using present::Array;
using present::Object;
using present::Value;

constexpr std::array<std::string_view, 8> unit_names{"",        "count",        "bytes",   "words",
                                                     "percent", "milliseconds", "address", "identifier"};  // as Unit

Array table_rows(const Command& command) {
    Array tables;
    for (const AnswerTable& table : answer_tables(command)) {
        Array columns;
        for (const present::Column& column : table.columns)
            columns.emplace_back(
                Object{{"name", column.name},
                       {"title", column.title},
                       {"unit", present::cells::text(unit_names[static_cast<std::size_t>(column.unit)])},
                       {"help", column.doc}});
        tables.emplace_back(Object{{"name", table.name}, {"main", table.main}, {"columns", std::move(columns)}});
    }
    return tables;
}

Array process_column_rows() {
    constexpr std::array<std::string_view, 4> units{"", "count", "bytes", "words"};  // as Measure
    Array rows;
    for (const analyses::ProcessColumn& each : analyses::process_columns())
        rows.emplace_back(Object{{"name", each.name},
                                 {"by", present::cells::text(each.key)},
                                 {"title", each.title},
                                 {"kind", each.kind()},
                                 {"unit", present::cells::text(units[static_cast<std::size_t>(each.measure)])},
                                 {"help", each.doc}});
    return rows;
}

}  // namespace

present::Document help_document() {
    const auto words = [](std::string_view text) {
        Array array;
        for (const std::string_view word : split(text, ' ')) array.emplace_back(word);
        return array;
    };
    Array verbs;
    for (const Command* command : commands()) {
        Array arguments;
        for (const Argument& each : command->arguments)
            if (!each.name.empty())
                arguments.emplace_back(Object{{"name", each.name},
                                              {"kind", name_of(each.kind)},
                                              {"optional", each.optional},
                                              {"repeated", each.repeated}});
        Array options;
        for (const OptionRow& row : option_table())
            if (row.scope != Scope::every && takes(*command, row)) options.emplace_back(row.long_name());
        verbs.emplace_back(Object{{"name", command->name},
                                  {"summary", command->summary},
                                  {"arguments", std::move(arguments)},
                                  {"options", std::move(options)},
                                  {"tables", table_rows(*command)},
                                  {"in_shell", !command->alone},
                                  {"session", command->session}});
    }
    Array options;
    for (const OptionRow& row : option_table()) {
        Array names;
        for (const std::string_view name : split(row.names, ',')) names.emplace_back(name);
        options.emplace_back(Object{{"names", std::move(names)},
                                    {"argument", present::cells::text(row.argument)},
                                    {"values", words(row.values)},
                                    {"default", present::cells::text(row.preset)},
                                    {"help", row.help},
                                    {"every_verb", row.scope == Scope::every}});
    }
    Array formats;
    for (const present::Presenter* each : present::presenters())
        formats.emplace_back(Object{{"name", each->name}, {"help", each->doc}, {"for_people", each->for_people}});
    present::Document document;
    document.kind = "help";
    document.members.push_back({.key = "verbs", .body = Value(std::move(verbs))});
    document.members.push_back({.key = "options", .body = Value(std::move(options))});
    document.members.push_back({.key = "formats", .body = Value(std::move(formats))});
    document.members.push_back({.key = "process_columns", .body = Value(process_column_rows())});
    return document;
}

}  // namespace beamheap::cli
