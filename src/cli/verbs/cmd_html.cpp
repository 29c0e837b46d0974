// SPDX-License-Identifier: Apache-2.0
// html: the report, one file made of the answers of the other verbs about one input that is loaded once.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analyses/base/allocated_words.hpp"
#include "analyses/diagnosis/diagnose.hpp"
#include "analyses/facts/heap_stats.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/logs/log_events.hpp"
#include "analyses/processes/applications.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/queue_spread.hpp"
#include "analyses/processes/waits.hpp"
#include "cli/console/output_file.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/kept_answers.hpp"
#include "cli/frame/secrets.hpp"
#include "present/logs.hpp"
#include "present/render.hpp"
#include "present/report.hpp"
#include "present/report_tables.hpp"
#include "present/spelling.hpp"
#include "present/tables.hpp"
#include "present/waits.hpp"

namespace beamheap::cli {
namespace {

using present::Document;
using present::RenderOptions;
using present::ReportSection;
using present::Text;

// What the file lists at most unless --html-full is said: it stays well under 20 MB and opens in about a second.
constexpr std::size_t processes_listed = 25'000;
constexpr std::size_t stacks_listed = 4'000;
constexpr std::size_t places_listed = 5'000;  // largest first
constexpr std::size_t waits_listed = 20'000;
constexpr std::size_t rows_listed = 5'000;  // of other tables
constexpr std::size_t named_at_most = 3'000;
// Of processes that findings are about, those whose terms are read quickly are told in full.
constexpr std::size_t subjects_told = 6;
// Beside them so many of the largest processes are looked into, of this memory at least.
constexpr std::size_t largest_looked_into = 4;
constexpr std::uint64_t least_looked_into = 256 << 10;
constexpr std::uint64_t words_looked_into = 2'000'000;  // together: they are decoded a second time
constexpr std::uint32_t levels_of_terms = 6;
constexpr std::uint64_t least_of_a_kind = 200;  // processes, and more than half of all
constexpr std::uint64_t largest_subject_words = 8'000'000;
constexpr std::uint64_t longest_subject_queue = 100'000;
// Log events are looked for in the heaps of all processes, loggers or not, up to this sum of their words.
constexpr std::uint64_t words_searched_for_events = 1'000'000;

std::string_view name_of_level(present::RedactLevel level) {
    switch (level) {
        case present::RedactLevel::none: return "none";
        case present::RedactLevel::secrets: return "secrets";
        case present::RedactLevel::values: return "values";
        case present::RedactLevel::full: break;
    }
    return "full";
}

// Where a section stands in the page.
enum Place : int { at_top, of_node, of_memory, of_growth, of_contents, of_processes, of_subjects, of_the_rest, at_end };

/// Makes the report of one input, section by section.
class ReportMaker {
public:
    ReportMaker(const Options& options, LoadedInput& loaded)
        : options_(options),
          loaded_(loaded),
          snapshot_(loaded.artifact->snapshot()),
          secrets_(known_secrets(*loaded.artifact)),
          report_([this](Pid pid) { return snapshot_.find(pid) != ProcId::none; }) {
        options_.format = "table";
        options_.columns.clear();
        options_.sort.clear();
        options_.procs.clear();
        if (!options_.redact_chosen) options_.redact = present::RedactLevel::values;
        options_.redact_chosen = true;
    }

    /// The page, or why it can't be made.
    Result<std::string> make();

private:
    /// Runs a verb on the input, and gives its answer to `take`.
    Status ask(std::string_view verb, const AnswerTaker& take, std::vector<std::string> more = {});
    /// A section that is a verb's whole answer, with its main table among the data.
    Status section(std::string_view verb, std::string title, bool picture, const char* data = nullptr);
    Status overview();
    void choose_subjects(const Document& document);
    Status subjects();
    Status members_of_a_kind();
    Status other_contents();
    Status contents(Pid pid);
    Status content(std::string_view verb, std::string_view member, std::string_view title, Pid pid,
                   std::string_view how);
    Status memory();
    Status growth();
    Status pictures();
    Status places();
    Status logs();
    Status named();
    void say_that_names_are_hidden(const Document& document);
    void limits(const Document& document, const RenderOptions& render);
    std::string command(std::string_view verb) const {
        return fmt::format("{} {}", verb, present::shell_word(snapshot_.source.path));
    }
    unsigned threads() const { return analyses::worker_count(options_.threads); }
    std::size_t at_most(std::size_t usual) const { return options_.everything ? 0 : usual; }

    Options options_;
    LoadedInput& loaded_;
    const Snapshot& snapshot_;
    std::vector<std::string> secrets_;
    present::Report report_;
    Document first_;  // how analyze begins: its sentences and warnings
    RenderOptions render_;
    std::vector<Pid> subjects_;
    std::string contents_command_;  // of the first process whose terms are in it
};

Status ReportMaker::ask(std::string_view verb, const AnswerTaker& take, std::vector<std::string> more) {
    const Command* const command = find_command(verb);
    Options options = options_;
    options.verb = verb;
    options.inputs = {loaded_.path};
    for (std::string& each : more) options.inputs.push_back(std::move(each));
    const AnswerTaker with_secrets = [&](const Document& document, const RenderOptions& render) -> Status {
        RenderOptions masked = render;
        std::ranges::copy(secrets_, std::back_inserter(masked.redact.known_secrets));
        return take(document, masked);
    };
    const Status status = command->run(Context(options, &loaded_, &with_secrets));
    loaded_.forget_answers();
    return status;
}

// Whether a process has just no such place in the page: the input does not hold it. Whatever else failed would make a
// page that lacks it without a word.
bool is_not_there(const Error& error) { return error.code == ErrorCode::usage || error.code == ErrorCode::not_held; }

const present::Table* table_named(const Document& document, std::string_view key) {
    for (const present::Member& member : document.members)
        if (member.key == key)
            if (const auto* table = std::get_if<present::Table>(&member.body)) return table;
    return nullptr;
}

Status ReportMaker::section(std::string_view verb, std::string title, bool picture, const char* data) {
    return ask(verb, [&](const Document& document, const RenderOptions& render) -> Status {
        BH_CHECK(report_.add({.id = std::string(verb),
                              .title = std::move(title),
                              .command = command(verb),
                              .members = {},
                              .places = verb == "ets",
                              .picture = picture,
                              .place = of_the_rest},
                             document, render));
        if (data == nullptr) return ok();
        const present::Table* table = table_named(document, data);
        return table == nullptr ? ok() : report_.data(verb, *table, command(verb), render, at_most(rows_listed));
    });
}

// The pids in a table's column of that name, each once.
std::vector<Pid> pids_of(const present::Table& table) {
    std::vector<Pid> pids;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (table.columns[c].name != "pid") continue;
        for (std::size_t row = 0; row < table.rows; ++row) {
            const present::Value cell = table.cell(row, c);
            const auto* text = std::get_if<std::string>(&cell.data());
            const auto pid = text == nullptr ? std::nullopt : present::local_pid(*text);
            if (pid && std::ranges::find(pids, *pid) == pids.end()) pids.push_back(*pid);
        }
    }
    return pids;
}

bool can_be_told(const Process& process) {
    return analyses::allocated_words(process) <= largest_subject_words &&
           process.msgq_len.value_or(0) <= longest_subject_queue;
}

// Whether one of the largest processes is looked into, though no finding is about it, where so many words may still be
// read.
bool is_looked_into(const Snapshot& snapshot, const Process& process, std::uint64_t words) {
    return analyses::process_bytes(process, snapshot.source.word_size).value_or(0) >= least_looked_into &&
           analyses::allocated_words(process) <= words && can_be_told(process);
}

// Whom findings are about, if they can be told quickly.
void ReportMaker::choose_subjects(const Document& document) {
    const present::Table* const findings = table_named(document, "findings");
    if (findings == nullptr) return;
    for (const Pid& pid : pids_of(*findings)) {
        const ProcId id = snapshot_.find(pid);
        if (id == ProcId::none || subjects_.size() == subjects_told) continue;
        if (!can_be_told(snapshot_[id])) continue;
        subjects_.push_back(pid);
        report_.promise(pid, true);
    }
}

Status ReportMaker::overview() {
    return ask("analyze", [&](const Document& document, const RenderOptions& render) -> Status {
        const auto add = [&](const char* id, const char* title, std::vector<std::string> members, Place place,
                             bool picture) -> Status {
            return report_.add({.id = id,
                                .title = title,
                                .command = command("analyze"),
                                .members = std::move(members),
                                .places = true,
                                .picture = picture,
                                .place = place},
                               document, render);
        };
        choose_subjects(document);
        BH_CHECK(add("findings", "Findings", {"nothing_found", "findings", "next"}, at_top, false));
        BH_CHECK(add("node", "Node", {"node_lines", "memory_table", "totals_lines"}, of_node, true));
        BH_CHECK(add("processes", "Processes",
                     {"death_stack", "top_msgq", "top_memory", "top_reductions", "groups", "blown_terms"}, of_processes,
                     true));
        BH_CHECK(add("limits", "What this can't tell", {"-"}, at_end, false));
        limits(document, render);
        first_.kind = document.kind;
        first_.reading = document.reading;
        first_.lead = document.lead;
        say_that_names_are_hidden(document);
        first_.warnings = document.warnings;
        if (const present::Table* memory = table_named(document, "memory_table"))
            BH_CHECK(report_.data("memory", *memory, command("analyze"), render, 0));
        BH_CHECK(report_.fact("full", options_.full, present::Content::plain, render));
        const bool elixir = Context(options_).names(snapshot_).syntax() == present::Syntax::elixir;
        BH_CHECK(report_.fact("elixir", elixir, present::Content::plain, render));
        BH_CHECK(report_.fact("redaction", name_of_level(options_.redact), present::Content::plain, render));
        render_ = render;
        return pictures();
    });
}

// Whoever is looked for by a name of its own, a queue's, a client's, is hidden where values are.
void ReportMaker::say_that_names_are_hidden(const Document& document) {
    if (options_.redact != present::RedactLevel::values && options_.redact != present::RedactLevel::full) return;
    const present::Table* const findings = table_named(document, "findings");
    if (findings == nullptr) return;
    const bool any = std::ranges::any_of(pids_of(*findings), [this](const Pid& pid) {
        const ProcId id = snapshot_.find(pid);
        return id != ProcId::none && snapshot_[id].name == TextId::none && snapshot_[id].label != TextId::none;
    });
    if (!any) return;
    Text told;
    told.add("Names that people chose, of queues, clients and the like, are hidden in this file: ");
    told.pieces.push_back(
        {.text = fmt::format("beamheap html {} --redact secrets -f", present::shell_word(loaded_.path)),
         .content = present::Content::message,
         .command = true});
    told.add(" shows them.");
    first_.lead.push_back(std::move(told));
}

void ReportMaker::limits(const Document& document, const RenderOptions& render) {
    std::vector<Text> sentences;
    const auto say = [&sentences](const analyses::Sentence& sentence) {
        sentences.push_back(present::spell(sentence));
    };
    const Source& source = snapshot_.source;
    if (!source.kind.whole_heaps)
        say(analyses::Ours(
            "A crash dump has no contents of ETS tables, no environments of funs, no garbage terms, no senders of "
            "messages, and up to OTP 26 not the binary behind a slice; a core image has them."));
    if (!source.truncation.empty()) sentences.push_back(Text{}.add(source.truncation, present::Content::message));
    if (!options_.full)
        say(
            analyses::Ours("Heaps were decoded where a rule needed them: --full decodes all, for live and garbage "
                           "words, binaries, and the functions that hold memory."));
    if (options_.redact == present::RedactLevel::values)
        say(
            analyses::Ours("Strings, binaries and large integers of the node are replaced by their sizes and a keyed "
                           "hash: equal ones look equal. --redact none shows them."));
    if (options_.redact == present::RedactLevel::none)
        say(analyses::Ours("Nothing is hidden in this file: it may hold passwords, tokens and customers' data."));
    if (!options_.everything && snapshot_.processes.size() > processes_listed)
        say(analyses::sentence(
            "Of {} the {} with the largest subtrees, by memory and by queue, are listed one by one, the others in "
            "sums: --html-full lists all.",
            analyses::Counted{snapshot_.processes.size(), "process", "processes"}, analyses::Amount{processes_listed}));
    report_.add_limits(document, render, sentences);
}

// What pictures are drawn from, while what decoded heaps gave is still in the snapshot.
Status ReportMaker::pictures() {
    const present::Names names = Context(options_).names(snapshot_);
    const Context context(options_, &loaded_);
    const std::shared_ptr<const analyses::SupervisionTree> supervision = context.supervision(snapshot_);
    const analyses::SupervisionTree& tree = *supervision;
    const std::vector<ProcId> all = analyses::all_processes(snapshot_);
    const analyses::ProcessGroups stacks = analyses::group_by_stack(snapshot_, all);
    const std::shared_ptr<const analyses::Waits> waits = context.waits(*loaded_.artifact);
    const std::size_t most = options_.everything ? all.size() : processes_listed;
    BH_CHECK(
        report_.data("processes",
                     present::listed_process_table(names, tree, stacks, analyses::applications(*loaded_.artifact, tree),
                                                   present::processes_to_list(tree, most)),
                     command("top"), render_, 0, threads()));
    constexpr std::array<std::string_view, 5> of_stacks{"count", "functions", "example_pid", "memory_bytes",
                                                        "msgq_len"};
    BH_CHECK(report_.data(
        "stacks", present::with_columns(present::stack_group_table(names, stacks, present::Places::apart), of_stacks),
        command("stacks"), render_, at_most(stacks_listed), threads()));
    BH_CHECK(report_.data("groups", present::group_table(names, analyses::group_by_key(snapshot_, all)), command("top"),
                          render_, at_most(rows_listed)));
    BH_CHECK(report_.data("queues", present::queue_spread_table(analyses::queue_spread(snapshot_)), command("top"),
                          render_, 0));
    return report_.data("waits", present::wait_edge_table(names, *waits), command("waits"), render_,
                        at_most(waits_listed), threads());
}

// The processes that findings are about, as `proc` tells them; and, while their terms are at hand, what they hold.
Status ReportMaker::subjects() {
    bool begun = false;
    for (const Pid& pid : subjects_) {
        const auto take = [&](const Document& document, const RenderOptions& render) -> Status {
            if (!std::exchange(begun, true))
                BH_CHECK(report_.add({.id = "subjects",
                                      .title = "Processes of the findings",
                                      .command = {},
                                      .members = {"-"},
                                      .place = of_subjects},
                                     document, render));
            return report_.add_process(pid, document, render);
        };
        const Status status = ask("proc", take, {fmt::format("{}.{}.{}", pid.node, pid.number, pid.serial)});
        if (!status && !is_not_there(status.error())) return status;
        if (!status) report_.promise(pid, false);
        BH_CHECK(contents(pid));
    }
    return ok();
}

// All of the node's memory by its owners, as `ledger` tells it: the rows add up to what the VM says that it has.
Status ReportMaker::memory() {
    return ask("ledger", [&](const Document& document, const RenderOptions& render) -> Status {
        BH_CHECK(report_.add({.id = "ledger",
                              .title = "Memory",
                              .command = command("ledger"),
                              .members = {},
                              .picture = true,
                              .place = of_memory},
                             document, render));
        const auto data = [&](std::string_view key, std::string_view member) -> Status {
            const present::Table* const table = table_named(document, member);
            return table == nullptr ? ok() : report_.data(key, *table, command("ledger"), render, at_most(rows_listed));
        };
        BH_CHECK(data("areas", "areas"));
        return data("ledger", "rows");
    });
}

// What grew since the other input, as `diff` tells it.
Status ReportMaker::growth() {
    if (options_.since.empty()) return ok();
    const Command* const diff = find_command("diff");
    Options options = options_;
    options.verb = "diff";
    options.inputs = {options_.since, loaded_.path};
    const std::string line =
        fmt::format("diff {} {}", present::shell_word(options_.since), present::shell_word(loaded_.path));
    const AnswerTaker take = [&](const Document& document, const RenderOptions& render) -> Status {
        BH_CHECK(report_.add(
            {.id = "growth", .title = "What grew", .command = line, .members = {}, .picture = true, .place = of_growth},
            document, render));
        const present::Table* const rows = table_named(document, "rows");
        return rows == nullptr ? ok() : report_.data("growth", *rows, line, render, at_most(rows_listed));
    };
    const Status status = diff->run(Context(options, &loaded_, &take));
    loaded_.forget_answers();
    return status;
}

// Where most processes are of one kind, it is told by three of them: who is like most, who is largest, who is oldest.
Status ReportMaker::members_of_a_kind() {
    const std::vector<ProcId> all = analyses::all_processes(snapshot_);
    const analyses::ProcessGroups kinds = analyses::group_alike(snapshot_, all);
    const auto most = std::ranges::max_element(kinds.groups, {}, &analyses::ProcessGroup::count);
    if (most == kinds.groups.end() || most->count < least_of_a_kind || most->count <= all.size() / 2) return ok();
    const std::span<const ProcId> members = kinds.members_of(*most);
    std::vector<ProcId> by_size(members.begin(), members.end());
    const auto middle = by_size.begin() + std::ssize(by_size) / 2;
    std::ranges::nth_element(by_size, middle, {}, [this](ProcId id) {
        return analyses::process_bytes(snapshot_[id], snapshot_.source.word_size).value_or(0);
    });
    const ProcId oldest = *std::ranges::min_element(members, {}, [this](ProcId id) { return snapshot_[id].pid; });
    present::Object called;
    for (const auto& [id, word] :
         {std::pair(*middle, "typical"), std::pair(most->example, "largest"), std::pair(oldest, "oldest")}) {
        const Pid pid = snapshot_[id].pid;
        const std::string who = fmt::format("{}.{}.{}", pid.node, pid.number, pid.serial);
        const auto known = std::ranges::find(called, who, &std::pair<std::string, present::Value>::first);
        if (known != called.end() || !can_be_told(snapshot_[id])) continue;
        called.emplace_back(who, present::Value(word));
        if (std::ranges::find(subjects_, pid) == subjects_.end()) BH_CHECK(contents(pid));
    }
    return report_.fact("members", present::Value(std::move(called)), present::Content::plain, render_);
}

// What the largest others are made of, for the picture of terms; then its section, where there is anything.
Status ReportMaker::other_contents() {
    BH_CHECK(members_of_a_kind());
    std::uint64_t left = words_looked_into;
    for (const ProcId id : analyses::largest(snapshot_, analyses::all_processes(snapshot_), largest_looked_into)) {
        const Process& process = snapshot_[id];
        if (!is_looked_into(snapshot_, process, left) || std::ranges::find(subjects_, process.pid) != subjects_.end())
            continue;
        left -= analyses::allocated_words(process);
        BH_CHECK(contents(process.pid));
    }
    if (contents_command_.empty()) return ok();
    return report_.add({.id = "contents",
                        .title = "What they hold",
                        .command = contents_command_,
                        .members = {"-"},
                        .picture = true,
                        .place = of_contents},
                       Document{}, render_);
}

// What the process's memory is, term by term, and what its queue is made of.
Status ReportMaker::contents(Pid pid) {
    const std::uint32_t depth = std::exchange(options_.depth, levels_of_terms);
    const Status status = content("heap", "tree", "terms", pid, fmt::format("--depth {}", levels_of_terms));
    options_.depth = depth;
    if (!status || snapshot_[snapshot_.find(pid)].msgq_len.value_or(0) < 2) return status;
    const std::string by = std::exchange(options_.by, "shape");
    const Status messages = content("msgs", "rows", "mailbox", pid, "--by shape");
    options_.by = by;
    return messages;
}

Status ReportMaker::content(std::string_view verb, std::string_view member, std::string_view title, Pid pid,
                            std::string_view how) {
    const std::string who = fmt::format("{}.{}.{}", pid.node, pid.number, pid.serial);
    const auto take = [&](const Document& document, const RenderOptions& render) -> Status {
        const present::Table* const table = table_named(document, member);
        if (table == nullptr || table->rows == 0) return ok();
        std::string line = fmt::format("{} {} {}", command(verb), who, how);
        if (contents_command_.empty()) contents_command_ = line;
        return report_.data(fmt::format("{} {}", title, who), *table, line, render, rows_listed);
    };
    const Status status = ask(verb, take, {who});
    return !status && !is_not_there(status.error()) ? status : ok();
}

// Who was linked to has a place that the link leads to.
Status ReportMaker::named() {
    std::vector<ProcId> rows;
    for (const Pid& pid : report_.without_place())
        if (const ProcId id = snapshot_.find(pid); id != ProcId::none && rows.size() < named_at_most)
            rows.push_back(id);
    if (rows.empty()) return ok();
    Document document;
    document.members.push_back(
        {.key = "rows", .body = present::named_process_table(Context(options_).names(snapshot_), std::move(rows))});
    RenderOptions all = render_;
    all.top = 0;
    return report_.add({.id = "named",
                        .title = "Other processes named here",
                        .command = command("top"),
                        .members = {"rows"},
                        .places = true,
                        .place = at_end},
                       document, all);
}

// What keeps the words of each process: the map goes into processes by these.
Status ReportMaker::places() {
    const bool per_process = std::exchange(options_.per_process, true);
    const Status status = ask("profile", [&](const Document& document, const RenderOptions& render) -> Status {
        constexpr std::array<std::string_view, 5> shown{"pid", "module", "function", "arity", "words"};
        const present::Table* table = table_named(document, "rows");
        return report_.data("places", present::with_columns(*table, shown), command("profile") + " --per-process",
                            render, at_most(places_listed), threads());
    });
    options_.per_process = per_process;
    return status;
}

// Log events as `logs` tells them. On a node that is not small only loggers are asked: the heaps of all others would be
// read a second time for this alone.
Status ReportMaker::logs() {
    const Context context(options_, &loaded_);
    analyses::EventHolders holders(words_searched_for_events);
    Document document = context.document(snapshot_);
    if (!holders.all(snapshot_) && analyses::EventHolders().all(snapshot_))
        document.lead.push_back(
            present::spell(analyses::Ours("Loggers and who was in a function of theirs were asked; the command looks "
                                          "into all other processes, too.")));
    const std::vector<analyses::LogEvent> events = analyses::log_events(*loaded_.artifact, std::move(holders));
    document.members.push_back(
        {.key = "rows", .body = present::log_table(context.names(snapshot_), events, options_.term_bytes)});
    return report_.add(
        {.id = "logs", .title = "Log events", .command = command("logs"), .members = {}, .place = of_the_rest},
        document, render_);
}

Result<std::string> ReportMaker::make() {
    BH_CHECK(overview());
    BH_CHECK(memory());
    BH_CHECK(growth());
    BH_CHECK(subjects());
    BH_CHECK(other_contents());
    BH_CHECK(section("stacks", "Stacks", true));
    BH_CHECK(section("waits", "Who waits for whom", true));
    BH_CHECK(section("tree", "Supervision tree", true));
    if (options_.full) {
        BH_CHECK(section("profile", "Memory by function", true, "kinds"));
        BH_CHECK(places());
        BH_CHECK(section("binaries", "Binaries", true, "rows"));
    }
    BH_CHECK(section("ets", "ETS tables", true, "rows"));
    BH_CHECK(section("ports", "Ports", false));
    BH_CHECK(section("timers", "Timers", false));
    BH_CHECK(section("schedulers", "Schedulers", true, "rows"));
    BH_CHECK(section("alloc", "Allocators", true, "rows"));
    BH_CHECK(logs());
    BH_CHECK(named());
    const std::string node(snapshot_.node.name == TextId::none ? std::string_view("a node that had no name")
                                                               : snapshot_.text(snapshot_.node.name));
    present::StringSink sink;
    report_.finish(
        {.title = node, .input = snapshot_.source.path, .level = std::string(name_of_level(options_.redact))}, first_,
        render_, sink);
    return sink.text();
}

}  // namespace

static Status cmd_html(const Context& context) {
    const Options& options = context.options();
    if (options.format != "table")
        return Error{ErrorCode::usage, fmt::format("html writes a page; it has no format {}", options.format),
                     "beamheap analyze and the verbs of its tables have."};
    const std::string output = options.output.empty() ? "-" : options.output;
    if (output == "-" && is_terminal(STDOUT_FILENO))
        return Error{ErrorCode::usage, "html: the report is no text for a terminal",
                     "-o report.html writes it to a file."};
    BH_CHECK(may_write(output, options.overwrite));
    LoadPlan plan{analyses::need::everything};
    // All heaps are decoded once, on the way, for all sections that are about them.
    analyses::HeapStats heaps(options.threads, {.frames = true, .binaries = true, .sizes = true});
    if (options.full) heaps.demand(plan);
    // Whom the rules look into, and the largest, are asked about several times.
    analyses::Diagnoser rules({.threads = options.threads, .full = options.full, .sizes = options.full}, &heaps);
    LoadPlan of_rules;
    rules.demand(of_rules);
    plan.asked_often = [&, looked_into = std::vector<ProcId>(), chosen = false](const Snapshot& snapshot,
                                                                                ProcId id) mutable {
        if (!std::exchange(chosen, true)) {
            looked_into = analyses::largest(snapshot, analyses::all_processes(snapshot), largest_looked_into);
            std::erase_if(looked_into,
                          [&](ProcId each) { return !is_looked_into(snapshot, snapshot[each], words_looked_into); });
        }
        return std::ranges::find(looked_into, id) != looked_into.end() || of_rules.terms_of(snapshot, id);
    };
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    if (options.full) heaps.store(*artifact);
    LoadedInput loaded{context.argument(0),
                       plan,
                       artifact,
                       artifact->snapshot().anomalies,
                       options.full ? &heaps : nullptr,
                       std::make_shared<KeptAnswers>()};
    BH_TRY(const std::string page, ReportMaker(options, loaded).make());
    BH_CHECK(write_file(output, page, options.overwrite));
    const Snapshot& snapshot = artifact->snapshot();
    if (options.strict && (snapshot.anomalies.data_lost() || !snapshot.source.complete.value_or(true)))
        return Error{ErrorCode::damaged, fmt::format("{}: the input is incomplete or damaged", snapshot.source.path),
                     snapshot.source.truncation};
    return ok();
}

BH_DEFINE_VERB(html){
    .name = "html",
    .arguments = {argument::input},
    .options = "--output --since --full --html-full --force",
    .summary = "the report: one HTML file to open, mail or attach",
    .details =
        "Findings and tables read without a script; with one there are pictures, search, and every process. The file\n"
        "needs no network and no server. --since OTHER adds what grew since another input. Values of the node are "
        "hidden unless --redact says otherwise.",
    .examples =
        "html erl_crash.dump -o report.html\nhtml core.4711 -o report.html --full --redact none\nhtml tuesday.dump "
        "--since monday.dump -o growth.html",
    .alone = true,
    .writes = true,
    .run = &cmd_html,
};

}  // namespace beamheap::cli
