#include "cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace beamheap::cli {
namespace {

constexpr std::string_view examples =
    "  beamheap erl_crash.dump                          what happened\n"
    "  beamheap top erl_crash.dump --by memory -n 5     the five largest processes\n"
    "  beamheap proc erl_crash.dump lager_event         one process\n"
    "  beamheap stacks erl_crash.dump                   what everybody was doing\n"
    "  zstdcat dump.zst | beamheap analyze - --json     for programs\n";

std::string option_lines(std::string_view verb, bool own) {
    std::string text;
    for (const OptionRow& row : option_table()) {
        if (row.verbs.empty() == own || (own && !takes(verb, row))) continue;
        std::string names(row.names);
        if (const std::size_t comma = names.find(','); comma != names.npos) names.insert(comma + 1, " ");
        const std::string left = row.argument.empty() ? names : fmt::format("{} {}", names, row.argument);
        std::string choices = row.values.empty() ? std::string() : fmt::format(": {}", row.values);
        if (!row.preset.empty()) choices += fmt::format(" (default: {})", row.preset);
        text += fmt::format("  {:<22}{}{}{}\n", left, left.size() > 20 ? "\n" + std::string(24, ' ') : "", row.help,
                            choices);
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

// Words of all verbs, and of the options that a verb takes.
std::string verb_words() {
    std::string words;
    for (const Command& command : commands()) words.append(words.empty() ? "" : " ").append(command.name);
    return words;
}
template <class Visit>
void for_each_name(const OptionRow& row, Visit&& visit) {
    std::string_view names = row.names;
    while (!names.empty()) {
        const std::size_t end = std::min(names.find(','), names.size());
        visit(names.substr(0, end));
        names.remove_prefix(std::min(end + 1, names.size()));
    }
}
std::string option_words(std::string_view verb) {
    std::string words;
    for (const OptionRow& row : option_table())
        if (takes(verb, row))
            for_each_name(row, [&](std::string_view name) { words.append(words.empty() ? "" : " ").append(name); });
    return words;
}

// Single quotes for a shell.
std::string quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
    return out + '\'';
}

std::string bash_script() {
    std::string by_option;
    for (const OptionRow& row : option_table()) {
        if (row.argument.empty()) continue;
        std::string patterns;
        for_each_name(row, [&](std::string_view name) { patterns.append(patterns.empty() ? "" : "|").append(name); });
        const std::string reply = !row.values.empty()
                                      ? fmt::format("COMPREPLY=($(compgen -W {} -- \"$word\"))", quoted(row.values))
                                  : row.argument == "FILE" ? std::string("COMPREPLY=($(compgen -f -- \"$word\"))")
                                                           : std::string("COMPREPLY=()");
        by_option += fmt::format("        {}) {}; return ;;\n", patterns, reply);
    }
    std::string by_verb;
    for (const Command& command : commands())
        by_verb += fmt::format("            {}) options={} ;;\n", command.name, quoted(option_words(command.name)));
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
        by_option, verb_words(), by_verb, quoted(option_words("analyze")), quoted(verb_words()));
}

std::string zsh_script() {
    std::string verbs;
    for (const Command& command : commands())
        verbs += fmt::format("        {}\n", quoted(fmt::format("{}:{}", command.name, command.summary)));
    std::string options;
    for (const OptionRow& row : option_table()) {
        if (row.names == "--") continue;
        for_each_name(row, [&](std::string_view name) {
            std::string help(row.help);
            std::erase_if(help, [](char c) { return c == '[' || c == ']' || c == ':'; });
            std::string spec = fmt::format("{}[{}]", name, help);
            if (!row.argument.empty())
                spec += fmt::format(":{}:{}", row.argument,
                                    !row.values.empty()      ? fmt::format("({})", row.values)
                                    : row.argument == "FILE" ? std::string("_files")
                                                             : std::string());
            options += fmt::format("        {} \\\n", quoted(spec));
        });
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
    for (const Command& command : commands())
        text += fmt::format("complete -c beamheap -n __fish_use_subcommand -a {} -d {}\n", command.name,
                            quoted(command.summary));
    text += "complete -c beamheap -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n";
    for (const OptionRow& row : option_table()) {
        if (row.names == "--") continue;
        std::string line = "complete -c beamheap";
        if (!row.verbs.empty())
            line += fmt::format(" -n {}", quoted(fmt::format("__fish_seen_subcommand_from {}", row.verbs)));
        for_each_name(row, [&](std::string_view name) {
            line +=
                name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
        });
        if (!row.argument.empty()) line += row.argument == "FILE" ? " -r -F" : " -x";
        if (!row.values.empty()) line += fmt::format(" -a {}", quoted(row.values));
        text += fmt::format("{} -d {}\n", line, quoted(row.help));
    }
    return text;
}

}  // namespace

std::string help_text() {
    std::string verbs;
    for (const Command& command : commands()) verbs += fmt::format("  {:<12}{}\n", command.name, command.summary);
    return fmt::format(
        "beamheap tells why an Erlang VM died or grew, from its crash dump or core image.\n\n"
        "usage: beamheap [VERB] INPUT [options]\n"
        "INPUT is a crash dump or a core, plain, .gz, .zst, .xz or .lz4; - is standard input. Without a verb: analyze.\n\n"
        "verbs:\n{}\nexamples:\n{}\n"
        "options of every verb (more: beamheap VERB --help):\n{}\n"
        "exit codes: 0 fine, 2 usage or no such process, 3 no readable input, 4 damaged input with --strict,\n"
        "            5 a resource limit, 130 interrupted\n",
        verbs, examples, option_lines({}, false));
}

std::string help_text(const Command& command) {
    std::string text =
        fmt::format("usage: beamheap {} {} [options]\n\n{}\n", command.name, command.arguments, command.summary);
    if (!command.details.empty()) text += fmt::format("\n{}\n", command.details);
    if (!command.examples.empty()) text += fmt::format("\nexamples:\n{}", lines_with("  beamheap ", command.examples));
    if (const std::string own = option_lines(command.name, true); !own.empty())
        text += fmt::format("\noptions:\n{}", own);
    text += fmt::format("\noptions of every verb:\n{}", option_lines(command.name, false));
    return text;
}

std::string completion_script(std::string_view shell) {
    if (shell == "bash") return bash_script();
    if (shell == "zsh") return zsh_script();
    if (shell == "fish") return fish_script();
    return {};
}

}  // namespace beamheap::cli
