// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/commands.hpp"
#include "cli/shell_words.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli::ui {
namespace {

using present::PageTable;

std::string_view trimmed(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return text;
}

// What a row's cell holds; empty: there is no such column, or nothing in it.
std::string_view cell(const Selected& at, std::string_view column) {
    const auto c = at.table->column_of(column);
    if (!c) return {};
    const std::string_view text = trimmed(at.table->text(at.row, *c));
    return text == "-" ? std::string_view{} : text;
}

// What a command of a finding asks, as a question of a session: without the program and without the input.
std::optional<Subject> subject_of_command(std::string_view command, std::string_view input) {
    auto read = words_of_line(command);
    if (!read) return std::nullopt;
    std::vector<std::string> words = std::move(*read);
    if (words.size() < 2 || words[0] != "beamheap") return std::nullopt;
    words.erase(words.begin());
    const Command* const verb = find_command(words[0]);
    if (verb == nullptr || verb->alone || verb->writes) return std::nullopt;
    if (const auto at = std::ranges::find(words, input); at != words.end()) words.erase(at);
    if (words[0] == "proc" && words.size() == 2) return process_subject(words[1]);
    std::string title = fmt::format("{}", fmt::join(words, " "));
    return Subject{title, {{words[0], words}}};
}

// The processes that a row stands for, of verbs whose rows are groups.
std::optional<Subject> members(const Selected& at, std::string_view verb) {
    if (const std::string_view call = cell(at, "initial_call"); at.table->key == "groups" && !call.empty())
        return Subject{std::string(call), {{"processes", {"top", "--procs", fmt::format("initial({})", call)}}}};
    if (const std::string_view group = cell(at, "group"); verb == "top" && !group.empty())
        return Subject{std::string(group), {{"processes", {"top", "--procs", fmt::format("group({})", group)}}}};
    return std::nullopt;
}

// Whom a row is about: the process that is all of a cell, of several the first; else one that a cell names. Terms are
// not about somebody.
std::optional<Subject> process_of_row(const Selected& at) {
    std::string found;
    bool whole = false;
    for (std::size_t c = 0; c < at.table->columns.size() && !whole; ++c) {
        if (at.table->columns[c].term) continue;
        const std::string_view text = trimmed(at.table->text(at.row, c));
        const std::string pid = present::first_pid(text);
        whole = !pid.empty() && pid == text;
        if (whole || found.empty()) found = pid;
    }
    if (found.empty()) return std::nullopt;
    Subject process = process_subject(found);
    for (const std::string_view column : {"name", "process", "owner_name", "receiver_name", "waiter_name"})
        if (const std::string_view name = cell(at, column); whole && !name.empty() && name != found) {
            process.title = fmt::format("{} {}", name, found);
            break;
        }
    return process;
}

std::optional<Subject> row_leads_to(const Selected& at, const Question& asked) {
    const std::string_view verb = asked.words.front();
    if (const std::string_view address = cell(at, "address"); !address.empty()) {
        std::string_view pid = cell(at, "pid");
        if (pid.empty() && asked.words.size() > 1 && verb != "term" && verb != "why") pid = asked.words[1];
        if (pid.empty() && asked.words.size() > 1)
            pid = std::string_view(asked.words[1]).substr(0, asked.words[1].find('@'));
        return term_subject(pid, address);
    }
    if (auto all = members(at, verb)) return all;
    if (verb == "ets" && asked.words.size() == 1 && at.table->key == "rows")
        if (const std::string_view name = cell(at, "name"); !name.empty()) {
            Subject table{std::string(name), {{"objects", {"ets", std::string(name)}}}};
            if (const std::string_view owner = cell(at, "owner"); !owner.empty()) {
                table.questions.push_back({"owner", {"proc", std::string(owner)}});
            }
            return table;
        }
    return process_of_row(at);
}

}  // namespace

std::span<const Subject> contents() {
    static const std::vector<Subject> list{
        {"Findings", {{"analyze", {"analyze"}}, {"everything", {"analyze", "-v"}}}},
        {"Processes", {{"processes", {"top"}}, {"live and garbage", {"top", "--full"}}}},
        {"Groups", {{"groups", {"analyze", "--table", "groups"}}}},
        {"Stacks", {{"stacks", {"stacks"}}}},
        {"Waits", {{"waits", {"waits"}}}},
        {"Tree", {{"tree", {"tree"}}}},
        {"Memory", {{"ledger", {"ledger"}}, {"allocators", {"alloc"}}}},
        {"ETS", {{"tables", {"ets"}}}},
        {"Binaries", {{"binaries", {"binaries"}}}},
        {"Atoms", {{"atoms", {"atoms"}}}},
        {"Ports", {{"ports", {"ports"}}}},
        {"Timers", {{"timers", {"timers"}}}},
        {"Schedulers", {{"schedulers", {"schedulers"}}}},
        {"Log events", {{"logs", {"logs"}}}},
        {"Nodes", {{"nodes", {"nodes"}}}},
        {"Modules", {{"modules", {"modules"}}}},
        {"Input", {{"doctor", {"doctor"}}}},
    };
    return list;
}

Subject process_subject(std::string_view pid) {
    const std::string p(pid);
    return {p,
            {{"process", {"proc", p}},
             {"heap", {"heap", p}},
             {"messages", {"msgs", p}},
             {"by shape", {"msgs", p, "--by", "shape"}},
             {"by sender", {"msgs", p, "--by", "sender"}},
             {"waits", {"waits", p}}}};
}

Subject term_subject(std::string_view pid, std::string_view address) {
    const std::string a(address);
    const std::string place = pid.empty() ? a : fmt::format("{}@{}", pid, a);
    Subject term{fmt::format("term {}", a), {}};
    if (!pid.empty()) term.questions.push_back({"elements", {"heap", std::string(pid), "--into", a}});
    term.questions.push_back({"text", {"term", place, "--term-bytes", "0"}});
    term.questions.push_back({"what keeps it", {"why", place}});
    return term;
}

std::optional<Subject> leads_to(const Selected& selected, const Question& asked, std::string_view input) {
    if (selected.table != nullptr) return row_leads_to(selected, asked);
    if (selected.line == nullptr) return std::nullopt;
    if (!selected.line->command.empty())
        if (auto subject = subject_of_command(selected.line->command, input)) return subject;
    if (!selected.line->process.empty()) return process_subject(selected.line->process);
    return std::nullopt;
}

std::string command_of(const Question& question, std::string_view input) {
    std::string command = "beamheap " + question.words.front() + ' ' + present::shell_word(input);
    for (std::size_t i = 1; i < question.words.size(); ++i) command += ' ' + present::shell_word(question.words[i]);
    return command;
}

}  // namespace beamheap::cli::ui
