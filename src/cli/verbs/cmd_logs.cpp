// SPDX-License-Identifier: Apache-2.0
// logs: log events that the node still held.
#include <algorithm>

#include "analyses/facts/needs.hpp"
#include "analyses/logs/log_events.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/secrets.hpp"
#include "present/logs.hpp"
#include "present/spelling.hpp"

namespace beamheap::cli {

namespace {

// "6 log events, 3 of them errors; the newest is of 2015-12-25 18:39:17."
analyses::Sentence answer(const std::vector<analyses::LogEvent>& events) {
    if (events.empty()) return analyses::Ours("No log events in the memory of this node.");
    analyses::Sentence text = analyses::sentence("{}", analyses::Counted{events.size(), "log event", "log events"});
    const auto errors = static_cast<std::uint64_t>(std::ranges::count_if(
        events, [](const analyses::LogEvent& event) { return event.level <= analyses::LogLevel::error; }));
    if (errors == events.size())
        text.say("{}", errors == 1 ? analyses::Ours(", an error") : analyses::Ours(", all errors"));
    else if (errors != 0)
        text.say(", {} of them {}", analyses::Amount{errors},
                 errors == 1 ? analyses::Ours("an error") : analyses::Ours("errors"));
    if (const std::string& time = events.front().time; !time.empty())
        text.say("; the newest is of {}", analyses::InputText{time, analyses::InputText::Holds::vm});
    return text.say(".");
}

}  // namespace

static Status cmd_logs(const Context& context) {
    LoadPlan plan{analyses::need::logs};
    analyses::EventHolders holders;
    plan_for_secrets(plan, [&](const Snapshot& snapshot, ProcId id) { return holders(snapshot, id); });
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    const std::vector<analyses::LogEvent> events = analyses::log_events(*artifact);
    present::Document document = context.document(snapshot);
    document.lead = {present::spell(answer(events))};
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
