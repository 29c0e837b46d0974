// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyses/processes/process_columns.hpp"
#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"
#include "present/units.hpp"

namespace beamheap::present {
namespace {

using namespace cells;

Array function_array(const Names& names, StackId stack, Places places) {
    Array functions;
    for (const Frame& frame : names.snapshot().stacks[stack])
        functions.emplace_back(places == Places::beside_functions ? names.function_at(frame)
                                                                  : names.function(frame.function));
    return functions;
}

Array place_array(const Names& names, StackId stack) {
    Array places;
    for (const Frame& frame : names.snapshot().stacks[stack]) places.push_back(frame_place(names, frame));
    return places;
}

// Of tables of stacks, whose rows are groups or processes.
Column frames_column() {
    return {.name = "functions",
            .title = "STACK",
            .doc = "frames, youngest first",
            .content = Content::name,
            .below = true};
}
Column places_column() {
    return {.name = "places",
            .title = "PLACES",
            .holds = Holds::texts,
            .doc = "of the frames, file and line; null where that is not known",
            .content = Content::name,
            .wide = true};
}

Unit unit_of_measure(analyses::Measure measure) {
    switch (measure) {
        case analyses::Measure::count: return Unit::count;
        case analyses::Measure::bytes: return Unit::bytes;
        case analyses::Measure::words: return Unit::words;
        case analyses::Measure::none: break;
    }
    return Unit::none;
}

// What names a process that has no other name; of one that was spawned with a fun, its spawn call is everybody's.
Value started_as(const Names& names, FunctionId call) {
    if (call == FunctionId::none || has_role(names.snapshot(), call, erlang::FunctionRole::begins_funs)) return {};
    return function(names, call);
}

// How each kind of value is written.
struct ProcessCell {
    const Names& names;
    Value operator()(Count count) const { return count; }
    Value operator()(std::optional<bool> flag) const { return flag ? Value(*flag) : Value(); }
    Value operator()(Pid id) const { return pid(names, id); }
    Value operator()(FunctionId id) const { return function(names, id); }
    Value operator()(ProcessState state) const { return state == ProcessState::unknown ? Value() : name_of(state); }
    Value operator()(RowReading reading) const { return reading == RowReading::whole ? Value() : name_of(reading); }
    Value operator()(analyses::AtomName name) const { return bare(names, name.id); }
    Value operator()(analyses::TermText term) const { return cells::printed(names, term.id); }
    Value operator()(analyses::PlainText words) const { return raw(names, words.id); }
    Value operator()(const analyses::GroupKey& key) const { return text(names.group(key)); }
};

// What of it redaction hides.
struct ProcessContent {
    Content operator()(analyses::AtomName (*)(const Process&)) const { return Content::name; }
    Content operator()(FunctionId (*)(const Process&)) const { return Content::name; }
    Content operator()(analyses::TermText (*)(const Process&)) const { return Content::term; }
    Content operator()(analyses::GroupKey (*)(const Process&)) const { return Content::term; }
    template <class Other>
    Content operator()(Other (*)(const Process&)) const {
        return Content::plain;
    }
};

ColumnOf<ProcId> process_column(const Names& names, const analyses::ProcessColumn& row, const ProcessColumns& show) {
    using analyses::Shown;
    const bool wide = (row.shown == Shown::on_demand && !(show.heaps && row.needs.heaps)) ||
                      (row.shown == Shown::with_labels && !show.labels) ||
                      (row.shown == Shown::without_labels && show.labels) ||
                      (row.shown == Shown::of_running_vms && !names.snapshot().source.live);
    Column column{.name = Label::of(row.name),
                  .title = Label::of(row.title),
                  .unit = unit_of_measure(row.measure),
                  .holds = std::holds_alternative<std::optional<bool> (*)(const Process&)>(row.get) ? Holds::flag
                                                                                                    : Holds::by_unit,
                  .doc = Label::of(row.doc),
                  .content = std::visit(ProcessContent{}, row.get),
                  .wide = wide,
                  .lesser = row.lesser,
                  .least = row.least,
                  .best = row.best};
    if (show.identify && row.name == "name") {
        column.content = Content::term;  // or its label
        column.end_tells = true;
    }
    if (show.identify && (row.name == "initial_call" || row.name == "name"))
        return {std::move(column), [names, identify = show.identify, by_name = row.name == "name"](const ProcId& id) {
                    identify(id);
                    return by_name ? cells::called(names, id)
                                   : function(names, analyses::first_call(names.snapshot()[id]));
                }};
    if (row.shown == Shown::with_labels && !show.labels)  // without labels it would be another's
        return {std::move(column), [](const ProcId&) { return Value(); }};
    return {std::move(column), [names, &row](const ProcId& id) {
                const Process& process = names.snapshot()[id];
                return std::visit([&](auto get) { return ProcessCell{names}(get(process)); }, row.get);
            }};
}

// "Shop.Cart.init/1 \u00d7120": a row that stands for several.
Value counted_as(Value what, std::uint64_t count) {
    const auto* text = std::get_if<std::string>(&what.data());
    if (count < 2 || text == nullptr) return what;
    return fmt::format("{} \u00d7{}", *text, grouped(count));
}

}  // namespace

Value cells::called(const Names& names, ProcId id) {
    const Process& process = names.snapshot()[id];
    const std::string called = names.called(process);
    return called.empty() ? started_as(names, process.initial_call) : Value(called);
}

Table alike_table(const Names& names, const analyses::ProcessGroups& groups) {
    const Snapshot& s = names.snapshot();
    using Group = const analyses::ProcessGroup*;
    std::vector<Group> rows;
    for (const analyses::ProcessGroup& group : groups.groups) rows.push_back(&group);
    const ColumnOf<Group> memory{
        {.name = "memory_bytes", .title = "MEMORY", .unit = Unit::bytes, .doc = "sum of process_info(memory)"},
        [](const Group& g) { return sum(g->memory_bytes); }};
    const ColumnOf<Group> heaps{
        {.name = "size_bytes", .title = "HEAPS", .unit = Unit::bytes, .doc = "both heaps as allocated, with the stack"},
        [](const Group& g) { return sum(g->size_bytes); }};
    Columns<Group> columns{
        {{.name = "pid", .title = "PID", .doc = "of several, of the largest"},
         [=, &s](const Group& g) { return pid(names, s[g->example].pid); }},
        {{.name = "process", .title = "PROCESS", .doc = "name, or what they were started as", .content = Content::name},
         [=, &s](const Group& g) {
             const Process& process = s[g->example];
             return process.name != TextId::none ? bare(names, process.name)
                                                 : counted_as(function(names, g->function), g->count);
         }},
        {{.name = "current_function",
          .title = "CURRENT FUNCTION",
          .doc = "where they are",
          .content = Content::name,
          .lesser = 1},
         [=, &s](const Group& g) { return function(names, s[g->example].current_function); }},
        {{.name = "msgq_len", .title = "MSGQ", .unit = Unit::count, .doc = "messages in all their queues"},
         [](const Group& g) { return sum(g->msgq_len); }},
        analyses::knows_memory(s) ? memory : heaps,
    };
    return table_of(std::move(columns), std::move(rows), "no process");
}

Table process_table(const Names& names, std::vector<ProcId> rows, const ProcessColumns& show) {
    Columns<ProcId> columns;
    for (const analyses::ProcessColumn& each : analyses::process_columns())
        columns.add(process_column(names, each, show));
    return table_of(std::move(columns), std::move(rows), "no process");
}

Table process_growth_table(const Names& names, std::vector<analyses::ProcessGrowth> rows, double seconds) {
    using Row = analyses::ProcessGrowth;
    const Snapshot& s = names.snapshot();
    const auto signed_value = [](const std::optional<std::int64_t>& more) { return more ? Value(*more) : Value(); };
    Columns<Row> columns{
        {{.name = "pid", .title = "PID", .doc = "the process"},
         [=, &s](const Row& r) { return pid(names, s[r.process].pid); }},
        {{.name = "process",
          .title = "PROCESS",
          .doc = "what it is called, or what it was started as",
          .content = Content::term},
         [=](const Row& r) { return cells::called(names, r.process); }},
        {{.name = "reductions_per_second",
          .title = "REDUCTIONS A SECOND",
          .unit = Unit::count,
          .doc = "work that it did"},
         [=](const Row& r) {
             if (!r.reductions || !(seconds > 0)) return Value();
             return Value(static_cast<std::int64_t>(std::llround(static_cast<double>(*r.reductions) / seconds)));
         }},
        {{.name = "msgq_growth", .title = "MSGQ +", .unit = Unit::count, .doc = "messages that its queue has more"},
         [=](const Row& r) { return signed_value(r.messages); }},
        {{.name = "msgq_len", .title = "MSGQ", .unit = Unit::count, .doc = "messages in its queue"},
         [=, &s](const Row& r) { return Value(s[r.process].msgq_len); }},
        {{.name = "memory_growth_bytes", .title = "MEMORY +", .unit = Unit::bytes, .doc = "memory that it has more"},
         [=](const Row& r) { return signed_value(r.memory_bytes); }},
        {{.name = "memory_bytes", .title = "MEMORY", .unit = Unit::bytes, .doc = "process_info(memory)"},
         [=, &s](const Row& r) { return Value(s[r.process].memory_bytes); }},
        {{.name = "new", .title = "NEW", .holds = Holds::flag, .doc = "it was not there before", .wide = true},
         [](const Row& r) { return Value(r.fresh); }},
        {{.name = "current_function",
          .title = "CURRENT FUNCTION",
          .doc = "where it is",
          .content = Content::name,
          .lesser = 1},
         [=, &s](const Row& r) { return function(names, s[r.process].current_function); }},
    };
    return table_of(std::move(columns), std::move(rows), "no process worked or changed");
}

Table stack_group_table(const Names& names, const analyses::ProcessGroups& groups, Places places) {
    const Snapshot& s = names.snapshot();
    const analyses::ProcessGroups* all = &groups;
    using Group = const analyses::ProcessGroup*;
    std::vector<Group> rows;
    for (const analyses::ProcessGroup& group : groups.groups) rows.push_back(&group);
    Columns<Group> columns{
        {{.name = "count", .title = "COUNT", .unit = Unit::count, .doc = "processes with this stack"},
         [](const Group& g) { return Value(g->count); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of the processes that were grouped"},
         [](const Group& g) { return percent(g->percent); }},
        {frames_column(), [=](const Group& g) { return Value(function_array(names, g->stack, places)); }},
        {places_column(), [=](const Group& g) { return Value(place_array(names, g->stack)); }},
        {{.name = "pids", .title = "PIDS", .holds = Holds::texts, .doc = "all of them", .wide = true},
         [=, &s](const Group& g) {
             Array pids;
             for (const ProcId id : all->members_of(*g)) pids.push_back(pid(names, s[id].pid));
             return Value(std::move(pids));
         }},
        {{.name = "example_pid", .title = "EXAMPLE", .doc = "the one with the most memory"},
         [=, &s](const Group& g) { return g->example == ProcId::none ? Value() : pid(names, s[g->example].pid); }},
        {{.name = "memory_bytes", .title = "MEMORY", .unit = Unit::bytes, .doc = "sum of process_info(memory)"},
         [](const Group& g) { return sum(g->memory_bytes); }},
        {{.name = "msgq_len", .title = "MSGQ", .unit = Unit::count, .doc = "messages in all their queues"},
         [](const Group& g) { return sum(g->msgq_len); }},
    };
    return table_of(std::move(columns), std::move(rows), "no process has a stack in this input");
}

Table process_stack_table(const Names& names, std::vector<ProcId> processes, Places places, const Identify& identify) {
    const Snapshot& s = names.snapshot();
    Columns<ProcId> columns{
        {{.name = "count", .title = "COUNT", .unit = Unit::count, .doc = "1: a process a row", .wide = true},
         [](const ProcId&) { return Value(std::uint64_t{1}); }},
        {frames_column(), [=, &s](const ProcId& id) { return Value(function_array(names, s[id].stack, places)); }},
        {places_column(), [=, &s](const ProcId& id) { return Value(place_array(names, s[id].stack)); }},
    };
    for (const std::string_view name :
         {"pid", "name", "label", "initial_call", "group_key", "state", "memory_bytes", "msgq_len"})
        columns.add(
            process_column(names, *analyses::find_process_column(name), {.labels = true, .identify = identify}));
    return table_of(std::move(columns), std::move(processes), "no process");
}

Table group_table(const Names& names, const analyses::ProcessGroups& groups) {
    const Snapshot& s = names.snapshot();
    using Group = const analyses::ProcessGroup*;
    std::vector<Group> rows;
    for (const analyses::ProcessGroup& group : groups.groups) rows.push_back(&group);
    Columns<Group> columns{
        {{.name = "initial_call",
          .title = "INITIAL CALL",
          .doc = "$initial_call, or what it was spawned as",
          .content = Content::term},
         [=](const Group& g) {
             return g->key.kind == analyses::GroupKey::Kind::none ? function(names, g->function)
                                                                  : text(names.group(g->key));
         }},
        {{.name = "count", .title = "COUNT", .unit = Unit::count, .doc = "processes"},
         [](const Group& g) { return Value(g->count); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of all processes"},
         [](const Group& g) { return percent(g->percent); }},
        {{.name = "memory_bytes", .title = "MEMORY", .unit = Unit::bytes, .doc = "sum of process_info(memory)"},
         [](const Group& g) { return sum(g->memory_bytes); }},
        {{.name = "msgq_len", .title = "MSGQ", .unit = Unit::count, .doc = "messages in all their queues"},
         [](const Group& g) { return sum(g->msgq_len); }},
        {{.name = "reductions", .title = "REDUCTIONS", .unit = Unit::count, .doc = "sum", .wide = true},
         [](const Group& g) { return sum(g->reductions); }},
        {{.name = "example_pid", .title = "EXAMPLE", .doc = "the one with the most memory"},
         [=, &s](const Group& g) { return g->example == ProcId::none ? Value() : pid(names, s[g->example].pid); }},
    };
    return table_of(std::move(columns), std::move(rows), "no process");
}

Table tree_table(const Names& names, const analyses::SupervisionTree& tree, std::vector<analyses::TreeRow> rows) {
    const Snapshot& s = names.snapshot();
    using Row = analyses::TreeRow;
    const bool labels = tree.labels_used;
    const auto node = [&tree](const Row& row) -> const analyses::TreeNode& { return tree[row.process]; };
    Columns<Row> columns{
        {{.name = "process",
          .title = "PROCESS",
          .doc = "name, label or initial call",
          .content = Content::term,
          .end_tells = true,
          .indent_by = "depth"},
         [=, &s](const Row& row) {
             const Process& p = s[row.process];
             if (p.name != TextId::none) return bare(names, p.name);
             if (p.label != TextId::none) return Value(names.label(p.label));
             return counted_as(function(names, analyses::first_call(p)), row.alike);
         }},
        {{.name = "pid", .title = "PID", .doc = "the process"},
         [=, &s](const Row& row) { return pid(names, s[row.process].pid); }},
        {{.name = "name", .title = "NAME", .doc = "registered name", .content = Content::name, .wide = true},
         [=, &s](const Row& row) { return bare(names, s[row.process].name); }},
        {{.name = "depth", .title = "#", .unit = Unit::count, .doc = "0: a root", .wide = true},
         [](const Row& row) { return Value(std::uint64_t{row.depth}); }},
        {{.name = "parent", .title = "PARENT", .doc = "its parent in this tree", .wide = true},
         [=, &s](const Row& row) {
             return node(row).parent == ProcId::none ? Value() : pid(names, s[node(row).parent].pid);
         }},
        {{.name = "parent_by", .title = "BY", .doc = "how the parent is known", .wide = true},
         [=](const Row& row) { return Value(analyses::name_of(node(row).by)); }},
        {{.name = "supervisor",
          .title = "SUP",
          .holds = Holds::flag,
          .doc = "its $initial_call is a supervisor's",
          .wide = true},
         [=](const Row& row) { return labels ? Value(node(row).supervisor) : Value(); }},
        {{.name = "orphan", .title = "ORPHAN", .holds = Holds::flag, .doc = "who spawned it is gone", .wide = true},
         [=](const Row& row) { return Value(node(row).orphan); }},
        {{.name = "processes", .title = "PROCESSES", .unit = Unit::count, .doc = "in its subtree, itself included"},
         [=](const Row& row) { return Value(row.alike > 1 ? row.alike : node(row).processes); }},
        {{.name = "memory_bytes", .title = "MEMORY", .unit = Unit::bytes, .doc = "of its subtree"},
         [=](const Row& row) { return sum(row.alike > 1 ? row.sums->memory_bytes : node(row).memory_bytes); }},
        {{.name = "msgq_len", .title = "MSGQ", .unit = Unit::count, .doc = "of its subtree"},
         [=](const Row& row) { return sum(row.alike > 1 ? row.sums->msgq_len : node(row).msgq_len); }},
        {{.name = "reductions", .title = "REDUCTIONS", .unit = Unit::count, .doc = "of its subtree", .lesser = 1},
         [=](const Row& row) { return sum(row.alike > 1 ? row.sums->reductions : node(row).reductions); }},
    };
    return table_of(std::move(columns), std::move(rows), "no process");
}

Table blown_table(const Names& names, std::vector<analyses::BlownTerm> terms) {
    using Row = analyses::BlownTerm;
    const Snapshot& s = names.snapshot();
    const std::uint32_t word = s.source.word_size;
    Columns<Row> columns{
        {{.name = "pid", .title = "PID", .doc = "whose term it is"},
         [=, &s](const Row& r) { return pid(names, s[r.process].pid); }},
        {{.name = "name", .title = "PROCESS", .doc = "registered name", .content = Content::name},
         [=, &s](const Row& r) { return bare(names, s[r.process].name); }},
        {{.name = "root_kind", .title = "ROOT", .doc = "the kind of root that holds it"},
         [](const Row& r) { return Value(name_of(r.root_kind)); }},
        {{.name = "address", .title = "ADDRESS", .doc = "of the term: `beamheap term INPUT PID@ADDRESS` prints it"},
         [](const Row& r) { return Value(fmt::format("{:X}", r.address)); }},
        {{.name = "shared_words",
          .title = "SHARED words",
          .unit = Unit::words,
          .doc = "erts_debug:size: what it is now"},
         [](const Row& r) { return Value(r.shared_words); }},
        {{.name = "flat_words",
          .title = "FLAT words",
          .unit = Unit::words,
          .doc = "erts_debug:flat_size: what a copy would have; 2^64 - 2 stands for that or more"},
         [](const Row& r) { return Value(r.flat_words); }},
        {{.name = "copy_bytes", .title = "COPY", .unit = Unit::bytes, .doc = "what sending it would allocate"},
         [=](const Row& r) { return Value(analyses::words_to_bytes(r.flat_words, word)); }},
    };
    return table_of(std::move(columns), std::move(terms), "no term would grow much when it is copied");
}

Array link_array(const Names& names, const Process& process, std::span<const LinkKind> kinds, std::size_t most,
                 LinkWords words) {
    const Snapshot& s = names.snapshot();
    Array out;
    std::size_t more = 0;
    for (std::uint32_t i = 0; i < process.link_range.count; ++i) {
        const Link& link = s.links[process.link_range.first + i];
        if (std::ranges::find(kinds, link.kind) == kinds.end()) continue;
        if (out.size() == most) {
            ++more;
            continue;
        }
        const ProcId other = words == LinkWords::named ? s.find(link.pid) : ProcId::none;
        std::string shown = other == ProcId::none ? names.pid(link.pid) : names.process(s[other]);
        if (shown.empty()) shown = port_text(link.port);
        if (shown.empty() && link.name != TextId::none) shown = atom_text(s.text(link.name), names.syntax());
        if (link.node != TextId::none) {
            const std::string node = atom_text(s.text(link.node), names.syntax());
            shown = shown.empty() ? node : fmt::format("{{{},{}}}", shown, node);
        }
        out.emplace_back(std::move(shown));
    }
    if (more != 0) out.emplace_back(fmt::format("... {} more", more));
    return out;
}

}  // namespace beamheap::present
