// SPDX-License-Identifier: Apache-2.0
// modules: loaded code by size.
#include "analyses/facts/needs.hpp"
#include "analyses/processes/answers.hpp"
#include "analyses/processes/inventory.hpp"
#include "cli/code/code_lines.hpp"
#include "cli/frame/commands.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

static Status cmd_modules(const Context& context) {
    LoadPlan plan{analyses::need::modules};
    plan_for_module_code(context.options(), plan);
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(std::vector<present::ModuleCode> code, module_code(context.options(), *artifact));
    const analyses::ModuleReport report = analyses::modules(snapshot);
    present::Document document = context.document(snapshot);
    document.lead = {present::spell(context.names(snapshot), analyses::modules_answer(snapshot, report))};
    document.members.push_back(
        {.key = "rows", .body = present::module_table(context.names(snapshot), report, std::move(code))});
    document.members.push_back(
        {.key = "totals",
         .title = "All modules",
         .body = present::Value(present::Object{{"modules", report.modules},
                                                {"with_old_code", report.with_old_code},
                                                {"current_bytes", present::cells::sum(report.current_bytes)},
                                                {"old_bytes", present::cells::sum(report.old_bytes)}}),
         .in_text = false});
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(modules){
    .name = "modules",
    .arguments = {argument::input},
    .summary = "loaded modules by size",
    .details =
        "With --code, also whether the files that are found are the modules that ran, so that lines are told of them.",
    .examples =
        "modules erl_crash.dump\nmodules erl_crash.dump --code _build/prod/rel/shop\n"
        "modules erl_crash.dump --code -",
    .run = &cmd_modules,
};

}  // namespace beamheap::cli
