// SPDX-License-Identifier: Apache-2.0
// msgs: the messages of one process, one by one or grouped by shape or sender.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analyses/base/sum.hpp"
#include "analyses/heaps/messages.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/secrets.hpp"
#include "cli/verbs/process_terms.hpp"
#include "erlang/erlang_syntax.hpp"
#include "present/render.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

using present::Columns;
using present::Content;
using present::Unit;
using present::Value;

struct Group {
    std::string what;
    std::uint64_t count = 0;
    std::uint64_t flat_words = 0;
    std::uint32_t example = 0;  // root
};

std::string sender_text(const present::TermView& view, std::uint32_t root) {
    const analyses::Sender sender = analyses::sender_of_root(view.source(), root);
    if (!sender.has()) return {};
    if (!sender.pid.has()) return port_text(sender.port);
    const ProcId known = view.names().snapshot().find(sender.pid);
    return known == ProcId::none ? view.names().pid(sender.pid) : view.names().process(view.names().snapshot()[known]);
}

std::vector<Group> group(const present::TermView& view, const std::vector<std::uint32_t>& messages, bool by_shape) {
    std::vector<Group> groups;
    std::unordered_map<std::string, std::size_t> index;
    for (const std::uint32_t root : messages) {
        const Element message = view.source().root(root);
        std::string what = by_shape ? analyses::shape_of(view.source(), message) : sender_text(view, root);
        const auto [entry, added] = index.try_emplace(std::move(what), groups.size());
        if (added) groups.push_back({entry->first, 0, 0, root});
        Group& each = groups[entry->second];
        ++each.count;
        each.flat_words = analyses::saturating_add(each.flat_words, view.measures().flat_words(message).value_or(0));
    }
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.count > b.count; });
    return groups;
}

present::Table group_table(const present::TermView& view, std::vector<Group> groups, bool by_shape,
                           std::size_t messages) {
    const auto percent = [messages](const Group& g) {
        return 100.0 * static_cast<double>(g.count) / static_cast<double>(std::max<std::size_t>(messages, 1));
    };
    Columns<Group> columns{
        {{.name = "count", .title = "COUNT", .unit = Unit::count, .doc = "messages"},
         [](const Group& g) { return Value(g.count); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of the messages in the input"},
         [=](const Group& g) { return present::cells::percent(percent(g)); }},
        {{.name = "flat_words", .title = "FLAT words", .unit = Unit::words, .doc = "erts_debug:flat_size, summed up"},
         [](const Group& g) { return Value(g.flat_words); }},
    };
    if (by_shape)
        columns.add({{.name = "shape", .title = "SHAPE", .doc = "their form", .content = Content::name},
                     [syntax = view.names().syntax()](const Group& g) {
                         return Value(present::printed_text(g.what, syntax));
                     }});
    else
        columns.add({{.name = "sender",
                      .title = "SENDER",
                      .doc = "who sent them: as the VM recorded it (cores) or as their form says; else null",
                      .content = Content::name},
                     [](const Group& g) { return g.what.empty() ? Value() : Value(g.what); }});
    columns.add({{.name = "example_pos", .title = "FIRST", .unit = Unit::count, .doc = "position of the oldest"},
                 [=](const Group& g) { return Value(view.graph().roots()[g.example].index); }});
    columns.add({{.name = "example",
                  .title = "EXAMPLE",
                  .doc = "the oldest of them",
                  .content = Content::term,
                  .own_line = true},
                 [=](const Group& g) { return Value(view.root_text(g.example)); }});
    return present::table_of(std::move(columns), std::move(groups), view.nothing("no messages"));
}

}  // namespace

static Status cmd_msgs(const Context& context) {
    const std::string& by = context.options().by;
    if (!by.empty() && by != "shape" && by != "sender")
        return Error{ErrorCode::usage, fmt::format("--by: messages are not grouped by '{}'", by),
                     "choose one of: shape sender"};
    // In the order of the queue the first ones are shown, and the others need not be read.
    const std::size_t rows = context.options().top.value_or(context.for_people() ? present::default_rows : 0);
    const bool first_ones = by.empty() && context.options().sort.empty() && rows != 0;
    const TermsWanted wanted = first_ones ? TermsWanted{.messages = rows, .others = false} : TermsWanted{};
    BH_TRY(const ProcessTerms process, open_process_terms(context, {}, context.argument(1), wanted));
    const present::TermView view = process.view(context);
    std::vector<std::uint32_t> messages = view.roots_of(RootKind::message);
    const std::uint64_t count = process.terms->messages();

    present::Document document = context.document(process.snapshot());
    add_term_warnings(process, document);
    document.lead = {
        present::spell(analyses::sentence("{} in the queue of ", analyses::Counted{count, "message", "messages"}))
            .add(process.names->process(process.row()), Content::name)
            .add(".")};
    if (process.row().msgq_len.has() && *process.row().msgq_len != count)
        document.lead.push_back(present::spell(analyses::sentence(
            "The process table says {}: the rest is not in the input.", analyses::Amount{*process.row().msgq_len})));
    document.members.push_back({.key = "count", .body = Value(std::uint64_t{count}), .in_text = false});
    if (by.empty()) {
        present::Table table = present::message_table(view, std::move(messages));
        table.total = static_cast<std::size_t>(count);
        document.members.push_back({.key = "rows", .body = std::move(table)});
        return context.print(document, process.snapshot(), known_secrets(*process.artifact));
    }
    const bool by_shape = by == "shape";
    document.members.push_back(
        {.key = "rows", .body = group_table(view, group(view, messages, by_shape), by_shape, count)});
    return context.print(document, process.snapshot(), known_secrets(*process.artifact), "count");
}

BH_DEFINE_VERB(msgs){
    .name = "msgs",
    .arguments = {argument::input, argument::process},
    .options = "--by --term-bytes",
    .groups = "shape sender",
    .summary = "the messages of one process, one by one or grouped",
    .details = "--by shape groups messages that are alike but for their data; --by sender those that name one sender.",
    .examples = "msgs erl_crash.dump stuck_queue -n 5\nmsgs erl_crash.dump stuck_queue --by shape",
    .run = &cmd_msgs,
};

}  // namespace beamheap::cli
