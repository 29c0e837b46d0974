// profile: words held now, by the function whose frame holds them, in the shape of hprof's table.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/selectors/selectors.hpp"
#include "analyses/base/sum.hpp"
#include "cli/commands.hpp"
#include "analyses/diagnosis/heap_stats.hpp"
#include "cli/traced_profile.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

using analyses::PlaceWords;
using present::ColumnOf;
using present::Content;
using present::Unit;
using present::Value;

struct Row {
    ProcId process = ProcId::none;  ///< with --per-process
    FunctionId function = FunctionId::none;
    std::uint32_t place = 0;  ///< where it is no function
    std::uint64_t frames = 0;
    std::uint64_t words = 0;
};

std::string_view place_name(std::uint32_t place) {
    return place == PlaceWords::dictionary ? "(dictionary)" : place == PlaceWords::messages ? "(messages)" : "(other)";
}

/// Rows by function (and process): most words first, else by process and name, whatever order the input was read in.
std::vector<Row> rows_of(const Snapshot& snapshot, const analyses::HeapStats& stats, const std::vector<bool>& wanted,
                         bool per_process) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Row> rows;
    for (const analyses::HeapStats::FramesOf& each : stats.frames()) {
        if (!wanted[index_of(each.process)]) continue;
        const auto frames = snapshot.stacks[snapshot[each.process].stack];
        const ProcId process = per_process ? each.process : ProcId::none;
        for (const PlaceWords& charged : each.places) {
            const bool frame = charged.frame < frames.size();
            const FunctionId function = frame ? frames[charged.frame].function : FunctionId::none;
            const std::uint32_t place = frame ? 0 : std::max(charged.frame, PlaceWords::dictionary);
            Row& row = rows[{index_of(process), index_of(function), place}];
            row.process = process;
            row.function = function;
            row.place = place;
            row.frames += frame ? 1 : 0;
            row.words = analyses::saturating_add(row.words, charged.words);
        }
    }
    std::vector<Row> all;
    for (const auto& [key, row] : rows) all.push_back(row);
    const auto name = [&snapshot](const Row& row) {
        const Function f = row.function == FunctionId::none ? Function{} : snapshot.functions[row.function];
        return std::tuple(row.function == FunctionId::none, snapshot.text(f.module), snapshot.text(f.name), f.arity);
    };
    std::stable_sort(all.begin(), all.end(), [&name](const Row& a, const Row& b) {
        if (a.words != b.words) return a.words > b.words;
        return a.process != b.process ? index_of(a.process) < index_of(b.process) : name(a) < name(b);
    });
    return all;
}

present::Table profile_table(const present::Names& names, std::vector<Row> rows, std::uint64_t total,
                             bool per_process) {
    const Snapshot& s = names.snapshot();
    const auto part = [&names, &s](const Row& r, int which) {
        if (r.function == FunctionId::none) return which == 0 ? Value(place_name(r.place)) : Value();
        const Function& f = s.functions[r.function];
        if (which == 2) return Value(f.arity);
        return present::cells::bare(names, which == 0 ? f.module : f.name);
    };
    std::vector<ColumnOf<Row>> columns;
    if (per_process)
        columns.push_back({{.name = "pid", .title = "PID", .doc = "the process"},
                           [&names, &s](const Row& r) { return present::cells::pid(names, s[r.process].pid); }});
    const std::vector<ColumnOf<Row>> rest{
        {{.name = "module", .title = "MODULE", .doc = "or (dictionary), (messages), (other)", .content = Content::name},
         [=](const Row& r) { return part(r, 0); }},
        {{.name = "function", .title = "FUNCTION", .doc = "whose frame holds the words", .content = Content::name},
         [=](const Row& r) { return part(r, 1); }},
        {{.name = "arity", .title = "ARITY", .unit = Unit::count, .doc = "of the function"},
         [=](const Row& r) { return part(r, 2); }},
        {{.name = "frames", .title = "FRAMES", .unit = Unit::count, .doc = "frames of it that hold words"},
         [](const Row& r) { return r.function == FunctionId::none ? Value() : Value(r.frames); }},
        {{.name = "words", .title = "WORDS", .unit = Unit::words, .doc = "live words charged to it"},
         [](const Row& r) { return Value(r.words); }},
        {{.name = "words_per_frame", .title = "PER FRAME", .unit = Unit::words, .doc = "words / frames"},
         [](const Row& r) { return r.frames == 0 ? Value() : Value(r.words / r.frames); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of all live words that were selected"},
         [=](const Row& r) { return present::cells::percent(analyses::percent_of(Count(r.words), Count(total))); }},
    };
    columns.insert(columns.end(), rest.begin(), rest.end());
    return present::table_of(std::move(columns), std::move(rows), "no live words");
}

}  // namespace

static Status cmd_profile(const Context& context) {
    const Options& options = context.options();
    analyses::FunctionPattern pattern;
    if (!options.pattern.empty()) {
        BH_TRY(pattern, analyses::parse_function_pattern(options.pattern));
    }
    if (options.traced) return show_traced(context, pattern);
    analyses::HeapStats stats(options.threads, {.frames = true});
    LoadPlan plan;
    plan.stacks = true;
    BH_CHECK(context.plan_for_selector(plan));
    stats.demand(plan);
    plan.binaries = false;
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    stats.store(*artifact);
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(const std::vector<ProcId> selected, context.selected(snapshot));
    std::vector<bool> wanted(snapshot.processes.size());
    for (const ProcId id : selected) wanted[index_of(id)] = true;

    std::vector<Row> rows = rows_of(snapshot, stats, wanted, options.per_process);
    std::uint64_t total = 0;
    for (const Row& row : rows) total = analyses::saturating_add(total, row.words);
    if (!options.pattern.empty()) {
        std::erase_if(rows, [&](const Row& row) {
            return row.function == FunctionId::none || !analyses::matches(pattern, snapshot, row.function);
        });
        if (rows.empty())
            return Error{
                ErrorCode::usage,
                fmt::format("--pattern {}: no frame of such a function holds live words", options.pattern),
                "Patterns are M:F/A, M:F or M, with * and _; beamheap stacks shows which functions there are."};
    }
    const present::Names names = context.names(snapshot);
    present::Document document = context.document(snapshot);
    document.lead = {present::spell(analyses::sentence(
        "{} live words of {}, each charged to the youngest frame that reaches it. FRAMES counts frames that hold words "
        "now, where hprof counts calls.",
        analyses::Amount{total}, analyses::Counted{selected.size(), "process", "processes"}))};
    if (stats.message_fragment_words() != 0 && selected.size() == snapshot.processes.size())
        document.lead.push_back(
            present::spell(analyses::sentence("{} more words are messages outside of the heaps.",
                                              analyses::Amount{stats.message_fragment_words()})));
    document.members.push_back(
        {.key = "rows", .body = profile_table(names, std::move(rows), total, options.per_process)});
    document.members.push_back({.key = "total_words", .body = Value(total), .in_text = false});
    document.members.push_back(
        {.key = "message_fragment_words", .body = Value(stats.message_fragment_words()), .in_text = false});
    return context.print(document, snapshot, {}, "words");
}

BH_DEFINE_VERB(profile){
    .name = "profile",
    .arguments = {argument::input},
    .options = "--pattern --traced --per-process --procs",
    .summary = "words held now, by the function whose frame holds them",
    .details = "Each live word is charged once: to the youngest frame that reaches it, else to (dictionary) or (messages).",
    .examples = "profile core.4711 --traced\nprofile erl_crash.dump\nprofile erl_crash.dump --per-process --pattern "
                "gen_server:loop",
    .run = &cmd_profile,
};

}  // namespace beamheap::cli
