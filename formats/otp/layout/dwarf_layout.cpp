// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/layout/dwarf_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace beamheap::otp {
namespace {

constexpr std::size_t most_named = 24;
constexpr std::uint32_t largest_offset = 1u << 20;

// What readers load of a member, where it is not a word.
struct Extent {
    std::uint32_t Offsets::*member;
    std::uint32_t bytes;
};
constexpr Extent extents[] = {
    {&Offsets::process_initial, 24},
    {&Offsets::process_arity, 1},
    {&Offsets::timer_tree, 24},
    {&Offsets::timer_state, 4},
    {&Offsets::timer_reference, 12},
    {&Offsets::link_offset, 2},
    {&Offsets::link_flags, 2},
    {&Offsets::link_type, 2},
    {&Offsets::atom_length, 2},
    {&Offsets::module_name, 4},
    {&Offsets::module_current_length, 4},
    {&Offsets::module_old_length, 4},
    {&Offsets::lines_location_size, 4},
    {&Offsets::run_queue_ports, 4},
    {&Offsets::scheduler_type, 4},
    {&Offsets::scheduler_counter_slot, 4},
    {&Offsets::ets_hash_hidden, 1},
    {&Offsets::ets_compressed, 1},
    {&Offsets::ets_counters, 24},
    {&Offsets::ets_status, 4},
    {&Offsets::hash_shift, 4},
    {&Offsets::allocator_number, 4},
    {&Offsets::allocator_index, 4},
    {&Offsets::allocator_pool_blocks, 40},
    {&Offsets::allocator_pool_blocks_size, 40},
    {&Offsets::carrier_stats_max, 16},
    {&Offsets::carrier_stats_max_ever, 16},
    {&Offsets::carrier_stats_blocks, 240},
    {&Offsets::breakpoint_flags, 4},
    {&Offsets::table_count, 4},
    {&Offsets::table_max, 4},
    {&Offsets::table_line_shift, 4},
    {&Offsets::table_item_shift, 4},
    {&Offsets::table_item_mask, 4},
    {&Offsets::table_line_mask, 4},
    {&Offsets::table_mask, 4},
};

std::uint64_t end_of(const Offsets& at, std::uint32_t Offsets::*member) {
    const auto* found =
        std::find_if(std::begin(extents), std::end(extents), [&](const Extent& e) { return e.member == member; });
    return std::uint64_t{at.*member} + (found == std::end(extents) ? 8 : found->bytes);
}

// Members of a structure, or one member, and where they must end.
struct Bound {
    std::string_view of;
    std::uint32_t Offsets::*end;
    std::uint32_t more;
};
constexpr Bound bounds[] = {
    {"Process", &Offsets::process_size, 0},
    {"ErtsPTab", &Offsets::table_element_size, 8},
    {"message_attached", &Offsets::message_words, 0},
    {"ErlHeapFragment", &Offsets::fragment_memory, 0},
    {"ErtsSignalInQueueBuffer", &Offsets::buffer_size, 0},
    {"ErtsMonLnkNode", &Offsets::link_node_size, 0},
    {"hash_shift", &Offsets::hash_buckets, 8},
    {"Atom", &Offsets::atom_size, 0},
    {"BeamCodeLineTab", &Offsets::lines_functions, 8},
    {"Module", &Offsets::module_old_length, 4},
    {"HashTable", &Offsets::persistent_terms, 0},
    {"ErtsSchedulerData", &Offsets::scheduler_stride, 0},
    {"run_queue_priorities", &Offsets::run_queue_ports, 4},
    {"ets_hash_hidden", &Offsets::ets_hash_term, 0},
    {"ets_hash_buckets", &Offsets::ets_hash_size, 0},
    {"Port", &Offsets::port_size, 0},
    {"ErtsTmrHead", &Offsets::timer_size, 0},
    {"ErtsHLTimer", &Offsets::timer_size, 0},
    {"ErtsBifTimer", &Offsets::timer_size, 0},
    {"ErlNode", &Offsets::node_entry, 8},
    {"entry_name", &Offsets::entry_links, 8},
    {"entry_creation", &Offsets::entry_links, 8},
    {"entry_channel", &Offsets::entry_links, 8},
    {"entry_flags", &Offsets::entry_links, 8},
    {"Allctr_t", &Offsets::allocator_size, 0},
    {"Carrier_t", &Offsets::carrier_allocator, 16},
    {"GenericBpData", &Offsets::breakpoint_data_size, 0},
    {"fun_free_count", &Offsets::fun_environment, 0},
};

// Members that readers look for in every row, since some releases lack them; others belong to a row's forms.
constexpr std::uint32_t Offsets::*optional_members[] = {&Offsets::process_queue_buffers, &Offsets::breakpoint_next,
                                                        &Offsets::breakpoint_session, &Offsets::breakpoint_memory};

bool may_be_absent(std::uint32_t Offsets::*field) {
    const auto rows = known_layouts();
    return std::any_of(rows.begin(), rows.end(), [&](const Layout& row) { return row.at.*field == absent; });
}

std::string number(std::uint32_t value) { return value == absent ? "none" : fmt::format("{}", value); }

template <class Each>
std::string named(std::size_t count, Each&& each) {
    std::string text;
    for (std::size_t i = 0; i < std::min(count, most_named); ++i) text += (i == 0 ? "" : ", ") + each(i);
    if (count > most_named) text += fmt::format(" and {} more", count - most_named);
    return text;
}

}  // namespace

Result<std::optional<bytes::DebugTypes>> read_dwarf_fields(const bytes::ElfImage& executable) {
    std::vector<bytes::MemberQuery> queries;
    queries.reserve(field_names().size());
    for (const FieldName& field : field_names()) queries.push_back({field.structure, field.path});
    return bytes::read_debug_types(executable, queries);
}

DwarfLayout with_dwarf(const Layout& row, const bytes::DebugTypes& types) {
    using State = bytes::MemberAnswer::State;
    DwarfLayout result;
    result.row = row.source;
    result.layout = row;
    result.layout.source = dwarf_source;
    const auto fields = field_names();
    for (std::size_t i = 0; i < fields.size() && i < types.answers.size(); ++i) {
        const FieldName& field = fields[i];
        const bytes::MemberAnswer& answer = types.answers[i];
        const std::uint32_t before = row.at.*field.field;
        std::uint32_t& value = result.layout.at.*field.field;
        if (answer.state == State::found) {
            value = answer.bytes;
            ++result.read;
        } else if (before == absent) {
            continue;
        } else if (answer.state == State::no_member &&
                   std::find(std::begin(optional_members), std::end(optional_members), field.field) !=
                       std::end(optional_members)) {
            value = absent;
        } else {
            result.kept.push_back(field.member);
        }
        if (value != before) result.different.push_back({field.member, before, value});
    }
    return result;
}

std::string unfit_layout(const Offsets& at) {
    for (const FieldName& field : field_names()) {
        const std::uint32_t value = at.*field.field;
        if (value == absent) {
            if (!may_be_absent(field.field)) return fmt::format("{} is missing", field.member);
            continue;
        }
        if (value > largest_offset) return fmt::format("{} is {}", field.member, value);
        for (const Bound& bound : bounds) {
            if (bound.end == field.field || (bound.of != field.structure && bound.of != field.member)) continue;
            const std::uint64_t end = std::uint64_t{at.*bound.end} + bound.more;
            if (at.*bound.end == absent || end_of(at, field.field) > end)
                return fmt::format("{} is {}, outside of its structure", field.member, value);
        }
    }
    const std::uint64_t stats =
        std::max({end_of(at, &Offsets::carrier_stats_blocks), end_of(at, &Offsets::carrier_stats_max),
                  end_of(at, &Offsets::carrier_stats_max_ever)});
    if (std::max(at.allocator_single, at.allocator_multi) + stats > at.allocator_size)
        return "counters of carriers are outside of their allocator";
    const std::uint64_t table =
        std::max({end_of(at, &Offsets::ets_next), end_of(at, &Offsets::ets_owner), end_of(at, &Offsets::ets_name),
                  end_of(at, &Offsets::ets_id), end_of(at, &Offsets::ets_status), end_of(at, &Offsets::ets_compressed),
                  end_of(at, &Offsets::ets_fixed), end_of(at, &Offsets::ets_counters)});
    if (table > std::min(std::uint64_t{at.ets_tree_root} + 8, std::uint64_t{at.ets_hash_size}))
        return "members of ETS tables are outside of them";
    if (at.process_queue_buffers != absent && (at.buffer_size == absent || at.buffer_queue == absent))
        return "buffers of signal queues are unknown";
    if (at.fun_environment < 8 || at.fun_environment % 8 != 0) return "the environment of a fun is no array of words";
    if (at.link_node_size < 24 || at.ets_hash_term < 8) return "a list's links are outside of its elements";
    return {};
}

std::string describe(const DwarfLayout& found, const bytes::DebugTypes& types) {
    std::string text = fmt::format("{} of {} offsets from {}", found.read, field_names().size(), types.file);
    if (found.different.empty()) text += fmt::format("; none differs from the {}", found.row);
    else
        text += fmt::format("; {} differ from the {}: {}", found.different.size(), found.row,
                            named(found.different.size(), [&](std::size_t i) {
                                const auto& each = found.different[i];
                                return fmt::format("{} {} ({})", each.member, number(each.dwarf), number(each.table));
                            }));
    if (!found.kept.empty())
        text += fmt::format("; {} not in it: {}", found.kept.size(),
                            named(found.kept.size(), [&](std::size_t i) { return std::string{found.kept[i]}; }));
    if (!types.damage.empty()) text += fmt::format("; some of it was passed over: {}", types.damage);
    return text;
}

}  // namespace beamheap::otp
