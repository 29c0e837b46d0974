// SPDX-License-Identifier: Apache-2.0
// nodes: this node and its peers.
#include "analyses/facts/needs.hpp"
#include "analyses/processes/answers.hpp"
#include "analyses/processes/inventory.hpp"
#include "cli/frame/commands.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

static Status cmd_nodes(const Context& context) {
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open({analyses::need::node}));
    const Snapshot& snapshot = artifact->snapshot();
    const present::Names names = context.names(snapshot);
    const analyses::NodeReport report = analyses::nodes(snapshot);
    present::Document document = context.document(snapshot);
    document.lead = {present::spell(names, analyses::nodes_answer(snapshot, report))};
    document.members.push_back({.key = "rows", .title = "Peers", .body = present::node_table(names)});
    document.members.push_back(
        {.key = "node",
         .title = "This node",
         .body = present::Value(present::Object{{"name", present::cells::raw(names, snapshot.node.name)},
                                                {"distributed", present::cells::flag(snapshot.node.distributed)},
                                                {"visible", report.visible},
                                                {"hidden", report.hidden},
                                                {"not_connected", report.not_connected},
                                                {"remote_links", report.remote_links},
                                                {"remote_monitors", report.remote_monitors},
                                                {"remote_monitored_by", report.remote_monitored_by}}),
         .in_text = false,
         .content = present::Content::name});
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(nodes){
    .name = "nodes",
    .arguments = {argument::input},
    .summary = "the other nodes that it knew",
    .examples = "nodes erl_crash.dump",
    .run = &cmd_nodes,
};

}  // namespace beamheap::cli
