// SPDX-License-Identifier: Apache-2.0
// proc: one process, all that the input says about it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "analyses/diagnosis/portrait.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/heaps/unanswered.hpp"
#include "analyses/logs/log_events.hpp"
#include "cli/code/code_lines.hpp"
#include "cli/code/source_lines.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/secrets.hpp"
#include "cli/verbs/process_terms.hpp"
#include "present/spelling.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {

using present::Array;
using present::Content;
using present::Object;
using present::Value;

namespace {

constexpr std::size_t shown_messages = 100;
// Objects of a heap in which log events are looked for: `logs` is for more.
constexpr std::size_t most_for_events = 200'000;
constexpr std::size_t shown_links = 100;  // to people, unless -n says otherwise

/// The first messages for JSON; `msgs` gives them all.
Array message_array(const present::TermView& view, const std::vector<std::uint32_t>& messages) {
    Array array;
    const present::Table table = present::message_table(
        view,
        {messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(std::min(messages.size(), shown_messages))});
    for (std::size_t row = 0; row < table.rows; ++row) {
        Object object;
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            object.emplace_back(table.columns[c].name, table.cell(row, c));
        array.emplace_back(std::move(object));
    }
    return array;
}

constexpr std::uint32_t lines_around = 3;
constexpr std::size_t most_source_frames = 100;

// Texts that a source has are hidden as texts of terms are. Of a line that is no term nobody can say what in it is a
// name, so that at the level that hides names none is told.
present::Table source_table(std::vector<SourceLine> lines, bool told) {
    present::Columns<SourceLine> columns{
        {{.name = "depth", .title = "#", .unit = present::Unit::count, .doc = "frame; 0 is the youngest"},
         [](const SourceLine& line) { return Value(line.depth); }},
        {{.name = "file", .title = "FILE", .doc = "source file", .content = Content::name},
         [](const SourceLine& line) { return Value(line.file); }},
        {{.name = "line", .title = "LINE", .unit = present::Unit::count, .doc = "source line"},
         [](const SourceLine& line) { return Value(line.line); }},
        {{.name = "at", .title = "AT", .doc = "whether the frame is there", .wide = true},
         [](const SourceLine& line) { return Value(line.at); }},
        {{.name = "text",
          .title = "TEXT",
          .doc = "what the file has there; null at --redact full",
          .content = Content::term},
         [told](const SourceLine& line) { return told ? Value(line.text) : Value(); }},
    };
    return present::table_of(std::move(columns), std::move(lines), "no source lies here");
}

// What the sources have where its frames are.
present::Member source_member(const Context& context, const Snapshot& snapshot, std::span<const Frame> frames) {
    SourceLines sources(snapshot, context.options().sources, looks_for_code(context.options()));
    std::vector<SourceLine> lines =
        sources.of(frames, context.options().verbose ? lines_around : 0, most_source_frames);
    const bool any = !lines.empty();
    const bool told = context.options().redact != present::RedactLevel::full;
    return {
        .key = "source_lines", .title = "Source", .body = source_table(std::move(lines), told), .in_text = any && told};
}

// A list of those that a process is linked to, monitors, or has suspended, at most `most` of them: as what they are,
// which programs read and pages make links of; and where it is shown as it is, with what they are called.
struct LinkList {
    std::string key, title;
    std::vector<LinkKind> kinds;
};

void add_links(const Context& context, const present::Names& names, const Process& process, const LinkList& list,
               std::size_t most, present::Document& document) {
    Array plain = present::link_array(names, process, list.kinds, most, present::LinkWords::plain);
    const bool any = !plain.empty(), named = any && context.shown_to_people();
    document.members.push_back({.key = list.key,
                                .title = list.title,
                                .body = Value(std::move(plain)),
                                .in_text = any && !named,
                                .content = Content::name});
    if (!named) return;
    document.members.push_back(
        {.key = list.key + "_named",
         .title = list.title,
         .body = Value(present::link_array(names, process, list.kinds, most, present::LinkWords::named)),
         .in_json = false,
         .content = Content::term});
}

}  // namespace

static Status cmd_proc(const Context& context) {
    LoadPlan plan{analyses::need::waits};
    plan.terms_of = analyses::MayBeAsked();
    if (looks_for_code(context.options())) plan |= analyses::need::code_versions;
    BH_TRY(const ProcessTerms terms,
           open_process_terms(context, plan, context.argument(1), {.messages = shown_messages}));
    const Snapshot& snapshot = terms.snapshot();
    const ProcId id = terms.process;
    const Process& process = terms.row();
    const present::Names& names = *terms.names;
    const present::TermView view = terms.view(context);

    present::Document document = context.document(snapshot);
    add_term_warnings(terms, document);
    if (view.graph().roots().empty() && process.sensitive.value_or(false))
        document.lead.push_back(present::spell(
            analyses::Ours("The process is sensitive: the VM leaves its stack, heap, messages and dictionary out.")));
    const analyses::Accumulation accumulation = analyses::accumulation(snapshot, id, *terms.terms, *terms.measures);
    for (const analyses::Sentence& sentence : analyses::portrait(
             snapshot, id, *context.waits(*terms.artifact), *context.supervision(snapshot), accumulation, *terms.terms))
        document.lead.push_back(present::spell(names, sentence));
    std::vector<analyses::LogEvent> events;
    if (!terms.terms->in_part() && view.graph().size() <= most_for_events && analyses::EventHolders()(snapshot, id))
        analyses::find_events(id, *terms.terms, events);
    analyses::keep_each_once(events);
    if (!events.empty())
        document.lead.push_back(present::spell(
            names, analyses::sentence("It holds {}: {}", analyses::Counted{events.size(), "log event", "log events"},
                                      analyses::Command{"logs", {}, ""})));
    const std::size_t usual_links = context.for_people() ? shown_links : 0;
    const std::size_t wanted_links = context.options().top.value_or(usual_links);
    const std::size_t most_links = wanted_links == 0 ? std::numeric_limits<std::size_t>::max() : wanted_links;
    const auto add_list = [&](std::string key, std::string title, std::vector<LinkKind> kinds) {
        add_links(context, names, process, {std::move(key), std::move(title), std::move(kinds)}, most_links, document);
    };
    document.members.push_back(
        {.key = "process", .body = present::process_table(names, {id}, {.labels = true}), .object = true});
    document.members.push_back({.key = "stack",
                                .title = "Stack, youngest frame first",
                                .body = present::frame_table(view, snapshot.stacks[analyses::stack_of(snapshot, id)])});
    document.members.push_back(source_member(context, snapshot, snapshot.stacks[analyses::stack_of(snapshot, id)]));
    const std::vector<std::uint32_t> messages = view.roots_of(RootKind::message);
    const bool has_dictionary = !view.roots_of(RootKind::dictionary).empty();
    document.members.push_back({.key = "dictionary",
                                .title = "Dictionary",
                                .body = present::dictionary_table(view),
                                .in_text = has_dictionary});
    document.members.push_back(
        {.key = "messages",
         .body = Value(Object{{"count", terms.terms->messages()}, {"shown", message_array(view, messages)}}),
         .in_text = false,
         .content = Content::term});
    std::vector<std::uint32_t> first = messages;
    first.resize(std::min(first.size(), shown_messages));
    present::Table message_rows = present::message_table(view, std::move(first));
    message_rows.total = static_cast<std::size_t>(terms.terms->messages());
    document.members.push_back({.key = "message_rows",
                                .title = "Messages, oldest first",
                                .body = std::move(message_rows),
                                .in_text = !messages.empty(),
                                .in_json = false});
    add_list("links", "Links", {LinkKind::link});
    add_list("monitors", "Monitors", {LinkKind::monitors, LinkKind::node_monitor});
    add_list("monitored_by", "Monitored by", {LinkKind::monitored_by, LinkKind::resource});
    add_list("suspends", "Has suspended", {LinkKind::suspends});
    add_list("suspended_by", "Suspended by", {LinkKind::suspended_by});
    document.primary = "process";
    return context.print(document, snapshot, known_secrets(*terms.artifact));
}

BH_DEFINE_VERB(proc){
    .name = "proc",
    .arguments = {argument::input, argument::process},
    .options = "--term-bytes",
    .summary = "one process: state, counters, stack with terms, dictionary, messages, links",
    .details = "PID is 0.123.0, '<0.123.0>', '#PID<0.123.0>', 'pid(0,123,0)' or a registered name.",
    .examples = "proc erl_crash.dump lager_event\nproc erl_crash.dump 0.89.0",
    .run = &cmd_proc,
};

}  // namespace beamheap::cli
