// SPDX-License-Identifier: Apache-2.0
// modules: loaded code by size.
#include "analyses/processes/inventory.hpp"
#include "cli/commands.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

static Status cmd_modules(const Context& context) {
    LoadPlan plan;
    plan.tables = plan.modules = true;
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    const analyses::ModuleReport report = analyses::modules(snapshot);
    present::Document document = context.document(snapshot);
    document.members.push_back({.key = "rows", .body = present::module_table(context.names(snapshot), report)});
    document.members.push_back(
        {.key = "totals",
         .title = "All modules",
         .body = present::Value(present::Object{{"modules", report.modules},
                                                {"with_old_code", report.with_old_code},
                                                {"current_bytes", present::cells::sum(report.current_bytes)},
                                                {"old_bytes", present::cells::sum(report.old_bytes)}})});
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(modules){
    .name = "modules",
    .arguments = {argument::input},
    .summary = "loaded modules by size",
    .examples = "modules erl_crash.dump",
    .run = &cmd_modules,
};

}  // namespace beamheap::cli
