#include "analyses/processes/process_columns.hpp"

#include <algorithm>
#include <array>

namespace beamheap::analyses {
namespace {

constexpr std::array<ProcessColumnInfo, 14> columns{{
    {ProcessColumn::msgq, "msgq", "msgq_len", Measure::count},
    {ProcessColumn::memory, "memory", "memory_bytes", Measure::bytes},
    {ProcessColumn::heap, "heap", "heap_words", Measure::words},
    {ProcessColumn::old_heap, "old_heap", "old_heap_words", Measure::words},
    {ProcessColumn::stack, "stack", "stack_words", Measure::words},
    {ProcessColumn::used, "used", "used_words", Measure::words},
    {ProcessColumn::live, "live", "live_words", Measure::words},
    {ProcessColumn::garbage, "garbage", "garbage_words", Measure::words},
    {ProcessColumn::reductions, "reductions", "reductions", Measure::count},
    {ProcessColumn::links, "links", "links", Measure::count},
    {ProcessColumn::monitors, "monitors", "monitors", Measure::count},
    {ProcessColumn::refc, "refc", "refc_bytes", Measure::bytes},
    {ProcessColumn::fragments, "fragments", "fragment_words", Measure::words},
    {ProcessColumn::bin_vheap, "bin_vheap", "bin_vheap_words", Measure::words},
}};

}  // namespace

std::span<const ProcessColumnInfo> process_columns() { return columns; }

const ProcessColumnInfo& info(ProcessColumn column) { return columns[static_cast<std::size_t>(column)]; }

std::optional<ProcessColumn> find_process_column(std::string_view name) {
    for (const ProcessColumnInfo& column : columns)
        if (column.name == name || column.field == name) return column.column;
    return std::nullopt;
}

Count used_words(const Process& process) {
    return (process.heap_words - process.heap_unused_words) + (process.old_heap_words - process.old_heap_unused_words) +
           process.fragment_words;
}

Count value_of(const Process& process, ProcessColumn column) {
    switch (column) {
        case ProcessColumn::msgq: return process.msgq_len;
        case ProcessColumn::memory: return process.memory_bytes;
        case ProcessColumn::heap: return process.heap_words;
        case ProcessColumn::old_heap: return process.old_heap_words;
        case ProcessColumn::stack: return process.stack_words;
        case ProcessColumn::used: return used_words(process);
        case ProcessColumn::live: return process.live_words;
        case ProcessColumn::garbage: return process.garbage_words;
        case ProcessColumn::reductions: return process.reductions;
        case ProcessColumn::links: return process.links;
        case ProcessColumn::monitors: return process.monitors;
        case ProcessColumn::refc: return process.refc_bytes;
        case ProcessColumn::fragments: return process.fragment_words;
        case ProcessColumn::bin_vheap: return process.bin_vheap_words + process.old_bin_vheap_words;
    }
    return {};
}

std::vector<ProcId> all_processes(const Snapshot& snapshot) {
    std::vector<ProcId> all(snapshot.processes.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<ProcId>(i);
    return all;
}

std::vector<ProcId> largest(const Snapshot& snapshot, std::span<const ProcId> processes, ProcessColumn column,
                            std::size_t limit) {
    struct Entry {
        Count value;
        ProcId process;
    };
    std::vector<Entry> entries;
    entries.reserve(processes.size());
    for (const ProcId id : processes) entries.push_back({value_of(snapshot[id], column), id});
    const auto before = [](const Entry& a, const Entry& b) {
        return a.value != b.value ? a.value > b.value : a.process < b.process;
    };
    if (limit == 0 || limit > entries.size()) limit = entries.size();
    if (limit == entries.size())
        std::sort(entries.begin(), entries.end(), before);
    else
        std::partial_sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(limit), entries.end(), before);
    std::vector<ProcId> ids(limit);
    for (std::size_t i = 0; i < limit; ++i) ids[i] = entries[i].process;
    return ids;
}

}  // namespace beamheap::analyses
