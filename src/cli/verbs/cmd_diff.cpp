// SPDX-License-Identifier: Apache-2.0
// diff: what grew between two inputs, largest growth first; with --fail-on, a gate on growth.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "analyses/base/printed_time.hpp"
#include "analyses/diagnosis/diagnose.hpp"
#include "analyses/diagnosis/diff.hpp"
#include "analyses/diagnosis/moment_figures.hpp"
#include "analyses/facts/needs.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/secrets.hpp"
#include "cli/live/sampling.hpp"
#include "present/describe.hpp"
#include "present/diff.hpp"
#include "present/spelling.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

struct Side {
    std::shared_ptr<Artifact> artifact;
    analyses::Diagnosis diagnosis;  ///< of the first and the last
};

Result<Side> load(const Context& context, const std::string& path, bool judged = true) {
    LoadPlan plan;
    analyses::Diagnoser diagnoser({.threads = context.options().threads, .sizes = context.options().full});
    diagnoser.demand(plan);
    plan |= analyses::need::binary_sizes;
    plan_for_secrets(plan, plan.terms_of);
    Side side;
    BH_TRY(side.artifact, context.open(path, plan));
    if (judged) {
        BH_TRY(side.diagnosis, diagnoser.judge(*side.artifact));
    }
    return side;
}

analyses::Amount figure(const analyses::Growth& row, std::uint64_t value) {
    return {value, row.bytes ? analyses::AmountUnit::bytes : analyses::AmountUnit::count};
}

// "process lager_event: messages grew from 0 to 12,003".
analyses::Sentence growth_sentence(const analyses::Growth& row, present::Syntax syntax) {
    using Holds = analyses::InputText::Holds;
    const auto words = [](std::string_view name) {
        analyses::InputText text{std::string(name), Holds::vm};
        std::ranges::replace(text.text, '_', ' ');
        return text;
    };
    const analyses::InputText measure = words(row.measure);
    analyses::Sentence sentence = analyses::sentence("{}", words(analyses::name_of(row.what)));
    if (row.key != measure.text && row.key != row.measure)
        sentence.say(" {}", analyses::InputText{present::key_text(row, syntax), Holds::name});
    sentence.say(": {} grew from {}", measure, figure(row, *row.before));
    for (std::size_t i = 0; row.steady && i < row.between.size(); ++i) {
        if (i == 0) sentence.say(" through {}", figure(row, *row.between[i]));
        else sentence.say(" and {}", figure(row, *row.between[i]));
    }
    sentence.say(" to {}", figure(row, *row.after));
    return sentence;
}

analyses::Sentence most_growth(const analyses::Growth& row, present::Syntax syntax) {
    const analyses::Sentence growth = growth_sentence(row, syntax);
    if (row.between.empty()) return analyses::sentence("Most growth: {}.", growth);
    if (row.steady) return analyses::sentence("Grows from each input to the next: {}.", growth);
    return analyses::sentence("Nothing large grows from each input to the next. Most growth: {}.", growth);
}

// Names of files are often sorted by their letters, which is no order of time.
void say_order(const std::vector<const Snapshot*>& snapshots, present::Document& document) {
    for (std::size_t i = 1; i < snapshots.size(); ++i) {
        auto earlier = analyses::printed_time(snapshots[i - 1]->node.created);
        auto later = analyses::printed_time(snapshots[i]->node.created);
        if (!earlier || !later || std::mktime(&*later) >= std::mktime(&*earlier)) continue;
        document.lead.push_back(present::Text{}
                                    .add(snapshots[i]->source.path, present::Content::message)
                                    .add(" was written before ")
                                    .add(snapshots[i - 1]->source.path, present::Content::message)
                                    .add(", which is named first: what grew between them is said to have shrunk."));
        return;
    }
}

// Two inputs or more, or a running VM and how long it is given.
Status names_inputs(const Context& context) {
    const Options& options = context.options();
    const bool two = options.inputs.size() >= 2;
    if (std::ranges::count(options.inputs, "-") > 1)
        return Error{ErrorCode::usage, "standard input can be one of the inputs, not two of them", {}};
    if (two && !options.duration.empty())
        return Error{
            ErrorCode::usage, "diff: --for is for two moments of one running VM, and here are several inputs", {}};
    if (two || !options.duration.empty()) return ok();
    return Error{ErrorCode::usage, "diff needs a second input, or how long a running VM is to be watched",
                 fmt::format("beamheap diff {} --for 30s", present::shell_word(context.argument(0)))};
}

// All inputs, or a running VM twice.
Result<std::vector<Side>> sides_of(const Context& context) {
    BH_CHECK(names_inputs(context));
    const Options& options = context.options();
    std::vector<Side> sides;
    for (std::size_t i = 0; i < options.inputs.size(); ++i) {
        BH_TRY(Side side, load(context, options.inputs[i], i == 0 || i + 1 == options.inputs.size()));
        sides.push_back(std::move(side));
    }
    if (options.duration.empty()) return sides;
    BH_TRY(const double seconds, parse_seconds(options.duration));
    if (!sides.front().artifact->snapshot().source.live)
        return Error{
            ErrorCode::not_held,
            fmt::format("{}: is of one instant, and --for asks for two moments of a running VM", context.argument(0)),
            "Name a second input, and leave --for out."};
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    BH_TRY(Side later, load(context, options.inputs.front()));
    sides.push_back(std::move(later));
    return sides;
}

// What is over the limits of --fail-on, a text each.
Result<std::vector<present::Text>> failures_of(const analyses::FailOn& fail_on,
                                               const std::vector<analyses::Growth>& rows,
                                               const std::vector<analyses::ChangedFinding>& findings,
                                               const present::Names& names) {
    std::vector<present::Text> broken;
    for (const analyses::Limit& limit : fail_on.limits) {
        BH_TRY(const std::vector<const analyses::Growth*> over, analyses::over_limit(limit, rows));
        for (const analyses::Growth* row : over)
            broken.push_back(
                present::Text{}.add(limit.text + ": ").add(present::spell(growth_sentence(*row, names.syntax()))));
    }
    if (fail_on.severity)
        for (const analyses::ChangedFinding& each : findings)
            if (each.change == analyses::FindingChange::added && each.finding->severity >= *fail_on.severity)
                broken.push_back(present::Text{}
                                     .add(fmt::format("{}: ", analyses::name_of(each.finding->severity)))
                                     .add(present::spell(names, each.finding->title)));
    return broken;
}

void add_sources(const std::vector<const Snapshot*>& snapshots, present::Document& document) {
    for (const Snapshot* snapshot : snapshots) {
        document.sources.push_back(present::source_of(*snapshot));
        for (present::Warning& warning : present::warnings_of(*snapshot)) {
            warning.text =
                present::Text{}.add(snapshot->source.path, present::Content::message).add(": ").add(warning.text);
            document.warnings.push_back(std::move(warning));
        }
    }
}

}  // namespace

static Status cmd_diff(const Context& context) {
    analyses::FailOn fail_on;
    for (const std::string& word : context.options().fail_on) BH_CHECK(analyses::add_fail_on(fail_on, word));
    for (const analyses::Limit& limit : fail_on.limits) {
        const auto compared = analyses::over_limit(limit, {});
        if (!compared) return compared.error();
    }
    BH_TRY(const std::vector<Side> sides, sides_of(context));
    std::vector<const Snapshot*> snapshots;
    std::vector<std::string> secrets;
    for (const Side& side : sides) {
        snapshots.push_back(&side.artifact->snapshot());
        for (std::string& secret : known_secrets(*side.artifact)) secrets.push_back(std::move(secret));
    }
    std::vector<analyses::Figures> between;
    for (std::size_t i = 1; i + 1 < snapshots.size(); ++i) between.push_back(analyses::figures_of(*snapshots[i], {}));
    const std::vector<analyses::Growth> rows = analyses::diff(*snapshots.front(), between, *snapshots.back());
    const std::vector<analyses::ChangedFinding> findings =
        analyses::diff_findings(sides.front().diagnosis.findings, sides.back().diagnosis.findings);
    const present::Names names_before = context.names(*snapshots.front());
    const present::Names names_after = context.names(*snapshots.back());
    BH_TRY(const std::vector<present::Text> broken, failures_of(fail_on, rows, findings, names_after));

    present::Document document;
    document.kind = "diff";
    add_sources(snapshots, document);
    if (!rows.empty() && rows.front().delta.value_or(0) > 0)
        document.lead.push_back(present::spell(most_growth(rows.front(), names_after.syntax())));
    else document.lead.push_back(present::spell(analyses::Ours("Nothing grew.")));
    say_order(snapshots, document);
    document.members.push_back({.key = "rows", .body = present::growth_table(rows, names_after.syntax())});
    document.members.push_back({.key = "findings",
                                .title = "Findings",
                                .body = present::changed_finding_table(names_before, names_after, findings),
                                .in_text = !findings.empty()});
    present::Array failures;
    for (const present::Text& each : broken) failures.emplace_back(each);
    document.members.push_back({.key = "failures",
                                .title = "Over the limits",
                                .body = present::Value(std::move(failures)),
                                .content = present::Content::message});
    document.primary = "rows";
    BH_CHECK(context.print(document, snapshots, std::move(secrets)));
    if (broken.empty()) return ok();
    return Error{ErrorCode::findings,
                 fmt::format("{} over the limits of --fail-on", present::counted(broken.size(), "growth", "growths")),
                 {}};
}

BH_DEFINE_VERB(diff){
    .name = "diff",
    .arguments = {Argument{"A", ArgumentKind::input}, repeated(optional({"B", ArgumentKind::input}))},
    .options = "--fail-on --for",
    .summary = "what grew from one input to another, or from each to the next",
    .details =
        "Of several inputs, in the order of time, the first is compared with the last, and what rose from each to "
        "the next comes first.\n"
        "Nothing is matched by pid: processes by name, else by kind; ETS tables by name and owner; atoms by "
        "family.\n"
        "--fail-on 'msgq>10000' (also total, atoms, processes, 'binary>50%', ...) exits with 1 if that grew by more; "
        "a\n"
        "severity does if there are new findings of it. `diff PID --for 30s` is what grew in a running VM meanwhile, "
        "with rates: there\n"
        "processes without a name are told apart by their pids, and have their work.",
    .examples =
        "diff monday.dump tuesday.dump\ndiff monday.dump tuesday.dump wednesday.dump\ndiff before.core after.core "
        "--fail-on 'total>512MiB' --json\ndiff 4711 --for "
        "30s",
    .alone = true,
    .run = &cmd_diff,
};

}  // namespace beamheap::cli
