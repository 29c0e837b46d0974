// The numeric columns of a process: what `top --by`, sorting, thresholds and selectors compare.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

enum class ProcessColumn : std::uint8_t {
    msgq,
    memory,
    heap,
    old_heap,
    stack,
    used,
    live,
    garbage,
    reductions,
    links,
    monitors,
    refc,
    fragments,
    bin_vheap
};

enum class Measure : std::uint8_t { count, bytes, words };

struct ProcessColumnInfo {
    ProcessColumn column;
    std::string_view name;   ///< "msgq": short, as in `top --by msgq`
    std::string_view field;  ///< "msgq_len": the column's name in rows and JSON
    Measure measure;
};

/// All of them, in the order that help lists them.
std::span<const ProcessColumnInfo> process_columns();
const ProcessColumnInfo& info(ProcessColumn column);
/// By short name or by field name; nullopt for another word.
std::optional<ProcessColumn> find_process_column(std::string_view name);

/// What both heaps and the heap fragments hold, without the stack, in words: heap_words - heap_unused_words (where
/// "unused" includes the stack) + old_heap_words - old_heap_unused_words + fragment_words. Missing if a part is.
Count used_words(const Process& process);
/// The figure of a process in the column's own unit; missing where the input does not hold it.
Count value_of(const Process& process, ProcessColumn column);

/// Every process of the input, in its order.
std::vector<ProcId> all_processes(const Snapshot& snapshot);
/// The `limit` first of `processes`, largest figure first; equal ones in the input's order; those without the figure
/// last. limit 0: all. O(n log limit).
std::vector<ProcId> largest(const Snapshot& snapshot, std::span<const ProcId> processes, ProcessColumn column,
                            std::size_t limit);

}  // namespace beamheap::analyses
