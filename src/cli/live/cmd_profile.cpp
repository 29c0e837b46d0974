// SPDX-License-Identifier: Apache-2.0
// profile: words held now, by the function whose frame holds them, in the shape of hprof's table.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/base/sum.hpp"
#include "analyses/diagnosis/function_words.hpp"
#include "analyses/facts/heap_stats.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/selectors/selectors.hpp"
#include "cli/frame/commands.hpp"
#include "cli/live/traced_profile.hpp"
#include "present/spelling.hpp"
#include "present/tables_heaps.hpp"
#include "present/tables_terms.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

using analyses::FunctionWords;
using analyses::PlaceWords;
using present::Value;

}  // namespace

static Status cmd_profile(const Context& context) {
    const Options& options = context.options();
    analyses::FunctionPattern pattern;
    if (!options.pattern.empty()) {
        BH_TRY(pattern, analyses::parse_function_pattern(options.pattern));
    }
    if (options.traced) return show_traced(context, pattern);
    analyses::HeapStats stats(options.threads, {.frames = true, .binary_sizes = false});
    LoadPlan plan{analyses::need::stacks};
    BH_CHECK(context.plan_for_selector(plan));
    const analyses::HeapStats* const gathered = context.gathered();
    if (gathered == nullptr) stats.demand(plan);
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(plan));
    if (gathered == nullptr) stats.store(*artifact);
    const analyses::HeapStats& heaps = gathered == nullptr ? stats : *gathered;
    const Snapshot& snapshot = artifact->snapshot();
    BH_TRY(const std::vector<bool> wanted, context.wanted(snapshot));
    const auto selected = static_cast<std::uint64_t>(std::count(wanted.begin(), wanted.end(), true));
    std::vector<FunctionWords> rows = analyses::function_words(snapshot, heaps.frames(), wanted, options.per_process);
    std::uint64_t total = 0;
    for (const FunctionWords& row : rows) total = analyses::saturating_add(total, row.words);
    if (!options.pattern.empty()) {
        std::erase_if(rows, [&](const FunctionWords& row) {
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
    const FunctionWords* most = rows.empty() ? nullptr : &*std::ranges::max_element(rows, {}, &FunctionWords::words);
    analyses::Sentence answer = analyses::sentence("{} live words of {}", analyses::Amount{total},
                                                   analyses::Counted{selected, "process", "processes"});
    if (most != nullptr && most->words != 0)
        answer.say("; most, {} ({}), {} {}", analyses::Amount{most->words},
                   analyses::Percent{100.0 * static_cast<double>(most->words) /
                                     static_cast<double>(std::max<std::uint64_t>(total, 1))},
                   most->function == FunctionId::none ? analyses::Ours("are of") : analyses::Ours("are held by"),
                   most->function != FunctionId::none      ? analyses::sentence("{}", most->function)
                   : most->place == PlaceWords::dictionary ? analyses::Sentence(analyses::Ours("dictionaries"))
                   : most->place == PlaceWords::messages   ? analyses::Sentence(analyses::Ours("messages"))
                                                           : analyses::Sentence(analyses::Ours("other roots")));
    answer.say(".");
    document.lead = {
        present::spell(names, answer),
        present::spell(analyses::Ours("Each is charged to the youngest frame that reaches it. FRAMES counts "
                                      "frames that hold words now, where hprof counts calls."))};
    if (heaps.message_fragment_words() != 0 && selected == snapshot.processes.size())
        document.lead.push_back(present::spell(analyses::sentence("{} more words are messages outside of the heaps.",
                                                                  analyses::Amount{heaps.message_fragment_words()})));
    document.members.push_back(
        {.key = "rows", .body = present::profile_table(names, std::move(rows), total, options.per_process)});
    document.members.push_back({.key = "total_words", .body = Value(total), .in_text = false});
    document.members.push_back(
        {.key = "message_fragment_words", .body = Value(heaps.message_fragment_words()), .in_text = false});
    // Kinds are counted over all heaps.
    if (selected == snapshot.processes.size() && options.pattern.empty() && !options.per_process)
        document.members.push_back(
            {.key = "kinds", .title = "By kind of object", .body = present::histogram_table(heaps.histogram().rows())});
    return context.print(document, snapshot, {}, "words");
}

BH_DEFINE_VERB(profile){
    .name = "profile",
    .arguments = {argument::input},
    .options = "--pattern --traced --per-process --procs",
    .summary = "words held now, by the function whose frame holds them",
    .details =
        "Each live word is charged once: to the youngest frame that reaches it, else to (dictionary) or (messages).",
    .examples =
        "profile core.4711 --traced\nprofile erl_crash.dump\nprofile erl_crash.dump --per-process --pattern "
        "gen_server:loop",
    .run = &cmd_profile,
};

}  // namespace beamheap::cli
