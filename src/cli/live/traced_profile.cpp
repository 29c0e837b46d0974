// SPDX-License-Identifier: Apache-2.0
#include "cli/live/traced_profile.hpp"

#include <fmt/format.h>

#include "analyses/base/sum.hpp"
#include "analyses/facts/needs.hpp"
#include "analyses/processes/traced_profile.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

using analyses::TracedRow;
using present::Columns;
using present::Content;
using present::Unit;
using present::Value;

present::Table traced_table(const present::Names& names, analyses::TracedProfile profile, bool per_process) {
    const Snapshot& s = names.snapshot();
    Count TracedRow::*const measure = profile.measure;
    const Count total = profile.total;
    Columns<TracedRow> columns;
    if (per_process)
        columns.add(
            {{.name = "pid", .title = "PID", .doc = "the process; null where calls alone were counted"},
             [&names](const TracedRow& r) { return r.pid.has() ? present::cells::pid(names, r.pid) : Value(); }});
    const Columns<TracedRow> rest{
        {{.name = "module", .title = "MODULE", .doc = "of the function", .content = Content::name},
         [&names, &s](const TracedRow& r) { return present::cells::bare(names, s.functions[r.function].module); }},
        {{.name = "function", .title = "FUNCTION", .doc = "that is traced", .content = Content::name},
         [&names, &s](const TracedRow& r) { return present::cells::bare(names, s.functions[r.function].name); }},
        {{.name = "arity", .title = "ARITY", .unit = Unit::count, .doc = "of the function"},
         [&s](const TracedRow& r) { return Value(s.functions[r.function].arity); }},
        {{.name = "calls", .title = "CALLS", .unit = Unit::count, .doc = "since tracing began, or was reset"},
         [](const TracedRow& r) { return Value(r.calls); }},
        {{.name = "allocated_words",
          .title = "WORDS",
          .unit = Unit::words,
          .doc = "call_memory: allocated in it; null if not on"},
         [](const TracedRow& r) { return Value(r.words); }},
        {{.name = "words_per_call", .title = "PER CALL", .unit = Unit::words, .doc = "allocated_words / calls"},
         [](const TracedRow& r) {
             return r.words.has() && r.calls.value_or(0) != 0 ? Value(*r.words / *r.calls) : Value();
         }},
        {{.name = "time_ns", .title = "TIME ns", .unit = Unit::count, .doc = "call_time: spent in it; null if not on"},
         [](const TracedRow& r) { return Value(r.time); }},
        {{.name = "percent",
          .title = "%",
          .unit = Unit::percent,
          .doc = "of all words, else of all time, else of all calls"},
         [=](const TracedRow& r) { return present::cells::percent(analyses::percent_of(r.*measure, total)); }},
        {{.name = "session",
          .title = "SESSION",
          .doc = "trace session (OTP 27 and later)",
          .content = Content::name,
          .wide = !profile.sessions},
         [&names](const TracedRow& r) { return present::cells::bare(names, r.session); }},
    };
    columns.insert(columns.end(), rest.begin(), rest.end());
    return present::table_of(std::move(columns), std::move(profile.rows), "no function was traced");
}

}  // namespace

Status show_traced(const Context& context, const analyses::FunctionPattern& pattern) {
    const Options& options = context.options();
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open({analyses::need::processes}));
    BH_TRY(const std::vector<TracedFunction> traced, artifact->traced());
    const Snapshot& snapshot = artifact->snapshot();
    analyses::TracedProfile profile = analyses::traced_profile(traced, options.per_process, [&](FunctionId function) {
        return options.pattern.empty() || analyses::matches(pattern, snapshot, function);
    });
    if (profile.rows.empty() && !options.pattern.empty())
        return Error{ErrorCode::usage, fmt::format("--pattern {}: no such function was traced", options.pattern),
                     "Without --pattern all traced functions are shown."};
    const present::Names names = context.names(snapshot);
    present::Document document = context.document(snapshot);
    document.lead = {present::spell(
        profile.functions == 0
            ? analyses::sentence("No function is traced with counters: tprof, or erlang:trace_pattern/3 with "
                                 "call_count, call_time or call_memory, begins that in the VM.")
            : analyses::sentence("{} with counters. What calls under way had spent is not counted yet.",
                                 analyses::Counted{profile.functions, "traced function", "traced functions"}))};
    document.members.push_back({.key = "rows", .body = traced_table(names, std::move(profile), options.per_process)});
    return context.print(document, snapshot);
}

}  // namespace beamheap::cli
