// SPDX-License-Identifier: Apache-2.0
// timers: by receiver and shape of message, and each of them.
#include "analyses/facts/needs.hpp"
#include "analyses/processes/answers.hpp"
#include "analyses/processes/inventory.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/inputs.hpp"
#include "present/spelling.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

static Status cmd_timers(const Context& context) {
    LoadPlan plan{analyses::need::node};
    if (is_small_input(context.argument(0))) plan |= analyses::need::labels;  // who they are, as `top` calls them
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    const present::Names names = context.names(snapshot);
    const analyses::TimerReport report = analyses::timers(snapshot);
    const present::Identify identify = context.identify(*artifact);
    present::Document document = context.document(snapshot);
    document.lead = {context.lead(*artifact, analyses::timers_answer(snapshot, report))};
    document.members.push_back({.key = "groups",
                                .title = "By receiver and message",
                                .body = present::timer_group_table(names, report, identify)});
    document.members.push_back({.key = "rows", .title = "Timers", .body = present::timer_table(names, identify)});
    document.members.push_back(
        {.key = "totals",
         .body = present::Value(present::Object{{"timers", static_cast<std::uint64_t>(snapshot.timers.size())},
                                                {"dead_receivers", report.dead_receivers}}),
         .in_text = false});
    document.primary = "rows";
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(timers){
    .name = "timers",
    .arguments = {argument::input},
    .summary = "timers by receiver and message, and each of them",
    .examples = "timers erl_crash.dump",
    .run = &cmd_timers,
};

}  // namespace beamheap::cli
