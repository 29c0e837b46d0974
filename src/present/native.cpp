// SPDX-License-Identifier: Apache-2.0
#include "present/native.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "present/table_cells.hpp"

namespace beamheap::present {
namespace {

using namespace cells;

std::string thread_name(const NativeThread& thread) {
    return thread.role.empty() ? fmt::format("thread {}", thread.id) : thread.role;
}

Array frame_array(const NativeThread& thread) {
    Array frames;
    for (const NativeFrame& frame : thread.frames) frames.emplace_back(analyses::frame_text(frame));
    if (!thread.end.empty()) frames.emplace_back(fmt::format("({})", thread.end));
    return frames;
}

Array thread_array(const NativeThreads& native, const std::vector<std::uint32_t>& threads) {
    Array names;
    for (const std::uint32_t each : threads) names.emplace_back(thread_name(native.threads[each]));
    return names;
}

}  // namespace

Table thread_table(const Names& names, const NativeThreads& native, const std::vector<analyses::ThreadGroup>& groups) {
    const Snapshot& s = names.snapshot();
    using Row = const analyses::ThreadGroup*;
    std::vector<Row> rows;
    for (const analyses::ThreadGroup& group : groups) rows.push_back(&group);
    const auto first = [&native](Row row) -> const NativeThread& { return native.threads[row->threads.front()]; };
    Columns<Row> columns{
        {{.name = "count", .title = "THREADS", .unit = Unit::count, .doc = "with this stack"},
         [](const Row& r) { return Value(static_cast<std::uint64_t>(r->threads.size())); }},
        {{.name = "example", .title = "EXAMPLE", .doc = "the first of them"},
         [=](const Row& r) { return Value(thread_name(first(r))); }},
        {{.name = "threads", .title = "ALL", .doc = "schedulers by number, others by the kernel's id", .wide = true},
         [&native](const Row& r) { return Value(thread_array(native, r->threads)); }},
        {{.name = "ids", .title = "IDS", .doc = "the kernel's ids of them", .wide = true},
         [&native](const Row& r) {
             Array ids;
             for (const std::uint32_t each : r->threads) ids.emplace_back(native.threads[each].id);
             return Value(std::move(ids));
         }},
        {{.name = "signal", .title = "SIGNAL", .doc = "number of the signal that it was taking"},
         [=](const Row& r) { return first(r).signal == 0 ? Value() : Value(first(r).signal); }},
        {{.name = "pid", .title = "PROCESS", .doc = "that its scheduler had taken on"},
         [=, &s](const Row& r) { return r->process == ProcId::none ? Value() : pid(names, s[r->process].pid); }},
        {{.name = "erlang_function", .title = "ERLANG FUNCTION", .doc = "of that process", .content = Content::name},
         [=, &s](const Row& r) { return function(names, analyses::erlang_function(s, first(r))); }},
        {{.name = "frames", .title = "NATIVE STACK", .doc = "frames, youngest first", .below = true},
         [=](const Row& r) { return Value(frame_array(first(r))); }},
    };
    return table_of(std::move(columns), std::move(rows), "no thread in this input");
}

Table blame_table(const Names& names, const NativeThreads& native, const analyses::Blame& blame) {
    const Snapshot& s = names.snapshot();
    using Row = const analyses::BlameGroup*;
    std::vector<Row> rows;
    for (const analyses::BlameGroup& group : blame.groups) rows.push_back(&group);
    const std::uint64_t all = blame.threads;
    const auto first = [&native](Row row) -> const NativeThread& { return native.threads[row->threads.front()]; };
    const auto place_of = [names, first, &s](Row row) {
        const ProcId process = first(row).process;
        if (process == ProcId::none) return std::string();
        for (const Frame& frame : s.stacks[s[process].stack])
            if (frame.function == row->function) return names.place(frame);
        return std::string();
    };
    const bool any_place = std::ranges::any_of(rows, [&](Row row) { return !place_of(row).empty(); });
    Columns<Row> columns{
        {{.name = "erlang_function",
          .title = "ERLANG FUNCTION",
          .doc = "that the threads worked for; null: for no process",
          .content = Content::name},
         [=](const Row& r) { return function(names, r->function); }},
        {{.name = "source_place",
          .title = "AT",
          .doc = "file and line at which the first of them is in it",
          .content = Content::name,
          .wide = !any_place},
         [=](const Row& r) {
             const std::string place = place_of(r);
             return place.empty() ? Value() : Value(place);
         }},
        {{.name = "count", .title = "THREADS", .unit = Unit::count, .doc = "threads"},
         [](const Row& r) { return Value(static_cast<std::uint64_t>(r->threads.size())); }},
        {{.name = "percent",
          .title = "%",
          .unit = Unit::percent,
          .doc = "of the threads that hold the native function"},
         [all](const Row& r) {
             return percent(100.0 * static_cast<double>(r->threads.size()) / static_cast<double>(all));
         }},
        {{.name = "threads", .title = "ALL", .doc = "schedulers by number, others by the kernel's id", .wide = true},
         [&native](const Row& r) { return Value(thread_array(native, r->threads)); }},
        {{.name = "example_pid", .title = "EXAMPLE", .doc = "process of the first of them"},
         [=, &s](const Row& r) {
             const ProcId process = first(r).process;
             return process == ProcId::none ? Value() : pid(names, s[process].pid);
         }},
        {{.name = "frames", .title = "NATIVE STACK", .doc = "of the first of them, youngest first", .below = true},
         [=](const Row& r) { return Value(frame_array(first(r))); }},
    };
    return table_of(std::move(columns), std::move(rows), "no thread has this function on its native stack");
}

Table sample_table(const std::vector<analyses::SampleGroup>& groups, const std::vector<std::string>& inputs) {
    using Row = const analyses::SampleGroup*;
    std::vector<Row> rows;
    for (const analyses::SampleGroup& group : groups) rows.push_back(&group);
    Columns<Row> columns{
        {{.name = "count", .title = "COUNT", .unit = Unit::count, .doc = "processes that ran this"},
         [](const Row& r) { return Value(r->count); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of all that ran"},
         [](const Row& r) { return percent(r->percent); }},
        {{.name = "native_function",
          .title = "IN",
          .doc = "youngest native function with a name; null: in Erlang code, or not in the input"},
         [](const Row& r) { return text(std::string_view(r->example.native)); }},
        {{.name = "functions",
          .title = "STACK",
          .doc = "Erlang frames, youngest first",
          .content = Content::name,
          .below = true},
         [](const Row& r) {
             Array frames;
             for (const std::string& each : r->example.functions) frames.emplace_back(each);
             return Value(std::move(frames));
         }},
        {{.name = "example_pid", .title = "EXAMPLE", .doc = "a process that ran it"},
         [](const Row& r) { return Value(std::string_view(r->example.pid)); }},
        {{.name = "inputs", .title = "INPUTS", .doc = "in which it was seen", .wide = true},
         [&inputs](const Row& r) {
             Array names;
             for (const std::uint32_t each : r->inputs) names.emplace_back(inputs[each]);
             return Value(std::move(names));
         }},
    };
    return table_of(std::move(columns), std::move(rows), "nothing ran");
}

}  // namespace beamheap::present
