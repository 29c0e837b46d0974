// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/process_columns.hpp"

#include <algorithm>
#include <array>

#include "analyses/base/sum.hpp"

namespace beamheap::analyses {
namespace {

namespace rows {  // for short names

// Columns that are a member of Process as it is.
template <auto member>
constexpr auto* of = +[](const Process& process) { return process.*member; };
template <auto member>
constexpr auto* number_of = +[](const Process& process) { return Count(process.*member); };
template <class Text, auto member>
constexpr auto* text_of = +[](const Process& process) { return Text{process.*member}; };

constexpr ProcessNeeds labels{.labels = true};
constexpr ProcessNeeds stacks{.stacks = true};
constexpr ProcessNeeds heaps{.heaps = true};
using enum Measure;
using enum Shown;

constexpr ProcessColumn columns[] = {
    {.name = "pid", .title = "PID", .doc = "the process", .get = of<&Process::pid>},
    {.name = "name",
     .title = "PROCESS",
     .doc = "registered name; people see what it was started as where it has none",
     .least = 14,
     .best = 20,
     .get = text_of<AtomName, &Process::name>},
    {.name = "label",
     .title = "LABEL",
     .doc = "$process_label (proc_lib:set_label/1, OTP 27 and later), or what RabbitMQ calls its processes",
     .needs = labels,
     .shown = on_demand,
     .get = text_of<TermText, &Process::label>},
    {.name = "initial_call",
     .title = "INITIAL CALL",
     .doc = "what it was spawned as: process_info(initial_call); people see the real one of proc_lib",
     .shown = without_labels,
     .lesser = 4,
     .get = of<&Process::initial_call>},
    {.name = "current_function",
     .title = "CURRENT FUNCTION",
     .doc = "where it is",
     .least = 16,
     .best = 22,
     .get = of<&Process::current_function>},
    {.name = "state",
     .title = "STATE",
     .doc = "waiting running runnable suspended garbage_collecting exiting",
     .lesser = 1,
     .get = of<&Process::state>},
    {.name = "msgq_len",
     .key = "msgq",
     .title = "MSGQ",
     .measure = count,
     .doc = "messages in its queue",
     .get = of<&Process::msgq_len>},
    {.name = "memory_bytes",
     .key = "memory",
     .title = "MEMORY",
     .measure = bytes,
     .doc = "process_info(memory)",
     .get = of<&Process::memory_bytes>},
    {.name = "heap_words",
     .key = "heap",
     .title = "HEAP words",
     .measure = words,
     .doc = "young block with its stack, allocated",
     .shown = on_demand,
     .get = of<&Process::heap_words>},
    {.name = "old_heap_words",
     .key = "old_heap",
     .title = "OLD HEAP words",
     .measure = words,
     .doc = "old block, allocated",
     .shown = on_demand,
     .get = of<&Process::old_heap_words>},
    {.name = "stack_words",
     .key = "stack",
     .title = "STACK words",
     .measure = words,
     .doc = "used by the stack",
     .needs = stacks,
     .shown = on_demand,
     .get = of<&Process::stack_words>},
    {.name = "used_words",
     .key = "used",
     .title = "USED words",
     .measure = words,
     .doc = "held by both heaps and their fragments, without the stack",
     .shown = on_demand,
     .get = &used_words},
    {.name = "live_words",
     .key = "live",
     .title = "LIVE words",
     .measure = words,
     .doc = "of used_words, reachable; needs the heap decoded. Null where argument registers, which crash dumps leave "
            "out, may hold more: of who runs, hibernates or is to enter a function. In dumps up to OTP 26 a lower "
            "bound where there are slices of binaries: what lies behind them is not dumped",
     .needs = heaps,
     .shown = on_demand,
     .get = of<&Process::live_words>},
    {.name = "garbage_words",
     .key = "garbage",
     .title = "GARBAGE words",
     .measure = words,
     .doc = "of used_words, not reachable; null where live_words is, an upper bound where that is a lower one",
     .needs = heaps,
     .shown = on_demand,
     .get = of<&Process::garbage_words>},
    {.name = "reductions",
     .key = "reductions",
     .title = "REDUCTIONS",
     .measure = count,
     .doc = "work done since it started",
     .lesser = 2,
     .get = of<&Process::reductions>},
    {.name = "links",
     .key = "links",
     .title = "LINKS",
     .measure = count,
     .doc = "number of links",
     .shown = on_demand,
     .get = number_of<&Process::links>},
    {.name = "monitors",
     .key = "monitors",
     .title = "MONITORS",
     .measure = count,
     .doc = "number of monitors that it holds on others",
     .shown = on_demand,
     .get = number_of<&Process::monitors>},
    {.name = "parent", .title = "PARENT", .doc = "who spawned it", .shown = on_demand, .get = of<&Process::parent>},
    {.name = "group_key",
     .title = "GROUP",
     .doc = "nearest named ancestor, else label, else $initial_call",
     .needs = labels,
     .shown = with_labels,
     .lesser = 3,
     .get = &group_key},
    {.name = "real_initial_call",
     .title = "INITIAL CALL",
     .doc = "$initial_call of proc_lib, else null",
     .needs = labels,
     .shown = on_demand,
     .get = of<&Process::real_initial_call>},
    {.name = "heap_unused_words",
     .title = "HEAP UNUSED words",
     .measure = words,
     .doc = "of heap_words, free or stack",
     .shown = on_demand,
     .get = of<&Process::heap_unused_words>},
    {.name = "old_heap_unused_words",
     .title = "OLD UNUSED words",
     .measure = words,
     .doc = "of old_heap_words, free",
     .shown = on_demand,
     .get = of<&Process::old_heap_unused_words>},
    {.name = "fragments",
     .title = "FRAGMENTS",
     .measure = count,
     .doc = "heap fragments",
     .shown = on_demand,
     .get = of<&Process::fragments>},
    {.name = "fragment_words",
     .title = "FRAGMENT words",
     .measure = words,
     .doc = "in heap fragments",
     .shown = on_demand,
     .get = of<&Process::fragment_words>},
    {.name = "bin_vheap_words",
     .key = "bin_vheap",
     .title = "BIN VHEAP words",
     .measure = words,
     .doc = "off-heap binaries charged to the young heap, as the VM counts them",
     .shown = on_demand,
     .get = of<&Process::bin_vheap_words>},
    {.name = "old_bin_vheap_words",
     .key = "old_bin_vheap",
     .title = "OLD BIN VHEAP words",
     .measure = words,
     .doc = "the same of the old heap",
     .shown = on_demand,
     .get = of<&Process::old_bin_vheap_words>},
    {.name = "refc_bytes",
     .key = "refc",
     .title = "REFC BYTES",
     .measure = bytes,
     .doc = "distinct off-heap binaries that it keeps; of a dump, those that it reaches",
     .needs = heaps,
     .shown = on_demand,
     .get = of<&Process::refc_bytes>},
    {.name = "refc_garbage_bytes",
     .key = "refc_garbage",
     .title = "REFC GARBAGE",
     .measure = bytes,
     .doc = "of these, kept by its garbage alone, until it is collected; null of a dump",
     .needs = heaps,
     .shown = on_demand,
     .get = of<&Process::refc_garbage_bytes>},
    {.name = "internal_state",
     .title = "INTERNAL STATE",
     .doc = "flags as the VM prints them",
     .shown = on_demand,
     .get = text_of<PlainText, &Process::internal_state>},
    {.name = "sensitive",
     .title = "SENSITIVE",
     .doc = "process_flag(sensitive): its contents are not in the input",
     .needs = stacks,
     .shown = on_demand,
     .get = of<&Process::sensitive>},
    {.name = "reading",
     .title = "READ",
     .doc = "of a running VM: stable, it stood still while it was read; moving, its figures are of several instants; "
            "running, a thread worked for it. Null of other inputs",
     .shown = of_running_vms,
     .lesser = 5,
     .get = of<&Process::reading>},
};

}  // namespace rows

// In the order of ProcessGetter.
constexpr std::array<std::string_view, std::variant_size_v<ProcessGetter>> kinds_of_getters{
    "figure", "flag", "pid", "function", "state", "name", "term", "text", "group", "reading"};

// Largest figure(process) first.
template <class Figure>
std::vector<ProcId> in_order(const Snapshot& snapshot, std::span<const ProcId> processes, Figure figure,
                             std::size_t limit) {
    struct Entry {
        Count value;
        ProcId process;
    };
    std::vector<Entry> entries;
    entries.reserve(processes.size());
    for (const ProcId id : processes) entries.push_back({figure(snapshot[id]), id});
    const auto before = [](const Entry& a, const Entry& b) {
        return a.value != b.value ? a.value > b.value : a.process < b.process;
    };
    if (limit == 0 || limit > entries.size()) limit = entries.size();
    if (limit == entries.size()) std::sort(entries.begin(), entries.end(), before);
    else
        std::partial_sort(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(limit), entries.end(), before);
    std::vector<ProcId> ids(limit);
    for (std::size_t i = 0; i < limit; ++i) ids[i] = entries[i].process;
    return ids;
}

}  // namespace

std::string_view ProcessColumn::kind() const { return kinds_of_getters[get.index()]; }

std::span<const ProcessColumn> process_columns() { return rows::columns; }

const ProcessColumn* find_process_column(std::string_view name) {
    if (name.empty()) return nullptr;
    for (const ProcessColumn& column : rows::columns)
        if (column.name == name || column.key == name) return &column;
    return nullptr;
}

const ProcessColumn* find_process_figure(std::string_view name) {
    const ProcessColumn* const column = find_process_column(name);
    return column != nullptr && column->is_figure() ? column : nullptr;
}

Count used_words(const Process& process) {
    return (process.heap_words - process.heap_unused_words) + (process.old_heap_words - process.old_heap_unused_words) +
           process.fragment_words;
}

Count virtual_heap_words(const Process& process) { return process.bin_vheap_words + process.old_bin_vheap_words; }

bool knows_memory(const Snapshot& snapshot) {
    return snapshot.processes.empty() ||
           std::ranges::any_of(snapshot.processes, [](const Process& p) { return p.memory_bytes.has(); });
}

Count process_bytes(const Process& process, std::uint32_t word_size) {
    if (process.memory_bytes.has()) return process.memory_bytes;
    return words_to_bytes(process.heap_words + Count(process.old_heap_words.value_or(0)), word_size);
}

std::vector<ProcId> all_processes(const Snapshot& snapshot) {
    std::vector<ProcId> all(snapshot.processes.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<ProcId>(i);
    return all;
}

std::vector<ProcId> largest(const Snapshot& snapshot, std::span<const ProcId> processes, Count Process::*figure,
                            std::size_t limit) {
    return in_order(
        snapshot, processes, [figure](const Process& process) { return process.*figure; }, limit);
}

std::vector<ProcId> largest(const Snapshot& snapshot, std::span<const ProcId> processes, std::size_t limit) {
    const auto size = [word = snapshot.source.word_size](const Process& process) {
        return process_bytes(process, word);
    };
    return in_order(snapshot, processes, size, limit);
}

}  // namespace beamheap::analyses
