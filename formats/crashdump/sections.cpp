#include "formats/crashdump/sections.hpp"

#include <algorithm>
#include <array>

namespace beamheap::crashdump {
namespace {

using enum Body;

// Sorted by tag. `order` follows erl_crash_dump_v() in erts/emulator/beam/break.c and dump_process_info().
constexpr SectionTag tags[] = {
    {"abort", 31, dump_abort, Part::always, nullptr, Terms::none, false, "19.2: the size limit was reached"},
    {"allocated_areas", 9, whole, Part::tables, read_allocated_areas, Terms::none, false, "bytes of the VM's own tables"},
    {"allocator", 10, whole, Part::tables, read_allocator, Terms::none, false, "an instance of an allocator"},
    {"atoms", 29, Body::atoms, Part::atoms, nullptr, Terms::none, false, "the atom table, newest first"},
    {"binary", 28, binary, Part::terms, nullptr, Terms::none, false, "a refc binary's bytes"},
    {"debug_proc_dictionary", 24, term_lines, Part::terms, nullptr, Terms::none, false, "old name, never read"},
    {"dirty_cpu_run_queue", 4, whole, Part::tables, read_dirty_cpu_queue, Terms::none, false, "20.3"},
    {"dirty_cpu_scheduler", 3, whole, Part::tables, read_dirty_cpu_scheduler, Terms::none, false, "20.3"},
    {"dirty_io_run_queue", 6, whole, Part::tables, read_dirty_io_queue, Terms::none, false, "20.3"},
    {"dirty_io_scheduler", 5, whole, Part::tables, read_dirty_io_scheduler, Terms::none, false, "20.3"},
    {"end", 32, dump_end, Part::always, nullptr, Terms::none, false, "the dump is complete"},
    {"erl_crash_dump", 0, dump_start, Part::always, nullptr, Terms::none, false, "header"},
    {"ets", 13, whole, Part::tables, read_ets, Terms::none, false, "an ETS table without its contents"},
    {"fun", 22, whole, Part::modules, read_fun, Terms::none, false, "a fun of a loaded module"},
    {"hash_table", 8, whole, Part::tables, read_hash_table, Terms::none, false, "a hash table of the VM"},
    {"hidden_node", 18, whole, Part::tables, read_hidden_node, Terms::none, false, "a connected hidden node"},
    {"index_table", 8, whole, Part::tables, read_index_table, Terms::none, false, "a table with a limit"},
    {"instr_data", 30, skipped, Part::always, nullptr, Terms::none, false, "up to 20, with +Mi"},
    {"internal_ets", 14, whole, Part::tables, read_internal_ets, Terms::none, false, "debug emulators"},
    {"literals", 27, term_lines, Part::terms, nullptr, Terms::literals, false, "20.2: literal areas"},
    {"loaded_modules", 20, whole, Part::tables, read_loaded_modules, Terms::none, false, "bytes of code"},
    {"memory", 7, whole, Part::tables, read_memory, Terms::none, false, "erlang:memory()"},
    {"memory_map", 30, skipped, Part::always, nullptr, Terms::none, false, "up to 20, with +Mi"},
    {"memory_status", 30, skipped, Part::always, nullptr, Terms::none, false, "up to 20, with +Mi"},
    {"mod", 21, whole, Part::modules, read_module, Terms::none, false, "a loaded module"},
    {"no_distribution", 17, whole, Part::always, read_no_distribution, Terms::none, false, "the node is not alive"},
    {"node", 16, whole, Part::always, read_node, Terms::none, false, "the node's name, which tells its own pids from others"},
    {"not_connected", 19, whole, Part::tables, read_not_connected, Terms::none, false, "a known node"},
    {"num_atoms", 29, skipped, Part::always, nullptr, Terms::none, false, "old"},
    {"old_instr_data", 30, skipped, Part::always, nullptr, Terms::none, false, "up to 20, with +Mi"},
    {"persistent_terms", 26, term_lines, Part::terms, nullptr, Terms::persistent_terms, false, "21.2"},
    {"port", 12, whole, Part::tables, read_port, Terms::none, true, "a port"},
    {"proc", 11, whole, Part::always, read_process, Terms::none, false, "a process"},
    {"proc_dictionary", 24, term_lines, Part::terms, nullptr, Terms::dictionary, false, "its dictionary"},
    {"proc_heap", 24, term_lines, Part::terms, nullptr, Terms::heap, false, "what it reaches"},
    {"proc_messages", 24, term_lines, Part::terms, nullptr, Terms::messages, false, "its message queue"},
    {"proc_stack", 24, term_lines, Part::terms, nullptr, Terms::stack, false, "its stack"},
    {"scheduler", 2, whole, Part::tables, read_scheduler, Terms::none, false, "18.0"},
    {"timer", 15, whole, Part::tables, read_timer, Terms::none, false, "a timer of send_after, start_timer"},
    {"visible_node", 18, whole, Part::tables, read_visible_node, Terms::none, false, "a connected node"},
};
static_assert(std::ranges::is_sorted(tags, {}, &SectionTag::tag));

// A dump has several sections a process, so tags are looked up by a hash of a few of their letters.
constexpr std::size_t slot_count = 256;
constexpr std::size_t slot_of(std::string_view tag) {
    return (tag.size() * 37 + static_cast<unsigned char>(tag.front()) * 7 + static_cast<unsigned char>(tag.back()) * 61 +
            static_cast<unsigned char>(tag[tag.size() / 2]) * 13) % slot_count;
}
constexpr auto slots = [] {
    std::array<std::uint8_t, slot_count> table{};  // row + 1; 0 is free
    for (std::size_t row = 0; row < std::size(tags); ++row) {
        std::size_t slot = slot_of(tags[row].tag);
        while (table[slot] != 0) slot = (slot + 1) % slot_count;
        table[slot] = static_cast<std::uint8_t>(row + 1);
    }
    return table;
}();

}  // namespace

const SectionTag* find_tag(std::string_view tag) {
    if (tag.empty()) return nullptr;
    for (std::size_t slot = slot_of(tag); slots[slot] != 0; slot = (slot + 1) % slot_count)
        if (tags[slots[slot] - 1].tag == tag) return &tags[slots[slot] - 1];
    return nullptr;
}

}  // namespace beamheap::crashdump
