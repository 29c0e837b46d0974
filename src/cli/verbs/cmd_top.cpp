// SPDX-License-Identifier: Apache-2.0
// top: processes by one figure. Reads the process table alone unless a column needs more.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analyses/facts/heap_stats.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/processes/answers.hpp"
#include "analyses/processes/process_columns.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/inputs.hpp"
#include "cli/live/top_growth.hpp"
#include "present/render.hpp"
#include "present/spelling.hpp"
#include "present/tables.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

constexpr std::string_view usual_sort = "msgq_len";
// Up to so many rows are looked for one by one; for more of them the input is read as a whole.
constexpr std::size_t most_looked_for = 200;

// What the columns that are shown or sorted by need.
analyses::ProcessNeeds needs_of(const Options& options, std::string_view sort) {
    analyses::ProcessNeeds needs{.labels = options.full, .heaps = options.full};
    for (const analyses::ProcessColumn& column : analyses::process_columns())
        if (sort == column.name || std::ranges::find(options.columns, column.name) != options.columns.end())
            needs.add(column.needs);
    return needs;
}

// People's INITIAL CALL is the real one, which stands behind the heaps of a dump: it is looked for where a row is
// shown.
// (`known`: it was loaded.)
present::ProcessColumns columns_of(const Context& context, Artifact& artifact, const analyses::ProcessNeeds& needs,
                                   bool known) {
    return {.labels = needs.labels, .heaps = context.options().full, .identify = context.identify(artifact, known)};
}

bool shows_initial_calls(const Options& options, const analyses::ProcessNeeds& needs) {
    const auto asked = [&options](std::string_view name) {
        return std::ranges::find(options.columns, name) != options.columns.end();
    };
    return !needs.labels && (options.columns.empty() || asked("initial_call") || asked("name"));
}

Status print(const Context& context, Artifact& artifact, std::vector<ProcId> rows, const analyses::ProcessNeeds& needs,
             bool known, bool by_heaps) {
    const Snapshot& snapshot = artifact.snapshot();
    present::Document document = context.document(snapshot);
    const bool whole = snapshot.source.process_table_complete;
    const std::string& sort = context.options().sort;
    analyses::Sentence answer = analyses::processes_answer(
        snapshot, rows, analyses::find_process_column(sort.empty() ? usual_sort : std::string_view(sort)));
    answer.say(".");
    const present::Names names = context.names(snapshot);
    document.lead = {present::spell(names, answer)};
    if (!whole)
        document.lead.push_back(
            present::spell(analyses::Ours("The process table is cut: further processes are missing.")));
    else if (snapshot.source.loss.processes != 0)
        document.lead.push_back(
            present::spell(analyses::Ours("The process table is damaged: entries are missing, or lack a part.")));
    if (by_heaps)
        document.lead.push_back(
            present::spell(analyses::sentence("This dump does not say what memory a process has: they are in order of "
                                              "their young heaps, `--by old_heap` has the old ones.")));
    document.members.push_back(
        {.key = "rows",
         .body = present::process_table(names, std::move(rows), columns_of(context, artifact, needs, known))});
    document.members.push_back({.key = "process_table_complete", .body = present::Value(whole), .in_text = false});
    return context.print(document, snapshot, {}, usual_sort);
}

Error no_such_figure(const std::string& by) {
    std::vector<std::string_view> keys;
    for (const analyses::ProcessColumn& column : analyses::process_columns())
        if (!column.key.empty()) keys.push_back(column.key);
    std::string advice = present::did_you_mean(by, keys);
    if (advice.empty()) advice = fmt::format("--by takes: {}", fmt::join(keys, " "));
    return {ErrorCode::usage, fmt::format("there is no figure {} of processes", by), std::move(advice)};
}

// Where no figure was asked for, processes whose queues are as long stand by their memory, or by their heaps where the
// input does not say it: mostly all queues are empty.
void order_by_memory(const Snapshot& snapshot, std::vector<ProcId>& rows) {
    std::vector<std::pair<std::uint64_t, ProcId>> keys;
    keys.reserve(rows.size());
    for (const ProcId id : rows)
        keys.emplace_back(analyses::process_bytes(snapshot[id], snapshot.source.word_size).value_or(0), id);
    std::ranges::sort(keys, [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::ranges::transform(keys, rows.begin(), [](const auto& key) { return key.second; });
}

// Dumps of the first releases do not say what memory a process has: its young heap with the stack is what comes next to
// it.
Status by_heap(const Context& context, Artifact& artifact, std::vector<ProcId> rows,
               const analyses::ProcessNeeds& needs, bool known) {
    Options options = context.options();
    options.sort = "heap_words";
    return print(context.with(options), artifact, std::move(rows), needs, known, true);
}

}  // namespace

static Status cmd_top(const Context& context) {
    if (!context.options().every.empty()) return top_growth(context);
    if (!context.options().duration.empty())
        return Error{ErrorCode::usage, "top: --for says how long to go on with --every", "--every 1s --for 1m"};
    // --by takes the short names as well: msgq is msgq_len.
    Options options = context.options();
    if (!options.by.empty()) options.sort = options.by;
    if (const auto* column = analyses::find_process_column(options.sort)) options.sort = column->name;
    else if (!options.by.empty()) return no_such_figure(options.by);
    const std::string sort = options.sort.empty() ? std::string(usual_sort) : options.sort;
    const Context inner = context.with(options);

    const analyses::ProcessNeeds needs = needs_of(options, sort);
    LoadPlan plan{analyses::need::of(needs)};
    const bool looked_for = options.top.value_or(1) != 0 && options.top.value_or(1) <= most_looked_for &&
                            sort != "initial_call" && sort != "name";
    if (inner.shown_to_people() && shows_initial_calls(options, needs) &&
        (!looked_for || is_small_input(inner.argument(0))))
        plan |= analyses::need::labels;
    BH_CHECK(inner.plan_for_selector(plan));
    analyses::HeapStats stats(options.threads, {});
    const bool heaps = needs.heaps || inner.selector_needs_heaps();
    if (heaps) stats.demand(plan);
    BH_TRY(const std::shared_ptr<Artifact> artifact, inner.open(plan));
    if (heaps) stats.store(*artifact);
    const Snapshot& snapshot = artifact->snapshot();

    BH_TRY(std::vector<ProcId> rows, inner.selected(snapshot));
    if (options.sort.empty()) order_by_memory(snapshot, rows);
    if (sort == "memory_bytes" && !analyses::knows_memory(snapshot))
        return by_heap(inner, *artifact, std::move(rows), needs, plan.has(analyses::need::labels));
    return print(inner, *artifact, std::move(rows), needs, plan.has(analyses::need::labels), false);
}

BH_DEFINE_VERB(top){
    .name = "top",
    .arguments = {argument::input},
    .options = "--by --procs --full --every --for",
    .summary = "processes by queue, memory, heap, stack, reductions, ...",
    .details =
        "Sorted by queue and, where queues are as long, by memory, unless --by or --sort says otherwise.\n"
        "Reads the process table alone unless a column is asked for that needs more: stack_words, label, group_key "
        "and\n"
        "real_initial_call do. People's INITIAL CALL is the real one, looked for where a row is shown; of pipes and\n"
        "large compressed files it is what the process was spawned as. Who a process is by what it holds is told of\n"
        "inputs that are read in no time, and with --full.\n"
        "--every 1s: of a running VM what processes did from each moment to the next, until --for or SIGINT: growth "
        "of\n"
        "reductions, memory and queues, by --by reductions, memory or msgq.",
    .examples =
        "top erl_crash.dump --by memory -n 5\ntop erl_crash.dump --procs 'msgq>1000' --columns pid,name,msgq_len "
        "--format csv\ntop 4711 --every 1s --by memory",
    .of_processes = true,
    .run = &cmd_top,
};

}  // namespace beamheap::cli
