// schedulers: what each was doing at the instant of the crash, and who waited to run.
#include "analyses/inventory.hpp"
#include "cli/commands.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

Status cmd_schedulers(const Context& context) {
    LoadPlan plan;
    plan.tables = true;
    BH_TRY(const std::unique_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    const analyses::SchedulerReport report = analyses::schedulers(snapshot);
    present::Document document = context.document(snapshot);
    document.members.push_back({.key = "rows", .body = present::scheduler_table(context.names(snapshot))});
    document.members.push_back({.key = "totals",
                                .title = "All schedulers",
                                .body = present::Value(present::Object{{"normal", report.normal},
                                                                       {"busy_normal", report.busy_normal},
                                                                       {"dirty_cpu", report.dirty_cpu},
                                                                       {"busy_dirty_cpu", report.busy_dirty_cpu},
                                                                       {"dirty_io", report.dirty_io},
                                                                       {"busy_dirty_io", report.busy_dirty_io},
                                                                       {"queued", present::cells::sum(report.queued)},
                                                                       {"longest_queue", report.longest_queue},
                                                                       {"crashed", report.crashed}})});
    return context.print(document, snapshot);
}

}  // namespace beamheap::cli
