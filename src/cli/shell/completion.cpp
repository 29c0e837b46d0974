// SPDX-License-Identifier: Apache-2.0
// Completions of bash, zsh and fish, made of the tables of verbs and options. What options and arguments may be is
// completed, too: columns and tables of each verb's answer, and the names of processes and tables in the input that
// stands in the line.
#include <fmt/format.h>

#include "analyses/slogan/slogan.hpp"
#include "cli/frame/answer_tables.hpp"
#include "cli/frame/command_line/option_table.hpp"
#include "cli/frame/help.hpp"

namespace beamheap::cli {
namespace {

constexpr std::string_view shells = "bash zsh fish";
constexpr std::string_view limits = "critical high medium info msgq> heap> memory> processes> atoms> ports> total>";

// Single quotes for a shell.
std::string shell_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
    return out + '\'';
}

// Words one after the other, each once.
class Words {
public:
    void add(std::string_view word) {
        if ((' ' + text_ + ' ').find(fmt::format(" {} ", word)) == std::string::npos)
            text_.append(text_.empty() ? "" : " ").append(word);
    }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

std::string verb_words() {
    Words words;
    for (const Command* command : commands()) words.add(command->name);
    return words.text();
}

std::string topic_words() {
    Words words;
    for (const analyses::Explanation& page : analyses::explanations()) words.add(page.name);
    return words.text();
}

std::string option_words(const Command& verb) {
    Words words;
    for (const OptionRow& row : option_table())
        if (takes(verb, row))
            for (const std::string_view name : split(row.names, ',')) words.add(name);
    words.add("--");
    return words.text();
}

// What may be chosen in a verb's answer.
struct Choices {
    Words tables, columns, sorts;
};
Choices choices_of(const Command& verb) {
    Choices choices;
    for (const AnswerTable& table : answer_tables(verb)) {
        choices.tables.add(table.name);
        for (const present::Column& column : table.columns) {
            choices.columns.add(column.name);
            if (table.main) choices.sorts.add(column.name);
        }
    }
    return choices;
}

// The words of an option's value, where they are the same for all verbs; empty: they are not, or it is a file or free.
std::string fixed_words(const OptionRow& row) {
    if (row.names == "--fail-on") return std::string(limits);
    if (row.names == "--by") return {};
    if (row.names != "--format") return row.values;
    Words words;
    for (const std::string_view word : split(row.values, ' ')) words.add(word);
    for (const Command* command : commands())
        for (const std::string_view word : split(command->formats, ' ')) words.add(word);
    return words.text();
}

bool is_file(const OptionRow& row) { return row.argument == "FILE"; }

// "a|b|" of options that take a value, for a pattern of case.
std::string valued_options(std::string_view separator) {
    std::string text;
    for (const OptionRow& row : option_table())
        if (!row.argument.empty())
            for (const std::string_view name : split(row.names, ','))
                text.append(text.empty() ? std::string_view() : separator).append(name);
    return text;
}

// What stands at the arguments of verbs, as "verb:position" of those that are neither inputs nor files.
std::string positions_of(ArgumentKind kind) {
    std::string text;
    for (const Command* command : commands())
        for (std::size_t i = 0; i < command->arguments.size(); ++i)
            if (!command->arguments[i].name.empty() && command->arguments[i].kind == kind)
                text += fmt::format("{}{}:{}", text.empty() ? "" : "|", command->name, i + 1);
    return text;
}

// Functions that bash and zsh share: where in the line the cursor stands, and what may stand there. Names of the input
// are taken only if they are plain words, so that none of them means anything to the shell.
std::string shared_functions() {
    std::string by_verb;
    for (const Command* command : commands()) {
        const Choices choices = choices_of(*command);
        std::string by;
        for (const OptionRow& row : option_table())
            if (row.names == "--by" && takes(*command, row)) by = words_of(command, row);
        by_verb +=
            fmt::format("        {}) opts={} columns={} sorts={} tables={} by={} ;;\n", command->name,
                        shell_quoted(option_words(*command)), shell_quoted(choices.columns.text()),
                        shell_quoted(choices.sorts.text()), shell_quoted(choices.tables.text()), shell_quoted(by));
    }
    return fmt::format(
        R"(# _beamheap_line WORD... : the words before the cursor, without the program: the verb, how many arguments follow it, the input
_beamheap_line() {{
    verb= position=1 input=
    while [ $# -gt 0 ]; do
        case $1 in
            {0}) [ $# -gt 1 ] && shift ;;
            -?*) ;;
            *)
                if [ -z "$verb" ]; then
                    case " {1} " in
                        *" $1 "*) verb=$1; shift; continue ;;
                    esac
                    verb=analyze
                fi
                [ $position -eq 1 ] && input=$1
                position=$((position + 1))
                ;;
        esac
        shift
    done
}}
# _beamheap_choices VERB : its options, and what they may be
_beamheap_choices() {{
    opts= columns= sorts= tables= by=
    case $1 in
{2}    esac
}}
# _beamheap_names VERB COLUMN : names in the input
_beamheap_names() {{
    command beamheap "$1" "${{input/#\~/$HOME}}" -n 0 --columns "$2" --sort "$2" --format tsv --syntax elixir -q 2>/dev/null |
        sed 1d | LC_ALL=C grep -xE '[A-Za-z0-9_.@:-]+' | uniq
}}
)",
        valued_options("|"), verb_words(), by_verb);
}

// The branches that answer for an option's value, given how a shell is told words and files.
std::string option_branches(std::string_view indent, std::string_view words, std::string_view files,
                            std::string_view nothing) {
    std::string text;
    for (const OptionRow& row : option_table()) {
        if (row.argument.empty()) continue;
        std::string names;
        for (const std::string_view name : split(row.names, ',')) names.append(names.empty() ? "" : "|").append(name);
        const std::string fixed = fixed_words(row);
        const std::string_view variable = row.names == "--sort"      ? "\"$sorts\""
                                          : row.names == "--columns" ? "\"$columns\""
                                          : row.names == "--table"   ? "\"$tables\""
                                          : row.names == "--by"      ? "\"$by\""
                                                                     : std::string_view();
        const std::string reply = !fixed.empty()      ? fmt::format("{} {}", words, shell_quoted(fixed))
                                  : !variable.empty() ? fmt::format("{} {}", words, variable)
                                                      : std::string(is_file(row) ? files : nothing);
        text += fmt::format("{}{}) {}; return ;;\n", indent, names, reply);
    }
    return text;
}

std::string argument_branches(std::string_view indent, std::string_view words, std::string_view names) {
    return fmt::format("{0}{1}) {2} {3} ;;\n{0}{4}) {2} {5} ;;\n{0}{6}) {7} top name ;;\n{0}{8}) {7} ets name ;;\n",
                       indent, positions_of(ArgumentKind::shell), words, shell_quoted(shells),
                       positions_of(ArgumentKind::topic), shell_quoted(topic_words()),
                       positions_of(ArgumentKind::process), names, positions_of(ArgumentKind::table));
}

std::string bash_script() {
    return fmt::format(R"(# bash completion for beamheap
{0}# _beamheap_words LIST : those that begin as the word does; behind a comma, the list goes on
_beamheap_words() {{
    local before=
    [[ $previous == --columns && $word == *,* ]] && before=${{word%,*}},
    COMPREPLY=($(compgen -P "$before" -W "$1" -- "${{word#"$before"}}"))
}}
_beamheap_reply_names() {{
    local name
    while read -r name; do [[ $name == "$word"* ]] && COMPREPLY+=("$name"); done < <(_beamheap_names "$@")
}}
_beamheap() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} opts columns sorts tables by verb position input
    [[ $word == = ]] && word=
    [[ $previous == = ]] && previous=${{COMP_WORDS[COMP_CWORD-2]}}
    _beamheap_line "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"
    _beamheap_choices "${{verb:-analyze}}"
    COMPREPLY=()
    case $previous in
{1}    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$opts" -- "$word"))
        return
    fi
    if [[ -z $verb ]]; then
        COMPREPLY=($(compgen -W {2} -- "$word") $(compgen -f -- "$word"))
        return
    fi
    case $verb:$position in
{3}        *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}}
complete -o filenames -F _beamheap beamheap
)",
                       shared_functions(),
                       option_branches("        ", "_beamheap_words", "COMPREPLY=($(compgen -f -- \"$word\"))", ":"),
                       shell_quoted(verb_words()),
                       argument_branches("        ", "_beamheap_words", "_beamheap_reply_names"));
}

std::string zsh_script() {
    std::string verbs;
    for (const Command* command : commands())
        verbs += fmt::format("        {}\n", shell_quoted(fmt::format("{}:{}", command->name, command->summary)));
    std::string about;
    for (const OptionRow& row : option_table())
        for (const std::string_view name : split(row.names, ','))
            about += fmt::format("        {}\n", shell_quoted(fmt::format("{}:{}", name, row.help)));
    return fmt::format(R"zsh(#compdef beamheap
{0}_beamheap_words() {{ compadd -- ${{=1}} }}
_beamheap_reply_names() {{ compadd -- ${{(f)"$(_beamheap_names "$@")"}} }}
_beamheap() {{
    local opts columns sorts tables by verb position input
    local -a verbs about
    verbs=(
{1}    )
    about=(
{2}    )
    _beamheap_line "${{(@)words[2,CURRENT-1]}}"
    _beamheap_choices "${{verb:-analyze}}"
    case $words[CURRENT-1] in
        --columns) _sequence compadd - ${{=columns}}; return ;;
{3}    esac
    if [[ $words[CURRENT] == -* ]]; then
        about=(${{(M)about:#(${{(j:|:)${{=opts}}}}):*}})
        _describe option about
        return
    fi
    if [[ -z $verb ]]; then
        _describe verb verbs
        _files
        return
    fi
    case $verb:$position in
{4}        *) _files ;;
    esac
}}
compdef _beamheap beamheap
)zsh",
                       shared_functions(), verbs, about,
                       option_branches("        ", "_beamheap_words", "_files", "_message value"),
                       argument_branches("        ", "_beamheap_words", "_beamheap_reply_names"));
}

// Words as fish reads them in -a, where it takes its own signs (`msgq>`) for what they are on a command line.
std::string fish_words(std::string_view words) {
    std::string text;
    for (const char c : words) {
        if (std::string_view("\\'\"$*?~#(){}[]<>&|;").find(c) != std::string_view::npos) text += '\\';
        text += c;
    }
    return shell_quoted(text);
}

// Lines of fish for the arguments of a kind: the words that `source` prints, where one of these verbs stands in the
// line, and, of names in an input, that input. Before that files are completed.
std::string fish_argument(ArgumentKind kind, std::string_view source) {
    std::string verbs;
    for (const Command* command : commands())
        if (command->takes(kind)) verbs += fmt::format(" {}", command->name);
    const bool of_input = kind == ArgumentKind::process || kind == ArgumentKind::table;
    return fmt::format("complete -c beamheap -n '__fish_seen_subcommand_from{}{}' -f -a {}\n", verbs,
                       of_input ? "; and test (count (commandline -opc)) -ge 3" : "", shell_quoted(source));
}

std::string fish_script() {
    std::string text = "# fish completion for beamheap\n";
    text += R"(function __beamheap_names
    set -l words (commandline -opc)
    test (count $words) -ge 3; or return
    command beamheap $argv[1] $words[3] -n 0 --columns name --sort name --format tsv --syntax elixir -q 2>/dev/null | sed 1d | string match -r '^[A-Za-z0-9_.@:-]+$'
end
)";
    for (const Command* command : commands()) {
        text += fmt::format("complete -c beamheap -n __fish_use_subcommand -a {} -d {}\n", command->name,
                            shell_quoted(command->summary));
        const Choices choices = choices_of(*command);
        for (const auto& [option, words] :
             {std::pair<std::string_view, const std::string&>{"sort", choices.sorts.text()},
              {"columns", choices.columns.text()},
              {"table", choices.tables.text()}})
            if (!words.empty())
                text += fmt::format("complete -c beamheap -n '__fish_seen_subcommand_from {}' -l {} -x -a {}\n",
                                    command->name, option, fish_words(words));
    }
    text += fish_argument(ArgumentKind::shell, shells);
    text += fish_argument(ArgumentKind::topic, topic_words());
    text += fish_argument(ArgumentKind::process, "(__beamheap_names top)");
    text += fish_argument(ArgumentKind::table, "(__beamheap_names ets)");
    for (const OptionRow& row : option_table()) {
        std::string line = "complete -c beamheap";
        if (row.scope != Scope::every)
            line += fmt::format(" -n {}", shell_quoted("__fish_seen_subcommand_from " + takers(row)));
        for (const std::string_view name : split(row.names, ','))
            line +=
                name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
        if (!row.argument.empty()) line += is_file(row) ? " -r -F" : " -x";
        if (const std::string words = row.names == "--by" ? row.values : fixed_words(row); !words.empty())
            line += fmt::format(" -a {}", fish_words(words));
        text += fmt::format("{} -d {}\n", line, shell_quoted(row.help));
    }
    return text;
}

}  // namespace

std::string completion_script(std::string_view shell) {
    if (shell == "bash") return bash_script();
    if (shell == "zsh") return zsh_script();
    if (shell == "fish") return fish_script();
    return {};
}

}  // namespace beamheap::cli
