#include "cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyses/processes/process_columns.hpp"
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
        std::string choices = row.values.empty() ? std::string() : fmt::format(": {}", row.values);
        if (verb != nullptr && row.names == "--format" && !verb->formats.empty()) choices += fmt::format(" {}", verb->formats);
        if (!row.preset.empty()) choices += fmt::format(" (default: {})", row.preset);
        text += fmt::format("  {:<22}{}{}{}\n", left, left.size() > 20 ? "\n" + std::string(24, ' ') : "", row.help,
                            choices);
    }
    if (!own) text += end_of_options;
    return text;
}

std::string column_lines() {
    std::string text;
    for (const analyses::ProcessColumn& each : analyses::process_columns())
        text += fmt::format("  {:<23}{:<14}{}\n", each.name, each.key, each.doc);
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

// Words of all verbs, and of the options that a verb takes.
std::string verb_words() {
    std::string words;
    for (const Command* command : commands()) words.append(words.empty() ? "" : " ").append(command->name);
    return words;
}
std::string option_words(const Command& verb) {
    std::string words;
    for (const OptionRow& row : option_table())
        if (takes(verb, row))
            for (const std::string_view name : split(row.names, ',')) words.append(name).append(" ");
    return words + "--";
}

// Single quotes for a shell.
std::string shell_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
    return out + '\'';
}

std::string bash_script() {
    std::string by_option;
    for (const OptionRow& row : option_table()) {
        if (row.argument.empty()) continue;
        std::string patterns;
        for (const std::string_view name : split(row.names, ','))
            patterns.append(patterns.empty() ? "" : "|").append(name);
        const std::string reply = !row.values.empty()
                                      ? fmt::format("COMPREPLY=($(compgen -W {} -- \"$word\"))", shell_quoted(row.values))
                                  : row.argument == "FILE" ? std::string("COMPREPLY=($(compgen -f -- \"$word\"))")
                                                           : std::string("COMPREPLY=()");
        by_option += fmt::format("        {}) {}; return ;;\n", patterns, reply);
    }
    std::string by_verb;
    for (const Command* command : commands())
        by_verb += fmt::format("            {}) options={} ;;\n", command->name, shell_quoted(option_words(*command)));
    return fmt::format(
        R"(# bash completion for beamheap
_beamheap() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} verb= options= i
    case $previous in
{0}        completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- "$word")); return ;;
    esac
    for ((i = 1; i < COMP_CWORD; i++)); do
        case " {1} " in *" ${{COMP_WORDS[i]}} "*) verb=${{COMP_WORDS[i]}}; break ;; esac
    done
    if [[ $word == -* ]]; then
        case $verb in
{2}            *) options={3} ;;
        esac
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif [[ -z $verb ]]; then
        COMPREPLY=($(compgen -W {4} -- "$word") $(compgen -f -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _beamheap beamheap
)",
        by_option, verb_words(), by_verb, shell_quoted(option_words(*find_command("analyze"))), shell_quoted(verb_words()));
}

std::string zsh_script() {
    std::string verbs;
    for (const Command* command : commands())
        verbs += fmt::format("        {}\n", shell_quoted(fmt::format("{}:{}", command->name, command->summary)));
    std::string options;
    for (const OptionRow& row : option_table()) {
        for (const std::string_view name : split(row.names, ',')) {
            std::string help(row.help);
            std::erase_if(help, [](char c) { return c == '[' || c == ']' || c == ':'; });
            std::string spec = fmt::format("{}[{}]", name, help);
            if (!row.argument.empty())
                spec += fmt::format(":{}:{}", row.argument,
                                    !row.values.empty()      ? fmt::format("({})", row.values)
                                    : row.argument == "FILE" ? std::string("_files")
                                                             : std::string());
            options += fmt::format("        {} \\\n", shell_quoted(spec));
        }
    }
    return fmt::format(R"(#compdef beamheap
_beamheap() {{
    local -a verbs
    verbs=(
{}    )
    _arguments \
{}        '1: :{{_describe verb verbs -- ; _files}}' \
        '*:file:_files'
}}
compdef _beamheap beamheap
)",
                       verbs, options);
}

std::string fish_script() {
    std::string text = "# fish completion for beamheap\n";
    for (const Command* command : commands())
        text += fmt::format("complete -c beamheap -n __fish_use_subcommand -a {} -d {}\n", command->name,
                            shell_quoted(command->summary));
    text += "complete -c beamheap -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n";
    for (const OptionRow& row : option_table()) {
        std::string line = "complete -c beamheap";
        if (row.scope != Scope::every)
            line += fmt::format(" -n {}", shell_quoted("__fish_seen_subcommand_from " + takers(row)));
        for (const std::string_view name : split(row.names, ','))
            line +=
                name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
        if (!row.argument.empty()) line += row.argument == "FILE" ? " -r -F" : " -x";
        if (!row.values.empty()) line += fmt::format(" -a {}", shell_quoted(row.values));
        text += fmt::format("{} -d {}\n", line, shell_quoted(row.help));
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
        "INPUT is a crash dump or a core, plain, .gz, .zst, .xz or .lz4; - is standard input. Without a verb: analyze.\n"
        "Verbs over many processes take --procs SELECTOR to look at some only.\n\n"
        "verbs:\n{}\nexamples:\n{}\n"
        "options of every verb (more: beamheap VERB --help):\n{}\n"
        "exit codes: 0 fine, 1 check found something, 2 usage or no such process, 3 no readable input,\n"
        "            4 damaged input with --strict, 5 a resource limit, 130 interrupted\n",
        verbs, examples, option_lines(nullptr, false));
}

std::string help_text(const Command& command) {
    std::string text =
        fmt::format("usage: beamheap {} {} [options]\n\n{}\n", command.name, command.usage(), command.summary);
    if (!command.details.empty()) text += fmt::format("\n{}\n", command.details);
    if (!command.examples.empty()) text += fmt::format("\nexamples:\n{}", lines_with("  beamheap ", command.examples));
    if (const std::string own = option_lines(&command, true); !own.empty())
        text += fmt::format("\noptions:\n{}", own);
    if (command.of_processes) text += fmt::format("\ncolumns (--columns, --sort, and the key for --by):\n{}", column_lines());
    text += fmt::format("\noptions of every verb:\n{}", option_lines(&command, false));
    return text;
}

namespace {

using present::Array;
using present::Object;
using present::Value;

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

std::string completion_script(std::string_view shell) {
    if (shell == "bash") return bash_script();
    if (shell == "zsh") return zsh_script();
    if (shell == "fish") return fish_script();
    return {};
}

}  // namespace beamheap::cli
