// ets: the tables with their owners, most memory first.
#include "analyses/inventory.hpp"
#include "cli/commands.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

Status cmd_ets(const Context& context) {
    LoadPlan plan;
    plan.tables = true;
    BH_TRY(const std::unique_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    const present::Names names = context.names(snapshot);
    const analyses::EtsReport report = analyses::ets_tables(snapshot);
    present::Document document = context.document(snapshot);
    document.members.push_back({.key = "rows", .body = present::ets_table(names, report)});
    document.members.push_back({.key = "owners", .title = "By owner", .body = present::ets_owner_table(names, report)});
    document.members.push_back(
        {.key = "totals",
         .title = "All tables",
         .body = present::Value(present::Object{{"tables", static_cast<std::uint64_t>(report.tables.size())},
                                                {"objects", present::cells::sum(report.objects)},
                                                {"bytes", present::cells::sum(report.bytes)},
                                                {"dead_owners", report.dead_owners}})});
    return context.print(document, snapshot);
}

}  // namespace beamheap::cli
