// logs: log events that the node still held.
#include "analyses/logs/log_events.hpp"
#include "cli/commands.hpp"
#include "cli/secrets.hpp"
#include "present/logs.hpp"

namespace beamheap::cli {

Status cmd_logs(const Context& context) {
    LoadPlan plan;
    plan.stacks = plan.terms = true;
    analyses::EventHolders holders;
    plan_for_secrets(plan, [&](const Snapshot& snapshot, ProcId id) { return holders(snapshot, id); });
    BH_TRY(const std::unique_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    const std::vector<analyses::LogEvent> events = analyses::log_events(*artifact);
    present::Document document = context.document(snapshot);
    document.members.push_back({.key = "rows",
                                .body = present::log_table(context.names(snapshot), events, context.options().term_bytes)});
    return context.print(document, snapshot, known_secrets(*artifact));
}

}  // namespace beamheap::cli
