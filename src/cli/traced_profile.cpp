#include "cli/traced_profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyses/base/sum.hpp"
#include "present/spelling.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

using present::ColumnOf;
using present::Content;
using present::Unit;
using present::Value;

struct TracedRow {
    FunctionId function = FunctionId::none;
    TextId session = TextId::none;
    Pid pid;  ///< with --per-process
    Count calls, words, time;
};

/// A row for each function, or for each process in it. Counters of calls alone know no processes.
void add_rows(const TracedFunction& traced, bool per_process, std::vector<TracedRow>& rows) {
    if (!per_process) {
        TracedRow row{traced.function, traced.session, {}, traced.calls, {}, {}};
        const auto add = [&row](const std::vector<TracedProcess>& list, Count& amounts) {
            std::uint64_t calls = 0, amount = 0;
            for (const TracedProcess& each : list) {
                calls = analyses::saturating_add(calls, each.calls);
                amount = analyses::saturating_add(amount, each.amount);
            }
            if (!row.calls.has()) row.calls = calls;
            amounts = amount;
        };
        if (traced.measured) add(traced.memory, row.words);
        if (traced.timed) add(traced.time, row.time);
        rows.push_back(row);
        return;
    }
    const std::size_t first = rows.size();
    for (const TracedProcess& each : traced.memory)
        rows.push_back({traced.function, traced.session, each.pid, each.calls, each.amount, {}});
    for (const TracedProcess& each : traced.time) {
        const auto same = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                                       [&each](const TracedRow& row) { return row.pid == each.pid; });
        if (same != rows.end())
            same->time = each.amount;
        else
            rows.push_back({traced.function, traced.session, each.pid, each.calls, {}, each.amount});
    }
    if (rows.size() == first) rows.push_back({traced.function, traced.session, {}, traced.calls, {}, {}});
}

present::Table traced_table(const present::Names& names, std::vector<TracedRow> rows, bool per_process) {
    const Snapshot& s = names.snapshot();
    // Percent is of what the profile is about: words where they were counted, else time, else calls.
    const auto sum = [&rows](Count TracedRow::*member) {
        analyses::Sum all;
        for (const TracedRow& row : rows) all.add(row.*member);
        return all.value();
    };
    const bool words = std::any_of(rows.begin(), rows.end(), [](const TracedRow& r) { return r.words.has(); });
    const bool time = std::any_of(rows.begin(), rows.end(), [](const TracedRow& r) { return r.time.has(); });
    const bool sessions =
        std::any_of(rows.begin(), rows.end(), [&rows](const TracedRow& r) { return r.session != rows.front().session; });
    Count TracedRow::*const measure = words ? &TracedRow::words : time ? &TracedRow::time : &TracedRow::calls;
    const Count total = sum(measure);
    std::vector<ColumnOf<TracedRow>> columns;
    if (per_process)
        columns.push_back(
            {{.name = "pid", .title = "PID", .doc = "the process; null where calls alone were counted"},
             [&names](const TracedRow& r) { return r.pid.has() ? present::cells::pid(names, r.pid) : Value(); }});
    const std::vector<ColumnOf<TracedRow>> rest{
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
         [](const TracedRow& r) { return r.words.has() && r.calls.value_or(0) != 0 ? Value(*r.words / *r.calls) : Value(); }},
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
          .wide = !sessions},
         [&names](const TracedRow& r) { return present::cells::bare(names, r.session); }},
    };
    columns.insert(columns.end(), rest.begin(), rest.end());
    std::stable_sort(rows.begin(), rows.end(), [measure](const TracedRow& a, const TracedRow& b) {
        return (a.*measure).value_or(0) > (b.*measure).value_or(0);
    });
    return present::table_of(std::move(columns), std::move(rows), "no function was traced");
}

}  // namespace

Status show_traced(const Context& context, const analyses::FunctionPattern& pattern) {
    const Options& options = context.options();
    BH_TRY(const std::shared_ptr<Artifact> artifact, context.open(LoadPlan{}));
    BH_TRY(const std::vector<TracedFunction> traced, artifact->traced());
    const Snapshot& snapshot = artifact->snapshot();
    std::vector<TracedRow> rows;
    std::size_t functions = 0;
    for (const TracedFunction& each : traced) {
        if (!options.pattern.empty() && !analyses::matches(pattern, snapshot, each.function)) continue;
        ++functions;
        add_rows(each, options.per_process, rows);
    }
    if (rows.empty() && !options.pattern.empty())
        return Error{ErrorCode::usage, fmt::format("--pattern {}: no such function was traced", options.pattern),
                     "Without --pattern all traced functions are shown."};
    const present::Names names = context.names(snapshot);
    present::Document document = context.document(snapshot);
    document.lead = {present::spell(
        analyses::sentence("{} with counters. What calls under way had spent is not counted yet.",
                           analyses::Counted{functions, "traced function", "traced functions"}))};
    document.members.push_back({.key = "rows", .body = traced_table(names, std::move(rows), options.per_process)});
    return context.print(document, snapshot);
}

}  // namespace beamheap::cli
