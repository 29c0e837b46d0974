// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/layout/platform.hpp"

namespace beamheap::otp {
namespace {

constexpr std::uint32_t word = 8;

// Members that stand behind so many mutexes of their structure.
struct Behind {
    std::uint32_t Offsets::*member;
    std::uint32_t mutexes;
};
constexpr Behind behind_mutexes[] = {
    {&Offsets::buffer_queue, 1},      {&Offsets::ets_type, 2},          {&Offsets::ets_owner, 2},
    {&Offsets::ets_heir, 2},          {&Offsets::ets_name, 2},          {&Offsets::ets_id, 2},
    {&Offsets::ets_counters, 2},      {&Offsets::ets_status, 2},        {&Offsets::ets_key_position, 2},
    {&Offsets::ets_compressed, 2},    {&Offsets::ets_hash_size, 2},     {&Offsets::ets_hash_buckets, 2},
    {&Offsets::ets_hash_segments, 2}, {&Offsets::ets_hash_locks, 2},    {&Offsets::ets_hash_lock_count, 2},
    {&Offsets::ets_tree_root, 2},     {&Offsets::ets_catree_root, 2},   {&Offsets::ets_catree_base_root, 1},
    {&Offsets::ets_catree_left, 1},   {&Offsets::ets_catree_right, 1},  {&Offsets::port_size, 1},
    {&Offsets::port_connected, 1},    {&Offsets::port_bytes_in, 1},     {&Offsets::port_bytes_out, 1},
    {&Offsets::port_queue_bytes, 1},  {&Offsets::port_name, 1},         {&Offsets::port_driver, 1},
    {&Offsets::port_os_pid, 1},       {&Offsets::port_suspended, 1},    {&Offsets::port_data, 1},
    {&Offsets::port_state, 1},        {&Offsets::entry_name, 1},        {&Offsets::entry_creation, 1},
    {&Offsets::entry_channel, 1},     {&Offsets::entry_state, 1},       {&Offsets::entry_flags, 1},
    {&Offsets::entry_links, 1},       {&Offsets::entry_queue_bytes, 2}, {&Offsets::shared_links, 1},
    {&Offsets::shared_monitors, 1},   {&Offsets::allocator_single, 1},  {&Offsets::allocator_multi, 1},
    {&Offsets::allocator_size, 1},
};

// ErtsRunQueue has its own lock and, just before `scheduler`, that of a list of sleepers; where its own stands, and
// what is before it, changed in OTP 28.
constexpr std::uint32_t Offsets::*in_run_queue[] = {&Offsets::run_queue_number,     &Offsets::run_queue_flags,
                                                    &Offsets::run_queue_priorities, &Offsets::run_queue_lists,
                                                    &Offsets::run_queue_ports,      &Offsets::run_queue_scheduler};

void grow_run_queue(Offsets& at) {
    const std::uint32_t scheduler = at.run_queue_scheduler;
    for (const auto member : in_run_queue)
        if (at.*member != absent && at.*member != 0) at.*member += at.*member < scheduler ? word : 2 * word;
}

void remove_frame_pointer(Offsets& at) {
    const std::uint32_t gone = at.process_frame_pointer;
    if (gone == absent) return;
    for (const FieldName& name : field_names()) {
        std::uint32_t& member = at.*name.field;
        if (name.structure == "Process" && member != absent && member > gone) member -= word;
    }
    at.process_frame_pointer = absent;
}

// Releases whose images of arm64 with glibc were held against what their VMs said of themselves.
constexpr struct {
    std::uint32_t release;
    Flavour flavour;
} proved_on_arm64[] = {{23, Flavour::interpreter}, {25, Flavour::jit}, {27, Flavour::jit}, {29, Flavour::jit}};

}  // namespace

std::string_view platform_suffix(Platform platform) {
    if (platform == Platform::x86_64) return "";
    return platform == Platform::arm64 ? " for arm64" : " for arm64 with musl";
}

Layout on_platform(Layout row, Platform platform) {
    row.at = on_platform(row.at, platform);
    if (platform == Platform::x86_64) return row;
    bool proved = false;
    for (const auto& each : proved_on_arm64) proved |= each.release == row.release && each.flavour == row.flavour;
    if (platform != Platform::arm64 || !proved) row.proof = Proof::from_source;
    return row;
}

Offsets on_platform(Offsets at, Platform platform) {
    if (platform == Platform::x86_64) return at;
    remove_frame_pointer(at);
    if (platform == Platform::arm64_musl) return at;
    for (const Behind& each : behind_mutexes)
        if (at.*each.member != absent) at.*each.member += word * each.mutexes;
    grow_run_queue(at);
    return at;
}

}  // namespace beamheap::otp
