// schedulers: what each was doing at the instant of the crash, and who waited to run; of cores, native stacks.
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/native_stacks.hpp"
#include "cli/commands.hpp"
#include "present/native.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

static Status cmd_schedulers(const Context& context) {
    LoadPlan plan;
    plan.tables = plan.stacks = true;
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
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
    BH_TRY(const std::optional<NativeThreads> native, if_held(artifact->native_threads()));
    std::vector<analyses::ThreadGroup> threads;
    if (native) {
        threads = analyses::group_threads(*native);
        document.members.push_back({.key = "threads",
                                    .title = "Threads and their native stacks",
                                    .body = present::thread_table(context.names(snapshot), *native, threads)});
        present::Array missing;
        for (const std::string& file : native->missing) missing.emplace_back(file);
        document.members.push_back({.key = "not_unwound",
                                    .title = "Files whose code could not be unwound",
                                    .body = present::Value(std::move(missing)),
                                    .in_text = !native->missing.empty()});
    }
    document.primary = "rows";
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(schedulers){
    .name = "schedulers",
    .arguments = {argument::input},
    .summary = "schedulers, run queues, and who was running",
    .examples = "schedulers erl_crash.dump",
    .run = &cmd_schedulers,
};

}  // namespace beamheap::cli
