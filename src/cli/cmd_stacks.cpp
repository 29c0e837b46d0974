// stacks: processes grouped by identical stack.
#include "analyses/groups.hpp"
#include "cli/commands.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

Status cmd_stacks(const Context& context) {
    LoadPlan plan;
    plan.stacks = true;
    BH_CHECK(context.plan_for_selector(plan));
    BH_TRY(const std::unique_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(const std::vector<ProcId> processes, context.selected(snapshot));
    const analyses::ProcessGroups groups = analyses::group_by_stack(snapshot, processes);
    present::Document document = context.document(snapshot);
    document.members.push_back({.key = "rows", .body = present::stack_group_table(context.names(snapshot), groups)});
    return context.print(document, snapshot);
}

}  // namespace beamheap::cli
