// SPDX-License-Identifier: Apache-2.0
// logs: log events that the node still held.
#include "analyses/logs/log_events.hpp"
#include "cli/commands.hpp"
#include "cli/secrets.hpp"
#include "present/logs.hpp"

namespace beamheap::cli {

static Status cmd_logs(const Context& context) {
    LoadPlan plan;
    plan.stacks = plan.terms = true;
    analyses::EventHolders holders;
    plan_for_secrets(plan, [&](const Snapshot& snapshot, ProcId id) { return holders(snapshot, id); });
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    const std::vector<analyses::LogEvent> events = analyses::log_events(*artifact);
    present::Document document = context.document(snapshot);
    document.members.push_back(
        {.key = "rows", .body = present::log_table(context.names(snapshot), events, context.options().term_bytes)});
    return context.print(document, snapshot, known_secrets(*artifact));
}

BH_DEFINE_VERB(logs){
    .name = "logs",
    .arguments = {argument::input},
    .options = "--term-bytes",
    .summary = "log events that the node still held: what it had no time to print",
    .details =
        "Reports and messages of error_logger, logger, Elixir's Logger and lager, exits that nobody has read, and "
        "output on\n"
        "its way to a device, wherever a process held them; newest first.",
    .examples = "logs erl_crash.dump\nlogs erl_crash.dump --columns time,level,what,reason --format md",
    .run = &cmd_logs,
};

}  // namespace beamheap::cli
