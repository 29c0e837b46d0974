// SPDX-License-Identifier: Apache-2.0
// schedulers: what each was doing at the instant of the crash, and who waited to run; of cores, native stacks.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "analyses/facts/needs.hpp"
#include "analyses/processes/answers.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/native_stacks.hpp"
#include "cli/frame/commands.hpp"
#include "cli/live/sampling.hpp"
#include "formats/format.hpp"
#include "present/native.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {
namespace {

using ActivityRow = const SchedulerActivity*;

constexpr auto usual_interval = std::chrono::milliseconds(1000);

std::string_view kind_name(Scheduler::Kind kind) {
    return kind == Scheduler::Kind::normal ? "normal" : kind == Scheduler::Kind::dirty_cpu ? "dirty_cpu" : "dirty_io";
}

present::Table activity_table(const Activity& activity) {
    using present::Unit, present::Value;
    std::vector<ActivityRow> rows;
    for (const SchedulerActivity& each : activity.schedulers) rows.push_back(&each);
    const double ns = activity.seconds * 1e9;
    const auto percent = [](double part) { return std::round(part * 1000) / 10; };
    const auto share = [ns, percent](const Count& part) {
        return part.has() && ns > 0 ? Value(percent(static_cast<double>(*part) / ns)) : Value();
    };
    present::Columns<ActivityRow> columns{
        {{.name = "id", .title = "ID", .doc = "of the scheduler"}, [](const ActivityRow& r) { return Value(r->id); }},
        {{.name = "kind", .title = "KIND", .doc = "normal dirty_cpu dirty_io"},
         [](const ActivityRow& r) { return Value(kind_name(r->kind)); }},
        {{.name = "busy_percent", .title = "BUSY %", .unit = Unit::percent, .doc = "of the time that it worked"},
         [percent](const ActivityRow& r) { return Value(percent(r->busy)); }},
        {{.name = "measured_by",
          .title = "BY",
          .doc = "counters: the VM's scheduler_wall_time; polls: how often it had a process in hand"},
         [](const ActivityRow& r) { return Value(r->by_counters ? "counters" : "polls"); }},
        {{.name = "queue_mean", .title = "QUEUE", .doc = "processes that waited to run there, on an average"},
         [](const ActivityRow& r) {
             return r->longest_queue.has() ? Value(std::round(r->mean_queue * 100) / 100) : Value();
         }},
        {{.name = "queue_max", .title = "LONGEST", .unit = Unit::count, .doc = "the most that were seen", .lesser = 1},
         [](const ActivityRow& r) { return Value(r->longest_queue); }},
        {{.name = "context_switches",
          .title = "SWITCHES",
          .unit = Unit::count,
          .doc = "processes that it took in hand"},
         [](const ActivityRow& r) { return Value(r->switches); }},
        {{.name = "reductions", .title = "REDUCTIONS", .unit = Unit::count, .doc = "that its run queue counted"},
         [](const ActivityRow& r) { return Value(r->reductions); }},
        {{.name = "cpu_percent",
          .title = "CPU %",
          .unit = Unit::percent,
          .doc = "of the time that its thread was on a CPU, waiting busily included"},
         [share](const ActivityRow& r) { return share(r->cpu_ns); }},
        {{.name = "without_cpu_percent",
          .title = "NO CPU %",
          .unit = Unit::percent,
          .doc = "of the time that its thread was ready to run and had no CPU"},
         [share](const ActivityRow& r) { return share(r->waited_ns); }},
    };
    return present::table_of(std::move(columns), std::move(rows), "no scheduler");
}

void add_activity(const Activity& activity, present::Document& document) {
    document.members.push_back({.key = "activity",
                                .title = fmt::format("What they did in {:.2f} s", activity.seconds),
                                .body = activity_table(activity)});
    document.members.push_back(
        {.key = "interval",
         .title = "Interval",
         .body = present::Value(present::Object{{"seconds", std::round(activity.seconds * 1000) / 1000},
                                                {"polls", activity.polls},
                                                {"processes_moved", activity.moved},
                                                {"vm_ended", activity.ended}})});
}

}  // namespace

static Status cmd_schedulers(const Context& context) {
    std::chrono::milliseconds interval = usual_interval;
    if (!context.options().duration.empty()) {
        BH_TRY(const double seconds, parse_seconds(context.options().duration));
        interval = std::chrono::milliseconds(std::max<std::int64_t>(1, std::llround(seconds * 1000)));
    }
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open({analyses::need::schedulers}));
    const Snapshot& snapshot = artifact->snapshot();
    if (!snapshot.source.live && !context.options().duration.empty())
        return Error{ErrorCode::not_held,
                     fmt::format("{}: is of one instant, and --for asks what a running VM does", context.argument(0)),
                     {}};
    std::optional<Activity> activity;  // lives as long as the document that shows it
    const analyses::SchedulerReport report = analyses::schedulers(snapshot);
    present::Document document = context.document(snapshot);
    document.lead = {context.lead(*artifact, analyses::schedulers_answer(snapshot, report))};
    if (const analyses::Sentence idle = analyses::idle_schedulers(report); !idle.empty())
        document.lead.push_back(present::spell(context.names(snapshot), idle));
    document.members.push_back(
        {.key = "rows",
         .body = present::scheduler_table(
             context.names(snapshot),
             context.shown_to_people() ? present::Places::beside_functions : present::Places::apart,
             context.identify(*artifact), context.folds() ? std::optional(report.busy) : std::nullopt)});
    document.members.push_back({.key = "totals",
                                .title = "All schedulers",
                                .body = present::Value(present::Object{{"normal", report.normal},
                                                                       {"busy_normal", report.busy_normal},
                                                                       {"dirty_cpu", report.dirty_cpu},
                                                                       {"busy_dirty_cpu", report.busy_dirty_cpu},
                                                                       {"dirty_io", report.dirty_io},
                                                                       {"busy_dirty_io", report.busy_dirty_io},
                                                                       {"queued", present::cells::sum(report.queued)},
                                                                       {"longest_queue", report.longest_queue},
                                                                       {"crashed", report.crashed}}),
                                .in_text = false});
    BH_TRY(const std::optional<NativeThreads> native, if_held(artifact->native_threads()));
    std::vector<analyses::ThreadGroup> threads;
    if (native) {
        threads = analyses::group_threads(*native);
        document.members.push_back({.key = "threads",
                                    .title = "Threads and their native stacks",
                                    .body = present::thread_table(context.names(snapshot), *native, threads)});
        present::Array missing;
        for (const std::string& file : native->missing) missing.emplace_back(file);
        document.members.push_back({.key = "not_unwound",
                                    .title = "Files whose code could not be unwound",
                                    .body = present::Value(std::move(missing)),
                                    .in_text = !native->missing.empty()});
    }
    if (snapshot.source.live) {
        BH_TRY(activity, measure_activity(context.argument(0), attach_options(context), interval));
        add_activity(*activity, document);
    }
    document.primary = "rows";
    return context.print(document, snapshot);
}

BH_DEFINE_VERB(schedulers){
    .name = "schedulers",
    .arguments = {argument::input},
    .options = "--for --no-fold",
    .summary = "schedulers, run queues, and who was running",
    .details =
        "Of a running VM it watches them for a second, or as long as --for says: how much of the time each worked, its "
        "run queue, context\n"
        "switches, reductions, and the time that its thread was ready to run and had no CPU. In text dirty schedulers "
        "that\n"
        "ran nothing have a row with --no-fold alone.",
    .examples = "schedulers erl_crash.dump\nschedulers 1234 --for 10s",
    .run = &cmd_schedulers,
};

}  // namespace beamheap::cli
