// SPDX-License-Identifier: Apache-2.0
// ets: the tables with their owners, most memory first; or what one of them holds.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "analyses/facts/needs.hpp"
#include "analyses/heaps/term_measures.hpp"
#include "analyses/processes/answers.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/selectors/selectors.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/inputs.hpp"
#include "cli/frame/secrets.hpp"
#include "erlang/erlang_syntax.hpp"
#include "present/secrets/redact.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"
#include "present/tables_terms.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

using present::Object;
using present::Value;

/// People see few objects; whoever asks for all of a large table gets so many at the most.
constexpr std::uint64_t objects_for_people = 20, most_objects = 10'000'000;

/// The table that the user named: by its name, quoted or not, or its identifier.
Result<std::size_t> find_table(const Snapshot& snapshot, std::string_view wanted) {
    std::string_view bare = wanted;
    if (bare.size() > 2 && bare.front() == '\'' && bare.back() == '\'') bare = bare.substr(1, bare.size() - 2);
    // In Elixir :shop_cache, and Shop.Registry of 'Elixir.Shop.Registry'.
    if (bare.size() > 1 && bare.front() == ':') bare.remove_prefix(1);
    if (bare.size() > 1 && bare.front() == '"' && bare.back() == '"') bare = bare.substr(1, bare.size() - 2);
    const auto is = [bare](std::string_view name) {
        return name == bare || present::bare_text(name, present::Syntax::elixir) == bare;
    };
    std::vector<std::size_t> found;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < snapshot.ets.size(); ++i) {
        const EtsTable& table = snapshot.ets[i];
        names.push_back(snapshot.text(table.name));
        if (table.id != TextId::none && (snapshot.text(table.id) == wanted || is(snapshot.text(table.id)))) return i;
        if (table.name != TextId::none && is(names.back())) found.push_back(i);
    }
    if (found.size() == 1) return found.front();
    if (found.empty()) {
        const std::vector<std::string> near = analyses::near_names(bare, names, 3);
        return Error{ErrorCode::usage, fmt::format("no ETS table '{}' in this input", wanted),
                     near.empty() ? fmt::format("`beamheap ets {}` lists all of them.",
                                                present::shell_word(snapshot.source.path))
                                  : fmt::format("There is: {}", fmt::join(near, ", "))};
    }
    std::string ids;
    for (const std::size_t i : found)
        if (snapshot.ets[i].id != TextId::none)
            ids += fmt::format("{}'{}'", ids.empty() ? "" : " ", snapshot.text(snapshot.ets[i].id));
    return Error{ErrorCode::usage, fmt::format("{} ETS tables have the name '{}'", found.size(), wanted),
                 fmt::format("Name one by its identifier: {}", ids)};
}

Status show_contents(const Context& context) {
    LoadPlan plan{analyses::need::objects};
    plan.terms_of = [](const Snapshot&, ProcId) { return false; };
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(const std::size_t number, find_table(snapshot, context.argument(1)));
    const std::uint64_t preset = context.for_people() ? objects_for_people : most_objects;
    std::uint64_t limit = context.options().top.value_or(preset);
    if (limit == 0 || limit > most_objects) limit = most_objects;
    BH_TRY(const TableContents contents, artifact->table_contents(number, limit));
    analyses::TermMeasures measures(*contents.terms);
    const present::Names names = context.names(snapshot);
    const Process nobody;
    const EtsTable& table = snapshot.ets[number];
    const ProcId owner = snapshot.find(table.owner);
    present::ShownRecords records;
    if (owner != ProcId::none && snapshot.records != nullptr)
        records = {std::make_shared<const analyses::RecordScope>(
                       snapshot, std::string(module_of(snapshot, snapshot[owner].real_initial_call))),
                   context.for_people()};
    const present::TermView view(names, nobody, *contents.terms, measures,
                                 static_cast<std::size_t>(context.options().term_bytes), std::nullopt,
                                 std::make_shared<present::AnswerBudget>(), std::move(records));

    present::Document document = context.document(snapshot);
    analyses::Sentence answer =
        analyses::sentence("{} of {}", analyses::Name{table.name}, analyses::AnyProcess{table.owner});
    if (table.objects.has()) answer.say(" has {}", analyses::Counted{*table.objects, "object", "objects"});
    if (table.words.has())
        answer.say("{} {}", table.objects.has() ? analyses::Ours(", in") : analyses::Ours(" has"),
                   analyses::Amount{*table.words * snapshot.source.word_size, analyses::AmountUnit::bytes});
    answer.say(".");
    document.lead = {present::spell(names, answer)};
    document.members.push_back(
        {.key = "table",
         .title = "Table",
         .body = Value(
             Object{{"name", present::cells::bare(names, table.name)},
                    {"id", present::cells::bare(names, table.id)},
                    {"type", present::cells::raw(names, table.type)},
                    {"protection", present::cells::raw(names, table.protection)},
                    {"owner", names.pid(table.owner)},
                    {"owner_name", owner == ProcId::none ? Value() : present::cells::bare(names, snapshot[owner].name)},
                    {"key_position", contents.key},
                    {"objects", table.objects},
                    {"bytes", table.words.has() ? Value(*table.words * snapshot.source.word_size) : Value()}}),
         .content = present::Content::name});
    present::Table rows = present::object_table(view, contents.key, present::sensitive_key(snapshot.text(table.name)));
    if (contents.more && table.objects.has()) rows.total = *table.objects;
    document.members.push_back({.key = "rows", .title = "Objects", .body = std::move(rows)});
    document.primary = "rows";
    return context.print(document, snapshot, known_secrets(*artifact));
}

}  // namespace

static Status cmd_ets(const Context& context) {
    if (context.options().inputs.size() > 1) return show_contents(context);
    LoadPlan plan{analyses::need::node};
    if (is_small_input(context.argument(0))) plan |= analyses::need::labels;  // who they are, as `top` calls them
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    const Snapshot& snapshot = artifact->snapshot();
    const present::Names names = context.names(snapshot);
    const analyses::EtsReport report = analyses::ets_tables(snapshot);
    present::Document document = context.document(snapshot);
    document.lead = {context.lead(*artifact, analyses::ets_answer(snapshot, report))};
    const present::Identify identify = context.identify(*artifact);
    document.members.push_back({.key = "rows", .body = present::ets_table(names, report, identify)});
    document.members.push_back(
        {.key = "owners", .title = "By owner", .body = present::ets_owner_table(names, report, identify)});
    document.members.push_back({.key = "totals",
                                .title = "All tables",
                                .body = Value(Object{{"tables", static_cast<std::uint64_t>(report.tables.size())},
                                                     {"objects", present::cells::sum(report.objects)},
                                                     {"bytes", present::cells::sum(report.bytes)},
                                                     {"dead_owners", report.dead_owners}}),
                                .in_text = false});
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(ets){
    .name = "ets",
    .arguments = {argument::input, optional({"TABLE", ArgumentKind::table})},
    .options = "--term-bytes",
    .summary = "ETS tables with owners and sizes, or what one of them holds",
    .details = "TABLE is a name or an identifier; its objects are in core images only. -n bounds how many are read.",
    .examples = "ets erl_crash.dump -n 10\nets core.4711 my_cache -n 100",
    .run = &cmd_ets,
};

}  // namespace beamheap::cli
