// SPDX-License-Identifier: Apache-2.0
// The tables of a node, each a row: its name, what it has, what must be loaded for it, and how it is made.
//
// A table's columns, with their units and meanings, are those of the function in src/present that makes it, which the
// verb of the same contents shows, too. `sql` and what it lists, `export` in all its formats and the rules of `check`
// know tables from here alone.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "cli/tables/node_model.hpp"

namespace beamheap::cli {

/// One of `whole` and `part` is set.
struct NodeTable {
    std::string_view name;
    std::string_view doc;
    Demand needs{};
    /// Of the whole node. The table may refer to the model, and holds as long as that has this input.
    Result<present::Table> (*whole)(NodeModel& model) = nullptr;
    /// Of the terms of one process, which must outlive it.
    present::Table (*part)(NodeModel& model, const present::TermView& view) = nullptr;
    bool (*has)(const Process& process) = nullptr;  ///< of part: whether a process may have rows
    bool states = false;                            ///< of part: roots that hold the state of a server are told
};
/// In the order in which people ask for them.
std::span<const NodeTable> node_tables();
/// nullptr: there is none of this name.
const NodeTable* find_node_table(std::string_view name);

/// A table of the terms of one process that an argument names.
struct ArgumentTable {
    std::string_view name;
    std::string_view doc;
    std::string_view argument;  ///< its name
    Demand needs{};
    /// Whose terms, and what of them.
    struct Made {
        std::shared_ptr<ProcessView> terms;  ///< to which the table refers
        present::Table table;
    };
    /// Without an argument the table has no rows. Errors: of one that names nothing.
    Result<Made> (*of)(NodeModel& model, const std::optional<std::string_view>& argument) = nullptr;
};
std::span<const ArgumentTable> argument_tables();

}  // namespace beamheap::cli
