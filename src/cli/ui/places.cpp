// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/frame/commands.hpp"
#include "cli/shell/shell_words.hpp"
#include "model/characters.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli::ui {
namespace {

using present::PageTable;

std::string_view trimmed(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return text;
}

bool begins_with_word(std::string_view text, std::string_view word) {
    return text.size() > word.size() && text[word.size()] == ' ' &&
           std::ranges::equal(text.substr(0, word.size()), word,
                              [](char a, char b) { return to_lower(a) == to_lower(b); });
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
    const bool found_table = verb == "sql" && cell(at, "what") == "ETS table";
    if (found_table || (verb == "ets" && asked.words.size() == 1 && at.table->key == "rows"))
        if (const std::string_view name = cell(at, "name"); !name.empty()) {
            Subject table{std::string(name), {{"objects", {"ets", std::string(name)}}}};
            if (const std::string_view owner = cell(at, found_table ? "pid" : "owner"); !owner.empty()) {
                table.questions.push_back({"owner", {"proc", std::string(owner)}});
            }
            return table;
        }
    return process_of_row(at);
}

// Of applications that run, what is below their masters in the supervision tree is theirs.
constexpr const char* applications_query =
    "SELECT a.name, a.version, a.running, t.processes, t.memory_bytes, t.msgq_len, a.master AS pid FROM application a "
    "LEFT JOIN tree t ON t.pid = a.master ORDER BY t.memory_bytes DESC NULLS LAST, a.name";

// Answers whose rows are a table of `sql`, and what of it is shown.
struct SqlTable {
    std::string_view verb;
    std::string_view table;
    std::string_view columns;
    std::string_view example;
};
constexpr SqlTable sql_tables[] = {
    {"top", "process",
     "pid, coalesce(name, label) AS name, current_function, state, msgq_len, memory_bytes, reductions",
     "msgq>10, running, where memory_bytes > 1e6"},
    {"ets", "ets", "name, owner, owner_name, type, objects, bytes", "where objects > 1000"},
    {"ports", "port", "port, name, owner, owner_name, queue_bytes, state", "where queue_bytes > 0"},
    {"timers", "timer", "receiver, receiver_name, left_ms, message", "where left_ms < 1000"},
    {"binaries", "binary", "address, bytes, seen_bytes, pinned_bytes, holders, names", "where bytes > 1e6"},
    {"atoms", "atom", "position, atom, bytes", "where bytes > 100"},
    {"waits", "waits_for", "waiter, waiter_name, target, target_name, function", "where target_name = 'logger'"},
    {"logs", "log", "time, level, pid, what", "where level = 'error'"},
    {"modules", "module", "name, current_bytes, old_bytes", "where old_bytes > 0"},
    {"ledger", "ledger", "area, owner_kind, owner, item, count, bytes", "where area = 'ets'"},
    {"nodes", "node", "name, kind, controller, creation, error", "where kind = 'visible'"},
    {"schedulers", "scheduler", "id, kind, current_process, current_process_name, process_state",
     "where current_process IS NOT NULL"},
};

const SqlTable* sql_table_of(const Question& question) {
    const auto found = std::ranges::find(sql_tables, question.words.front(), &SqlTable::verb);
    return found == std::end(sql_tables) ? nullptr : found;
}

bool takes_selector(const Question& question) {
    for (const std::string_view verb : {"top", "stacks", "binaries", "analyze"})
        if (question.words.front() == verb) return true;
    return false;
}

// A text as a literal of SQL.
std::string quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        out += c;
        if (c == '\'') out += c;
    }
    return out + '\'';
}

}  // namespace

bool can_choose(const Question& question) {
    return !question.words.empty() && (takes_selector(question) || sql_table_of(question) != nullptr);
}

std::string condition_of(const Question& question) {
    const auto at = std::ranges::find(question.words, "--procs");
    return at == question.words.end() || at + 1 == question.words.end() ? std::string() : *(at + 1);
}

std::string_view example_of_condition(const Question& question) {
    if (const SqlTable* const table = sql_table_of(question)) return table->example;
    return "msgq>10, running, group(kernel_sup)";
}

Question chosen_by(const Question& question, std::string_view condition) {
    Question chosen = question;
    std::string_view said = trimmed(condition);
    said = said.substr(0, said.find_last_not_of(' ') + 1);
    if (const SqlTable* const table = sql_table_of(question);
        table != nullptr && (begins_with_word(said, "where") || (!said.empty() && !takes_selector(question)))) {
        const std::string where = begins_with_word(said, "where") ? std::string(said) : fmt::format("WHERE {}", said);
        return {"chosen", {"sql", fmt::format("SELECT {} FROM {} {}", table->columns, table->table, where)}};
    }
    if (const auto at = std::ranges::find(chosen.words, "--procs"); at != chosen.words.end())
        chosen.words.erase(at, std::min(at + 2, chosen.words.end()));
    if (!said.empty() && takes_selector(question)) {
        chosen.words.emplace_back("--procs");
        chosen.words.emplace_back(said);
    }
    return chosen;
}

Subject search_subject(std::string_view text, std::string_view pid) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), to_lower);
    const std::string wanted = quoted(lower);
    struct Part {
        std::string_view what, pid, name, detail, from, searched;
    };
    constexpr std::string_view nobody = "NULL";
    const Part parts[] = {
        {"process", "pid", "coalesce(name, label, real_initial_call)", "current_function", "process",
         "coalesce(name, '') || ' ' || coalesce(label, '') || ' ' || coalesce(real_initial_call, '') || ' ' || pid"},
        {"frame", "pid", "function", "coalesce(file || ':' || line, 'frame ' || depth)", "frame", "function"},
        {"ETS table", "owner", "name", "objects || ' objects'", "ets", "name"},
        {"port", "owner", "name", "kind", "port", "coalesce(name, '') || ' ' || coalesce(data, '')"},
        {"timer", "receiver", "message", "left_ms || ' ms'", "timer", "message"},
        {"log event", "pid", "what", "level", "log", "what"},
        {"application", "master", "name", "version", "application", "name"},
        {"node", nobody, "name", "kind", "node", "name"},
        {"module", nobody, "name", "current_bytes || ' B'", "module", "name"},
        {"atom", nobody, "atom", "'atom ' || position", "atom", "atom"},
    };
    std::string query;
    if (!pid.empty())
        query = fmt::format(
            "SELECT 'term' AS what, {0} AS pid, term AS name, kind || ', ' || retained_words || ' words' AS detail, "
            "address FROM terms({0}) WHERE instr(lower(term), {1}) > 0",
            quoted(pid), wanted);
    for (const Part& part : parts)
        query += fmt::format(
            "{}SELECT '{}' AS what, {} AS pid, {} AS name, {} AS detail, NULL AS address FROM \"{}\" WHERE "
            "instr(lower({}), {}) > 0",
            query.empty() ? "" : " UNION ALL ", part.what, part.pid, part.name, part.detail, part.from, part.searched,
            wanted);
    return {fmt::format("search {}", text), {{"found", {"sql", query}}}};
}

std::span<const Subject> contents() {
    static const std::vector<Subject> list{
        {"Findings", {{"analyze", {"analyze"}}, {"everything", {"analyze", "-v"}}}},
        {"Processes", {{"processes", {"top"}}, {"live and garbage", {"top", "--full"}}}},
        {"Groups", {{"groups", {"analyze", "--table", "groups"}}}},
        {"Applications", {{"applications", {"sql", applications_query}}}},
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
