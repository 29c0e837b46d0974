// top: processes by one figure. Reads the process table alone unless a column needs more.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/processes/process_columns.hpp"
#include "cli/commands.hpp"
#include "analyses/diagnosis/heap_stats.hpp"
#include "present/render.hpp"
#include "present/spelling.hpp"
#include "present/tables.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

constexpr std::string_view usual_sort = "msgq_len";

// What the columns that are shown or sorted by need.
analyses::ProcessNeeds needs_of(const Options& options, std::string_view sort) {
    analyses::ProcessNeeds needs{.labels = options.full, .heaps = options.full};
    for (const analyses::ProcessColumn& column : analyses::process_columns())
        if (sort == column.name || std::ranges::find(options.columns, column.name) != options.columns.end())
            needs.add(column.needs);
    return needs;
}

Status print(const Context& context, const Snapshot& snapshot, std::vector<ProcId> rows, const LoadPlan& plan, bool by_heaps) {
    present::Document document = context.document(snapshot);
    const bool whole = snapshot.source.process_table_complete;
    document.lead = {present::spell(analyses::sentence(
        "{}; the process table is {}.", analyses::Counted{rows.size(), "process", "processes"},
        whole ? analyses::Ours("complete") : analyses::Ours("cut: further processes are missing")))};
    if (by_heaps)
        document.lead.push_back(present::spell(
            analyses::sentence("This dump does not say what memory a process has: they are in order of their young heaps, `--by old_heap` has the old ones.")));
    document.members.push_back(
        {.key = "rows",
         .body = present::process_table(context.names(snapshot), std::move(rows), {.labels = plan.labels, .heaps = context.options().full})});
    document.members.push_back({.key = "process_table_complete", .body = present::Value(whole), .in_text = false});
    return context.print(document, snapshot, {}, usual_sort);
}

bool knows_memory(const Snapshot& snapshot) {
    return snapshot.processes.empty() ||
           std::any_of(snapshot.processes.begin(), snapshot.processes.end(), [](const Process& p) { return p.memory_bytes.has(); });
}

Error no_such_figure(const std::string& by) {
    std::vector<std::string_view> keys;
    for (const analyses::ProcessColumn& column : analyses::process_columns())
        if (!column.key.empty()) keys.push_back(column.key);
    std::string advice = present::did_you_mean(by, keys);
    if (advice.empty()) advice = fmt::format("--by takes: {}", fmt::join(keys, " "));
    return {ErrorCode::usage, fmt::format("there is no figure {} of processes", by), std::move(advice)};
}

// Dumps of the first releases do not say what memory a process has: its young heap with the stack is what comes next to it.
Status by_heap(const Context& context, const Snapshot& snapshot, std::vector<ProcId> rows, const LoadPlan& plan) {
    Options options = context.options();
    options.sort = "heap_words";
    return print(context.with(options), snapshot, std::move(rows), plan, true);
}

}  // namespace

static Status cmd_top(const Context& context) {
    // --by takes the short names as well: msgq is msgq_len.
    Options options = context.options();
    if (!options.by.empty()) options.sort = options.by;
    if (const auto* column = analyses::find_process_column(options.sort)) options.sort = column->name;
    else if (!options.by.empty()) return no_such_figure(options.by);
    const std::string sort = options.sort.empty() ? std::string(usual_sort) : options.sort;
    const Context inner = context.with(options);

    const analyses::ProcessNeeds needs = needs_of(options, sort);
    LoadPlan plan;
    plan.links = needs.links;
    plan.stacks = needs.stacks;
    plan.labels = needs.labels;
    BH_CHECK(inner.plan_for_selector(plan));
    analyses::HeapStats stats(options.threads, {});
    const bool heaps = needs.heaps || inner.selector_needs_heaps();
    if (heaps) stats.demand(plan);
    BH_TRY(const std::shared_ptr<Artifact> artifact, inner.open(plan));
    if (heaps) stats.store(*artifact);
    const Snapshot& snapshot = artifact->snapshot();

    BH_TRY(std::vector<ProcId> rows, inner.selected(snapshot));
    if (sort == "memory_bytes" && !knows_memory(snapshot)) return by_heap(inner, snapshot, std::move(rows), plan);
    return print(inner, snapshot, std::move(rows), plan, false);
}

BH_DEFINE_VERB(top){
    .name = "top",
    .arguments = {argument::input},
    .options = "--by --procs --full",
    .summary = "processes by queue, memory, heap, stack, reductions, ...",
    .details = "Reads the process table alone unless a column is asked for that needs more: stack_words, label, group_key and\n"
                "real_initial_call do.",
    .examples = "top erl_crash.dump --by memory -n 5\ntop erl_crash.dump --procs 'msgq>1000' --columns pid,name,msgq_len --format "
                "csv",
    .of_processes = true,
    .run = &cmd_top,
};

}  // namespace beamheap::cli
