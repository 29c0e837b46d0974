// SPDX-License-Identifier: Apache-2.0
// The columns of a process: one table that `top` and its --columns, --by and --sort, selectors, help and JSON read.
//
// A row says everything about its column: what it is called, what it holds and in which unit, what must be loaded for
// it, and how it is had from a process. So a new column is a row here, and the field that dumps and cores fill, where
// it is not computed from fields that are there already.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "analyses/processes/groups.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// What a figure counts. A text or a pid is no measure.
enum class Measure : std::uint8_t { none, count, bytes, words };

/// What must be loaded for an answer about processes, beside the process table itself.
struct ProcessNeeds {
    bool links = false;
    bool labels = false;
    bool stacks = false;
    bool heaps = false;  ///< decoded: live and garbage words, binaries that are reached
    void add(const ProcessNeeds& other) {
        links |= other.links;
        labels |= other.labels;
        stacks |= other.stacks;
        heaps |= other.heaps;
    }
};

// Texts of the input that are written each in its own way.
struct AtomName {
    TextId id;
};  ///< an atom, shown without quotes
struct TermText {
    TextId id;
};  ///< a term as the input has it printed
struct PlainText {
    TextId id;
};  ///< words of the VM

/// How a column is had from a process; what it gives says how it is written, sorted and hidden. Numbers that the input
/// does not hold are missing Counts, and so are flags.
using ProcessGetter =
    std::variant<Count (*)(const Process&), std::optional<bool> (*)(const Process&), Pid (*)(const Process&),
                 FunctionId (*)(const Process&), ProcessState (*)(const Process&), AtomName (*)(const Process&),
                 TermText (*)(const Process&), PlainText (*)(const Process&), GroupKey (*)(const Process&),
                 RowReading (*)(const Process&)>;

/// When a table for people has a column unasked.
enum class Shown : std::uint8_t { always, on_demand, with_labels, without_labels, of_running_vms };

struct ProcessColumn {
    std::string_view name;      ///< in rows and JSON: "msgq_len"
    std::string_view key = {};  ///< short, for --by and selectors: "msgq"
    std::string_view title;     ///< head of the text table
    Measure measure = Measure::none;
    std::string_view doc;  ///< one sentence
    ProcessNeeds needs = {};
    Shown shown = Shown::always;
    std::uint8_t lesser = 0;  ///< where rows are wider than a terminal, larger ones are left out first; 0: never
    std::uint8_t least = 0;   ///< columns of a terminal to which it may be cut; 0: as what it holds has it
    std::uint8_t best = 0;    ///< to which it is cut before lesser columns are left out; 0: its least
    ProcessGetter get;

    /// Whether it is a number, which --by ranks and selectors compare.
    bool is_figure() const { return std::holds_alternative<Count (*)(const Process&)>(get); }
    /// The number of a process, in the column's own unit; missing where the input does not hold it. Of figures alone.
    Count figure(const Process& process) const { return std::get<Count (*)(const Process&)>(get)(process); }
    /// What it gives, for programs: "figure", "flag", "pid", "function", "state", "name", "term", "text", "group",
    /// "reading".
    std::string_view kind() const;
};

/// All of them, in the order of rows and of the help.
std::span<const ProcessColumn> process_columns();
/// By name or by key; null for another word. A figure alone, where only numbers will do.
const ProcessColumn* find_process_column(std::string_view name);
const ProcessColumn* find_process_figure(std::string_view name);

/// What both heaps and the heap fragments hold, without the stack, in words: heap_words - heap_unused_words (where
/// "unused" includes the stack) + old_heap_words - old_heap_unused_words + fragment_words. Missing if a part is.
Count used_words(const Process& process);
/// What of both heaps is charged to them for off-heap binaries, in words: young and old. Missing if a part is.
Count virtual_heap_words(const Process& process);
/// How large a process is, in bytes: its memory, else both heaps as allocated (dumps say the memory since R16B01; an
/// old heap that is not told of counts as none). Missing if neither is known.
Count process_bytes(const Process& process, std::uint32_t word_size);
/// Whether the input says what memory any process has. True where there are no processes.
bool knows_memory(const Snapshot& snapshot);

/// Every process of the input, in its order.
std::vector<ProcId> all_processes(const Snapshot& snapshot);
/// The `limit` first of `processes`, largest figure first; equal ones in the input's order; those without the figure
/// last. limit 0: all. O(n log limit).
std::vector<ProcId> largest(const Snapshot& snapshot, std::span<const ProcId> processes, Count Process::*figure,
                            std::size_t limit);
/// The same by process_bytes.
std::vector<ProcId> largest(const Snapshot& snapshot, std::span<const ProcId> processes, std::size_t limit);

}  // namespace beamheap::analyses
