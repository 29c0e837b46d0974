// SPDX-License-Identifier: Apache-2.0
// The manual page, made of the same rows as the help: mdoc is not on every machine, man's own macros are.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/processes/process_columns.hpp"
#include "beamheap_version.hpp"
#include "cli/frame/answer_tables.hpp"
#include "cli/frame/command_line/option_table.hpp"
#include "cli/frame/help.hpp"

namespace beamheap::cli {
namespace {

// Text as roff takes it: no escape of ours is one of roff's, a hyphen is a minus that can be searched for and copied,
// and no line begins as a request does.
std::string roff(std::string_view text) {
    std::string out;
    bool line_begins = true;
    for (const char c : text) {
        if (line_begins && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\') out += "\\e";
        else if (c == '-') out += "\\-";
        else out += c;
        line_begins = c == '\n';
    }
    return out;
}

// One of several arguments of a macro.
std::string argument_of_macro(std::string_view text) {
    std::string out = "\"";
    for (const char c : roff(text)) c == '"' ? out += "\\(dq" : out += c;
    return out + '"';
}

std::string entry(std::string_view what, std::string_view text) {
    return fmt::format(".TP\n.B {}\n{}\n", argument_of_macro(what), roff(text));
}

std::string option_entries(const Command* verb, bool own) {
    std::string text;
    for (const OptionRow& row : option_table()) {
        if ((row.scope != Scope::every) != own || (verb != nullptr && !takes(*verb, row))) continue;
        std::string names;
        for (const std::string_view name : split(row.names, ',')) names.append(names.empty() ? "" : ", ").append(name);
        std::string about(row.help);
        const std::string words = words_of(verb, row);
        if (!words.empty()) about += fmt::format(": {}", words);
        const bool other_default = row.names == "--by" && verb != nullptr && !verb->of_processes;
        if (!row.preset.empty() && !other_default) about += fmt::format(" (default: {})", row.preset);
        text += entry(row.argument.empty() ? names : fmt::format("{} {}", names, row.argument), about);
    }
    return text;
}

// The tables of a verb's answer with the names of their columns; what they mean, the verb's own help tells.
std::string table_entries(const Command& command) {
    std::string text;
    for (const AnswerTable& table : answer_tables(command)) {
        std::string names;
        for (const present::Column& column : table.columns) names.append(names.empty() ? "" : " ").append(column.name);
        text += entry(fmt::format("--table {}", table.name),
                      table.main ? "(the one that is ordered by --sort) " + names : names);
    }
    return text;
}

std::string verbs() {
    std::string text;
    for (const Command* command : commands()) {
        const std::string usage = command->usage();
        text += fmt::format(".SS {}\n{}{}\n",
                            argument_of_macro(fmt::format("{}{}{}", command->name, usage.empty() ? "" : " ", usage)),
                            roff(command->summary), command->summary.ends_with('.') ? "" : ".");
        if (!command->details.empty()) text += fmt::format(".PP\n{}\n", roff(command->details));
        text += option_entries(command, true);
        text += table_entries(*command);
        if (command->examples.empty()) continue;
        text += ".PP\n.nf\n";
        for (const std::string_view example : split(command->examples, '\n'))
            text += fmt::format("    beamheap {}\n", roff(example));
        text += ".fi\n";
    }
    return text;
}

std::string process_columns() {
    std::string text;
    for (const analyses::ProcessColumn& each : analyses::process_columns()) {
        std::string about(each.doc);
        if (!each.key.empty()) about += fmt::format(" (--by {})", each.key);
        text += entry(each.name, about);
    }
    return text;
}

}  // namespace

std::string man_page() {
    return fmt::format(
        ".TH BEAMHEAP 1 \"\" \"beamheap " BEAMHEAP_VERSION
        "\" \"User Commands\"\n"
        ".SH NAME\nbeamheap \\- tell why an Erlang VM died or grew, from its crash dump or core image\n"
        ".SH SYNOPSIS\n.B beamheap\n[\\fIVERB\\fR] \\fIINPUT\\fR [\\fIoptions\\fR]\n"
        ".SH DESCRIPTION\n"
        "INPUT is a crash dump or a core image of an Erlang VM, plain or compressed (.gz, .zst, .xz, .lz4), a member "
        "of an archive\n"
        "as \\fBbeamheap check\\fR names it (logs.tgz!/oom.dump), or \\- for standard input. Without a verb it is "
        "analysed.\n"
        ".SH VERBS\n{}"
        ".SH OPTIONS OF EVERY VERB\n{}"
        ".SH COLUMNS OF PROCESSES\nNames for \\-\\-columns and \\-\\-sort, and in JSON; some have a name for \\-\\-by, "
        "too.\n{}"
        ".SH EXIT STATUS\n"
        ".TP\n.B 0\nfine\n"
        ".TP\n.B 1\ncheck: a finding at or above the threshold, or a limit that is broken\n"
        ".TP\n.B 2\nwrong usage, or no such process, table or term in the input\n"
        ".TP\n.B 3\nno input that can be read\n"
        ".TP\n.B 4\nwith \\-\\-strict: the input is truncated or damaged\n"
        ".TP\n.B 5\na resource limit: memory, disc space, the size of an archive\n"
        ".TP\n.B 130\ninterrupted\n"
        ".SH ENVIRONMENT\n"
        ".TP\n.B NO_COLOR, CLICOLOR_FORCE\nno colours, colours also where standard output is no terminal\n"
        ".TP\n.B TMPDIR\nwhere compressed core images are kept while they are read (/tmp)\n"
        ".TP\n.B GITHUB_ACTIONS\ntrue: check prints workflow commands, too\n"
        ".SH FILES\n"
        ".TP\n.I .beamheap.toml\nlimits and findings to ignore, for \\fBbeamheap check\\fR: of this folder, or the "
        "nearest one above\n"
        ".SH SEE ALSO\n.BR erl (1),\n.BR gcore (1)\n",
        verbs(), option_entries(nullptr, false), process_columns());
}

}  // namespace beamheap::cli
