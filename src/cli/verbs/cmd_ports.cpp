// SPDX-License-Identifier: Apache-2.0
// ports: by driver and owner, those that processes wait for, and each of them.
#include "analyses/facts/needs.hpp"
#include "analyses/processes/answers.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/waits.hpp"
#include "cli/frame/commands.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

static Status cmd_ports(const Context& context) {
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open({analyses::need::ports}));
    const Snapshot& snapshot = artifact->snapshot();
    const present::Names names = context.names(snapshot);
    // Whom a port makes wait its own list and frames tell; waits that are found in terms are none of these.
    const analyses::PortReport report = analyses::ports(
        snapshot, context.kept(snapshot) == nullptr ? analyses::held_senders(snapshot, analyses::waits(snapshot))
                                                    : analyses::held_senders(snapshot, *context.waits(*artifact)));
    std::uint64_t waiting = 0;
    for (const analyses::BusyPort& port : report.busy) waiting += port.suspended.size();
    present::Document document = context.document(snapshot);
    document.lead = {present::spell(names, analyses::ports_answer(snapshot, report))};
    document.members.push_back(
        {.key = "groups", .title = "By driver and owner", .body = present::port_group_table(names, report)});
    document.members.push_back(
        {.key = "rows", .title = "Ports", .body = present::port_table(names, context.identify(*artifact, true))});
    document.members.push_back(
        {.key = "totals",
         .title = "All ports",
         .body = present::Value(present::Object{{"ports", static_cast<std::uint64_t>(snapshot.ports.size())},
                                                {"queue_bytes", present::cells::sum(report.queue_bytes)},
                                                {"waiting_processes", waiting},
                                                {"dead_owners", report.dead_owners}}),
         .in_text = false});
    document.primary = "rows";
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(ports){
    .name = "ports",
    .arguments = {argument::input},
    .summary = "ports by driver and owner, and each of them",
    .examples = "ports erl_crash.dump --sort queue_bytes",
    .run = &cmd_ports,
};

}  // namespace beamheap::cli
