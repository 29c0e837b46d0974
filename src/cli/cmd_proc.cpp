// proc: one process, all that the input says about it.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/selectors.hpp"
#include "cli/commands.hpp"
#include "cli/process_terms.hpp"
#include "cli/secrets.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {
namespace {

using present::Array;
using present::Content;
using present::Document;
using present::Object;
using present::Value;

constexpr std::size_t shown_messages = 20;  // of the queue, oldest first, unless -n says otherwise

// Whether a process may be the one that was asked for, while the input is still being read.
bool may_be(const Snapshot& snapshot, ProcId id, const analyses::PidOrName& wanted) {
    const Process& process = snapshot[id];
    if (wanted.name.empty()) return process.pid == wanted.pid;
    const std::string_view name = snapshot.text(process.name);
    return name == wanted.name || (name.starts_with("Elixir.") && name.substr(7) == wanted.name);
}

void add_links(Document& document, const present::Names& names, const Process& process) {
    const auto add = [&](std::string key, std::string title, std::initializer_list<LinkKind> kinds) {
        const std::vector<LinkKind> list(kinds);
        Array entries = present::link_array(names, process, list);
        const bool any = !entries.empty();
        document.members.push_back({.key = std::move(key),
                                    .title = std::move(title),
                                    .body = Value(std::move(entries)),
                                    .in_text = any,
                                    .content = Content::name});
    };
    add("links", "Links", {LinkKind::link});
    add("monitors", "Monitors", {LinkKind::monitors, LinkKind::node_monitor});
    add("monitored_by", "Monitored by", {LinkKind::monitored_by, LinkKind::resource});
    add("suspends", "Has suspended", {LinkKind::suspends});
    add("suspended_by", "Suspended by", {LinkKind::suspended_by});
}

void add_messages(Document& document, const Process& process, ProcessTerms terms) {
    const std::uint64_t count = process.msgq_len.value_or(terms.message_count);
    Array shown;
    for (const Object& message : terms.messages) shown.emplace_back(message);
    document.members.push_back({.key = "messages",
                                .body = Value(Object{{"count", process.msgq_len}, {"shown", std::move(shown)}}),
                                .in_text = false,
                                .content = Content::term});
    const bool any = !terms.messages.empty();
    document.members.push_back({.key = {},
                                .title = "Messages, oldest first",
                                .body = present::message_table(std::move(terms.messages), count),
                                .in_text = any,
                                .in_json = false});
}

}  // namespace

Status cmd_proc(const Context& context) {
    BH_TRY(const analyses::PidOrName wanted, analyses::parse_pid_or_name(context.argument(1)));
    LoadPlan plan;
    plan.links = plan.stacks = plan.labels = true;
    plan_for_secrets(plan, [&wanted](const Snapshot& s, ProcId id) { return may_be(s, id, wanted); });
    BH_TRY(const std::unique_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(const ProcId id, analyses::resolve(snapshot, wanted));
    const Process& process = snapshot[id];
    const present::Names names = context.names(snapshot);
    const std::span<const Frame> frames = snapshot.stacks[process.stack];

    ProcessTerms terms;
    if (const auto source = artifact->terms(id)) {
        const present::PrintOptions print{.syntax = names.syntax(),
                                          .max_bytes = static_cast<std::size_t>(context.options().term_bytes)};
        terms = process_terms(**source, frames.size(), context.options().top.value_or(shown_messages), print);
    }
    Document document = context.document(snapshot);
    document.members.push_back(
        {.key = "process", .body = present::process_table(names, {id}, {.labels = true}), .object = true});
    if (process.sensitive)
        document.lead = {"The process is sensitive: its stack, heap, messages and dictionary are not in the input."};
    document.members.push_back({.key = "stack",
                                .title = "Stack, youngest frame first",
                                .body = present::frame_table(names, frames, std::move(terms.slots))});
    const bool any = !terms.dictionary.empty();
    document.members.push_back({.key = "dictionary",
                                .title = "Dictionary",
                                .body = present::dictionary_table(std::move(terms.dictionary)),
                                .in_text = any});
    add_messages(document, process, std::move(terms));
    add_links(document, names, process);
    document.primary = "process";
    return context.print(document, snapshot, known_secrets(*artifact));
}

}  // namespace beamheap::cli
