// top: processes by one figure. Reads the process table alone unless a column needs more.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/processes/process_columns.hpp"
#include "cli/commands.hpp"
#include "cli/heap_stats.hpp"
#include "present/tables.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

// Whether a column is shown or sorted by.
bool asked_for(const Options& options, std::string_view sort, std::initializer_list<std::string_view> columns) {
    return std::ranges::any_of(columns, [&](std::string_view column) {
        return sort == column || std::ranges::find(options.columns, column) != options.columns.end();
    });
}

}  // namespace

static Status cmd_top(const Context& context) {
    // --by takes the short names as well: msgq is msgq_len.
    std::string sort = context.options().by.empty() ? context.options().sort : context.options().by;
    if (sort.empty()) sort = "msgq";
    if (const auto column = analyses::find_process_column(sort)) sort = analyses::info(*column).field;
    Options options = context.options();
    options.sort = sort;
    const Context inner(options);

    LoadPlan plan;
    plan.stacks = asked_for(options, sort, {"stack_words"});
    plan.labels = options.full || asked_for(options, sort, {"label", "group_key", "real_initial_call"});
    BH_CHECK(inner.plan_for_selector(plan));
    HeapStats stats(options, {});
    const bool heaps = options.full || asked_for(options, sort, {"live_words", "garbage_words", "refc_bytes"}) ||
                       inner.selector_needs_heaps();
    if (heaps) stats.demand(plan);
    BH_TRY(const std::unique_ptr<Artifact> artifact, inner.open(plan));
    if (heaps) stats.store(*artifact);
    const Snapshot& snapshot = artifact->snapshot();

    BH_TRY(std::vector<ProcId> rows, inner.selected(snapshot));
    present::Document document = inner.document(snapshot);
    const bool whole = snapshot.source.process_table_complete;
    document.lead = {fmt::format("{}; the process table is {}.", present::counted(rows.size(), "process", "processes"),
                                 whole ? "complete" : "cut: further processes are missing")};
    document.members.push_back(
        {.key = "rows",
         .body = present::process_table(inner.names(snapshot), std::move(rows), {.labels = plan.labels})});
    document.members.push_back({.key = "process_table_complete", .body = present::Value(whole), .in_text = false});
    return inner.print(document, snapshot);
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
    .run = &cmd_top,
};

}  // namespace beamheap::cli
