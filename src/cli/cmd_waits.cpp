// waits: who waits for whom.
#include <fmt/format.h>

#include "analyses/processes/waits.hpp"
#include "cli/commands.hpp"
#include "present/spelling.hpp"
#include "present/units.hpp"
#include "present/waits.hpp"

namespace beamheap::cli {

static Status cmd_waits(const Context& context) {
    LoadPlan plan;
    plan.tables = plan.links = plan.stacks = plan.labels = true;
    plan.slots_of = analyses::slots_for_waits;
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    const analyses::Waits waits = analyses::waits(snapshot);
    const present::Names names = context.names(snapshot);
    present::Document document = context.document(snapshot);
    using analyses::Counted;
    document.lead.push_back(present::spell(analyses::sentence(
        "{} of {} wait for somebody: {} waited for, {}.", analyses::Amount{waits.edges.size()},
        Counted{snapshot.processes.size(), "process", "processes"}, Counted{waits.fan_in.size(), "is", "are"},
        Counted{waits.cycles.size(), "cycle", "cycles"})));
    std::vector<present::Member>& members = document.members;
    if (!waits.cycles.empty())
        members.push_back({.key = "",
                           .title = "Deadlocks",
                           .body = present::Value(present::wait_cycle_lines(names, waits)),
                           .in_json = false,
                           .content = present::Content::name});
    members.push_back({.key = "fan_in",
                       .title = "Waited for by most",
                       .body = present::wait_fan_in_table(names, waits),
                       .in_text = !waits.fan_in.empty()});
    if (!waits.chains.empty())
        members.push_back({.key = "",
                           .title = "Longest chains",
                           .body = present::Value(present::wait_chain_lines(names, waits)),
                           .in_json = false,
                           .content = present::Content::name});
    members.push_back({.key = "edges", .title = "Blocked calls", .body = present::wait_edge_table(names, waits)});
    members.push_back({.key = "cycles",
                       .body = present::Value(present::wait_cycles(names, waits)),
                       .in_text = false,
                       .content = present::Content::name});
    document.primary = "edges";
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(waits){
    .name = "waits",
    .arguments = {argument::input},
    .summary = "who waits for whom: blocked calls, fan-in, chains and deadlocks",
    .details = "An edge is exact where the monitor of the call is found in the caller's stack, or in a port's list of who "
                "waits;\n"
                "otherwise it is concluded from the frame (estimate). --format dot draws all edges for GraphViz.",
    .examples = "waits erl_crash.dump\nwaits erl_crash.dump --format dot | dot -Tsvg > waits.svg",
    .run = &cmd_waits,
};

}  // namespace beamheap::cli
