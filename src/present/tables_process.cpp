#include <fmt/format.h>

#include <algorithm>

#include "analyses/base/erlang_syntax.hpp"
#include "analyses/processes/process_columns.hpp"
#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::present {
namespace {

using namespace cells;

Array function_array(const Names& names, StackId stack) {
    Array functions;
    for (const Frame& frame : names.snapshot().stacks[stack]) functions.emplace_back(names.function(frame.function));
    return functions;
}

}  // namespace

Table process_table(const Names& names, std::vector<ProcId> rows, ProcessColumns show) {
    const Snapshot& s = names.snapshot();
    const auto of = [&s](ProcId id) -> const Process& { return s[id]; };
    std::vector<ColumnOf<ProcId>> columns{
        {{.name = "pid", .title = "PID", .doc = "the process"}, [=](const ProcId& p) { return pid(names, of(p).pid); }},
        {{.name = "name", .title = "NAME", .doc = "registered name", .content = Content::name},
         [=](const ProcId& p) { return bare(names, of(p).name); }},
        {{.name = "label",
          .title = "LABEL",
          .doc = "$process_label (proc_lib:set_label/1, OTP 27 and later)",
          .content = Content::term,
          .wide = true},
         [=](const ProcId& p) { return raw(names, of(p).label); }},
        {{.name = "initial_call",
          .title = "INITIAL CALL",
          .doc = "what it was spawned as: process_info(initial_call)",
          .content = Content::name,
          .wide = show.labels},
         [=](const ProcId& p) { return function(names, of(p).initial_call); }},
        {{.name = "current_function", .title = "CURRENT FUNCTION", .doc = "where it is", .content = Content::name},
         [=](const ProcId& p) { return function(names, of(p).current_function); }},
        {{.name = "state", .title = "STATE", .doc = "waiting running runnable suspended garbage_collecting exiting"},
         [=](const ProcId& p) { return of(p).state == ProcessState::unknown ? Value() : Value(name_of(of(p).state)); }},
        {{.name = "msgq_len", .title = "MSGQ", .unit = Unit::count, .doc = "messages in its queue"},
         [=](const ProcId& p) { return Value(of(p).msgq_len); }},
        {{.name = "memory_bytes", .title = "MEMORY", .unit = Unit::bytes, .doc = "process_info(memory)"},
         [=](const ProcId& p) { return Value(of(p).memory_bytes); }},
        {{.name = "heap_words",
          .title = "HEAP words",
          .unit = Unit::words,
          .doc = "young block with its stack, allocated",
          .wide = true},
         [=](const ProcId& p) { return Value(of(p).heap_words); }},
        {{.name = "old_heap_words",
          .title = "OLD HEAP words",
          .unit = Unit::words,
          .doc = "old block, allocated",
          .wide = true},
         [=](const ProcId& p) { return Value(of(p).old_heap_words); }},
        {{.name = "stack_words", .title = "STACK words", .unit = Unit::words, .doc = "used by the stack", .wide = true},
         [=](const ProcId& p) { return Value(of(p).stack_words); }},
        {{.name = "used_words",
          .title = "USED words",
          .unit = Unit::words,
          .doc = "held by both heaps and their fragments, without the stack",
          .wide = true},
         [=](const ProcId& p) { return Value(analyses::used_words(of(p))); }},
        {{.name = "live_words",
          .title = "LIVE words",
          .unit = Unit::words,
          .doc = "of used_words, reachable; needs the heap decoded",
          .wide = true},
         [=](const ProcId& p) { return Value(of(p).live_words); }},
        {{.name = "garbage_words",
          .title = "GARBAGE words",
          .unit = Unit::words,
          .doc = "of used_words, not reachable",
          .wide = true},
         [=](const ProcId& p) { return Value(of(p).garbage_words); }},
        {{.name = "reductions", .title = "REDUCTIONS", .unit = Unit::count, .doc = "work done since it started"},
         [=](const ProcId& p) { return Value(of(p).reductions); }},
        {{.name = "links", .title = "LINKS", .unit = Unit::count, .doc = "number of links", .wide = true},
         [=](const ProcId& p) { return Value(of(p).links); }},
        {{.name = "monitors",
          .title = "MONITORS",
          .unit = Unit::count,
          .doc = "number of monitors that it holds on others",
          .wide = true},
         [=](const ProcId& p) { return Value(of(p).monitors); }},
        {{.name = "parent", .title = "PARENT", .doc = "who spawned it", .wide = true},
         [=](const ProcId& p) { return pid(names, of(p).parent); }},
        {{.name = "group_key",
          .title = "GROUP",
          .doc = "nearest named ancestor, else label, else $initial_call",
          .content = Content::term,
          .wide = !show.labels},
         [=](const ProcId& p) { return show.labels ? text(names.group(analyses::group_key(of(p)))) : Value(); }},
        {{.name = "real_initial_call",
          .title = "INITIAL CALL",
          .doc = "$initial_call of proc_lib, else null",
          .content = Content::name,
          .wide = true},
         [=](const ProcId& p) { return function(names, of(p).real_initial_call); }},
        {{.name = "heap_unused_words",
          .title = "HEAP UNUSED words",
          .unit = Unit::words,
          .doc = "of heap_words, free or stack",
          .wide = true},
         [=](const ProcId& p) { return Value(of(p).heap_unused_words); }},
        {{.name = "old_heap_unused_words",
          .title = "OLD UNUSED words",
          .unit = Unit::words,
          .doc = "of old_heap_words, free",
          .wide = true},
         [=](const ProcId& p) { return Value(of(p).old_heap_unused_words); }},
        {{.name = "fragments", .title = "FRAGMENTS", .unit = Unit::count, .doc = "heap fragments", .wide = true},
         [=](const ProcId& p) { return Value(of(p).fragments); }},
        {{.name = "fragment_words",
          .title = "FRAGMENT words",
          .unit = Unit::words,
          .doc = "in heap fragments",
          .wide = true},
         [=](const ProcId& p) { return Value(of(p).fragment_words); }},
        {{.name = "bin_vheap_words",
          .title = "BIN VHEAP words",
          .unit = Unit::words,
          .doc = "off-heap binaries charged to the young heap, as the VM counts them",
          .wide = true},
         [=](const ProcId& p) { return Value(of(p).bin_vheap_words); }},
        {{.name = "old_bin_vheap_words",
          .title = "OLD BIN VHEAP words",
          .unit = Unit::words,
          .doc = "the same of the old heap",
          .wide = true},
         [=](const ProcId& p) { return Value(of(p).old_bin_vheap_words); }},
        {{.name = "refc_bytes",
          .title = "REFC BYTES",
          .unit = Unit::bytes,
          .doc = "distinct off-heap binaries that it reaches",
          .wide = true},
         [=](const ProcId& p) { return Value(of(p).refc_bytes); }},
        {{.name = "internal_state", .title = "INTERNAL STATE", .doc = "flags as the VM prints them", .wide = true},
         [=](const ProcId& p) { return raw(names, of(p).internal_state); }},
        {{.name = "sensitive",
          .title = "SENSITIVE",
          .doc = "process_flag(sensitive): its contents are not in the input",
          .wide = true},
         [=](const ProcId& p) { return Value(of(p).sensitive); }},
    };
    return table_of(std::move(columns), std::move(rows), "no process");
}

Table stack_group_table(const Names& names, const analyses::ProcessGroups& groups) {
    const Snapshot& s = names.snapshot();
    const analyses::ProcessGroups* all = &groups;
    using Group = const analyses::ProcessGroup*;
    std::vector<Group> rows;
    for (const analyses::ProcessGroup& group : groups.groups) rows.push_back(&group);
    std::vector<ColumnOf<Group>> columns{
        {{.name = "count", .title = "COUNT", .unit = Unit::count, .doc = "processes with this stack"},
         [](const Group& g) { return Value(g->count); }},
        {{.name = "percent", .title = "%", .unit = Unit::percent, .doc = "of the processes that were grouped"},
         [](const Group& g) { return percent(g->percent); }},
        {{.name = "functions",
          .title = "STACK",
          .doc = "frames, youngest first",
          .content = Content::name,
          .below = true},
         [=](const Group& g) { return Value(function_array(names, g->stack)); }},
        {{.name = "pids", .title = "PIDS", .doc = "all of them", .wide = true},
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

Table group_table(const Names& names, const analyses::ProcessGroups& groups) {
    const Snapshot& s = names.snapshot();
    using Group = const analyses::ProcessGroup*;
    std::vector<Group> rows;
    for (const analyses::ProcessGroup& group : groups.groups) rows.push_back(&group);
    std::vector<ColumnOf<Group>> columns{
        {{.name = "initial_call",
          .title = "INITIAL CALL",
          .doc = "$initial_call, or what it was spawned as",
          .content = Content::name},
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
    std::vector<ColumnOf<Row>> columns{
        {{.name = "process",
          .title = "PROCESS",
          .doc = "name, label or initial call",
          .content = Content::term,
          .indent_by = "depth"},
         [=, &s](const Row& row) {
             const Process& p = s[row.process];
             if (p.name != TextId::none) return bare(names, p.name);
             if (p.label != TextId::none) return raw(names, p.label);
             return function(names, p.real_initial_call != FunctionId::none ? p.real_initial_call : p.initial_call);
         }},
        {{.name = "pid", .title = "PID", .doc = "the process"},
         [=, &s](const Row& row) { return pid(names, s[row.process].pid); }},
        {{.name = "name", .title = "NAME", .doc = "registered name", .content = Content::name, .wide = true},
         [=, &s](const Row& row) { return bare(names, s[row.process].name); }},
        {{.name = "depth", .title = "DEPTH", .unit = Unit::count, .doc = "0: a root", .wide = true},
         [](const Row& row) { return Value(std::uint64_t{row.depth}); }},
        {{.name = "parent", .title = "PARENT", .doc = "its parent in this tree", .wide = true},
         [=, &s](const Row& row) {
             return node(row).parent == ProcId::none ? Value() : pid(names, s[node(row).parent].pid);
         }},
        {{.name = "parent_by", .title = "BY", .doc = "how the parent is known", .wide = true},
         [=](const Row& row) { return Value(analyses::name_of(node(row).by)); }},
        {{.name = "supervisor", .title = "SUP", .doc = "its $initial_call is a supervisor's", .wide = true},
         [=](const Row& row) { return labels ? Value(node(row).supervisor) : Value(); }},
        {{.name = "orphan", .title = "ORPHAN", .doc = "who spawned it is gone", .wide = true},
         [=](const Row& row) { return Value(node(row).orphan); }},
        {{.name = "processes", .title = "PROCESSES", .unit = Unit::count, .doc = "in its subtree, itself included"},
         [=](const Row& row) { return Value(node(row).processes); }},
        {{.name = "memory_bytes", .title = "MEMORY", .unit = Unit::bytes, .doc = "of its subtree"},
         [=](const Row& row) { return sum(node(row).memory_bytes); }},
        {{.name = "msgq_len", .title = "MSGQ", .unit = Unit::count, .doc = "of its subtree"},
         [=](const Row& row) { return sum(node(row).msgq_len); }},
        {{.name = "reductions", .title = "REDUCTIONS", .unit = Unit::count, .doc = "of its subtree"},
         [=](const Row& row) { return sum(node(row).reductions); }},
    };
    return table_of(std::move(columns), std::move(rows), "no process");
}

Table blown_table(const Names& names, std::vector<analyses::BlownTerm> terms) {
    using Row = analyses::BlownTerm;
    const Snapshot& s = names.snapshot();
    const std::uint32_t word = s.source.word_size;
    std::vector<ColumnOf<Row>> columns{
        {{.name = "pid", .title = "PID", .doc = "whose term it is"},
         [=, &s](const Row& r) { return pid(names, s[r.process].pid); }},
        {{.name = "name", .title = "NAME", .doc = "registered name", .content = Content::name},
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

Array link_array(const Names& names, const Process& process, std::span<const LinkKind> kinds, std::size_t most) {
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
        std::string shown = names.pid(link.pid);
        if (shown.empty()) shown = analyses::port_text(link.port);
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
