// SPDX-License-Identifier: Apache-2.0
#include "present/report_tables.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "present/table_cells.hpp"
#include "present/tables.hpp"

namespace beamheap::present {
namespace {

// Columns of several tables over the same rows, side by side.
Table side_by_side(std::vector<Table> tables) {
    auto all = std::make_shared<const std::vector<Table>>(std::move(tables));
    Table out;
    out.rows = out.total = all->front().rows;
    std::vector<std::pair<std::size_t, std::size_t>> places;
    for (std::size_t t = 0; t < all->size(); ++t)
        for (std::size_t c = 0; c < (*all)[t].columns.size(); ++c) {
            out.columns.push_back((*all)[t].columns[c]);
            places.emplace_back(t, c);
        }
    out.cell = [all, places = std::move(places)](std::size_t row, std::size_t column) {
        const auto [table, c] = places[column];
        return (*all)[table].cell(row, c);
    };
    return out;
}

}  // namespace

Table with_columns(Table table, std::span<const std::string_view> names) {
    std::vector<std::size_t> chosen;
    Table out;
    for (const std::string_view name : names)
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            if (table.columns[c].name == name) {
                chosen.push_back(c);
                out.columns.push_back(table.columns[c]);
                out.columns.back().wide = false;
            }
    out.rows = table.rows;
    out.total = table.total;
    out.empty = std::move(table.empty);
    out.for_people = table.for_people;
    out.key = std::move(table.key);
    out.cell = [cell = std::move(table.cell), chosen = std::move(chosen)](std::size_t row, std::size_t column) {
        return cell(row, chosen[column]);
    };
    return out;
}

std::vector<ProcId> processes_to_list(const analyses::SupervisionTree& tree, std::size_t most) {
    std::vector<ProcId> listed;
    const std::size_t all = tree.nodes.size();
    std::vector<bool> chosen(all, all <= most);
    if (all > most) {
        std::size_t count = 0;
        const auto choose = [&](auto figure, std::size_t until) {
            std::vector<std::pair<std::uint64_t, std::uint32_t>> order(all);
            for (std::uint32_t i = 0; i < all; ++i) order[i] = {~figure(tree.nodes[i]), i};
            std::ranges::sort(order);
            for (const auto& [rest, first] : order) {
                if (count >= until) return;
                for (std::uint32_t i = first; !chosen[i];) {
                    chosen[i] = true;
                    ++count;
                    const ProcId parent = tree.nodes[i].parent;
                    if (parent == ProcId::none) break;
                    i = index_of(parent);
                }
            }
        };
        choose([](const analyses::TreeNode& node) { return node.msgq_len.value().value_or(0); }, most / 4);
        choose([](const analyses::TreeNode& node) { return node.memory_bytes.value().value_or(0); }, most);
    }
    for (std::uint32_t i = 0; i < all; ++i)
        if (chosen[i]) listed.push_back(static_cast<ProcId>(i));
    return listed;
}

Table listed_process_table(const Names& names, const analyses::SupervisionTree& tree,
                           const analyses::ProcessGroups& stacks, const analyses::Applications& applications,
                           std::vector<ProcId> rows) {
    constexpr std::array<std::string_view, 19> of_process{"pid",
                                                          "name",
                                                          "label",
                                                          "real_initial_call",
                                                          "initial_call",
                                                          "group_key",
                                                          "current_function",
                                                          "state",
                                                          "msgq_len",
                                                          "memory_bytes",
                                                          "heap_words",
                                                          "old_heap_words",
                                                          "stack_words",
                                                          "live_words",
                                                          "garbage_words",
                                                          "refc_bytes",
                                                          "reductions",
                                                          "links",
                                                          "monitors"};
    constexpr std::array<std::string_view, 7> of_tree{"process",      "parent",   "supervisor", "processes",
                                                      "memory_bytes", "msgq_len", "reductions"};
    std::vector<std::uint32_t> stack_of(tree.nodes.size(), static_cast<std::uint32_t>(stacks.groups.size()));
    for (std::uint32_t g = 0; g < stacks.groups.size(); ++g)
        for (const ProcId id : stacks.members_of(stacks.groups[g])) stack_of[index_of(id)] = g;
    std::vector<analyses::TreeRow> places;
    for (const ProcId id : rows) places.push_back({id, tree[id].depth});
    std::vector<std::string> spelled;
    for (const std::string& name : applications.names) spelled.push_back(bare_text(name, names.syntax()));
    Columns<ProcId> own_columns{
        {{.name = "application",
          .title = "APPLICATION",
          .doc = "whose master is above it in the supervision tree",
          .content = Content::name},
         [spelled = std::move(spelled), of = applications.of](const ProcId& id) {
             const std::uint32_t i = of[index_of(id)];
             return i == analyses::Applications::none ? Value() : Value(spelled[i]);
         }},
        {{.name = "stack", .title = "STACK", .unit = Unit::count, .doc = "row of its stack in the table of stacks"},
         [stack_of = std::move(stack_of), none = stacks.groups.size()](const ProcId& id) {
             const std::uint32_t group = stack_of[index_of(id)];
             return group == none ? Value() : Value(std::uint64_t{group});
         }}};
    Table in_tree = with_columns(tree_table(names, tree, std::move(places)), of_tree);
    for (Column& column : in_tree.columns) {
        column.name = Label::interned(std::string("tree_").append(column.name));
        column.indent_by = {};
    }
    Table own = table_of(std::move(own_columns), rows, {});
    Table of_rows = with_columns(process_table(names, std::move(rows), {.labels = true}), of_process);
    Table all = side_by_side({std::move(of_rows), std::move(in_tree), std::move(own)});
    all.total = tree.nodes.size();
    return all;
}

Table named_process_table(const Names& names, std::vector<ProcId> rows) {
    constexpr std::array<std::string_view, 9> shown{
        "pid",   "name",     "label",        "real_initial_call", "current_function",
        "state", "msgq_len", "memory_bytes", "reductions"};
    Columns<ProcId> stack_column{
        {{.name = "stack", .title = "STACK", .doc = "frames, youngest first", .content = Content::name, .below = true},
         [names](const ProcId& id) {
             Array functions;
             for (const Frame& frame : names.snapshot().stacks[names.snapshot()[id].stack])
                 functions.emplace_back(names.function(frame.function));
             return Value(std::move(functions));
         }}};
    Table stack = table_of(std::move(stack_column), rows, {});
    return side_by_side(
        {with_columns(process_table(names, std::move(rows), {.labels = true}), shown), std::move(stack)});
}

Table queue_spread_table(std::vector<analyses::QueueBin> bins) {
    using analyses::QueueBin;
    Columns<QueueBin> columns{
        {{.name = "from", .title = "FROM", .unit = Unit::count, .doc = "messages in the queue, at least"},
         [](const QueueBin& bin) { return Value(bin.from); }},
        {{.name = "to", .title = "TO", .unit = Unit::count, .doc = "and at most"},
         [](const QueueBin& bin) { return Value(bin.to); }},
        {{.name = "processes", .title = "PROCESSES", .unit = Unit::count, .doc = "with such a queue"},
         [](const QueueBin& bin) { return Value(bin.processes); }},
        {{.name = "messages", .title = "MESSAGES", .unit = Unit::count, .doc = "in all of these queues"},
         [](const QueueBin& bin) { return Value(bin.messages); }},
    };
    return table_of(std::move(columns), std::move(bins), "no queue in this input");
}

}  // namespace beamheap::present
