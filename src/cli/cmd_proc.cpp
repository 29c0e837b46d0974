// proc: one process, all that the input says about it.
#include <fmt/format.h>

#include <array>

#include "analyses/selectors.hpp"
#include "cli/commands.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

using present::Array;
using present::Content;
using present::Value;

Status cmd_proc(const Context& context) {
    LoadPlan plan;
    plan.links = plan.stacks = plan.labels = true;
    BH_TRY(const std::unique_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(const ProcId id, analyses::resolve(snapshot, context.argument(1)));
    const Process& process = snapshot[id];
    const present::Names names = context.names(snapshot);

    present::Document document = context.document(snapshot);
    const auto add_list = [&](std::string key, std::string title, std::initializer_list<LinkKind> kinds) {
        const std::vector<LinkKind> list(kinds);
        Array entries = present::link_array(names, process, list);
        const bool any = !entries.empty();
        document.members.push_back({.key = std::move(key),
                                    .title = std::move(title),
                                    .body = Value(std::move(entries)),
                                    .in_text = any,
                                    .content = Content::name});
    };
    document.members.push_back(
        {.key = "process", .body = present::process_table(names, {id}, {.labels = true}), .object = true});
    document.members.push_back({.key = "stack",
                                .title = "Stack, youngest frame first",
                                .body = present::frame_table(names, snapshot.stacks[process.stack])});
    add_list("links", "Links", {LinkKind::link});
    add_list("monitors", "Monitors", {LinkKind::monitors, LinkKind::node_monitor});
    add_list("monitored_by", "Monitored by", {LinkKind::monitored_by, LinkKind::resource});
    add_list("suspends", "Has suspended", {LinkKind::suspends});
    add_list("suspended_by", "Suspended by", {LinkKind::suspended_by});
    document.primary = "process";
    return context.print(document, snapshot);
}

}  // namespace beamheap::cli
