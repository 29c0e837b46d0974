// SPDX-License-Identifier: Apache-2.0
// What the operating system says of a process and of what bounds it: memory, descriptors, control group.
//
// Facts: Linux proc(5): status (VmRSS, VmSwap in kB), limits ("Max open files"), fd; cgroups(7): the line "0::PATH" of
// /proc/PID/cgroup is version 2, whose files are memory.max, memory.current, memory.stat; "N:memory:PATH" is version 1,
// with memory.limit_in_bytes, memory.usage_in_bytes, total_inactive_file. Limits of a group hold for those below it, so
// that the least of all groups up to the root counts. The page cache that is not in use (inactive_file) is given up
// before anybody is killed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace beamheap::bytes {

/// All in bytes or numbers; missing: not told.
struct ProcessFigures {
    std::optional<std::uint64_t> resident_bytes, swapped_bytes;
    std::optional<std::uint64_t> descriptors, descriptor_limit;
    /// The limit of memory that is nearest, what of it is left, and whether it is a control group's or the machine's.
    std::optional<std::uint64_t> limit_bytes, left_bytes;
    bool of_group = false;
};

/// Of a running process. `root` is where the system's files are, "" but in tests.
ProcessFigures process_figures(std::uint32_t pid, const std::string& root = {});

/// Bytes of memory that a running process has, of those that it shares with others its part of them (Pss of
/// smaps_rollup); where the kernel does not tell, all that is resident. Nothing: there is no such process.
std::optional<std::uint64_t> share_of_memory(std::uint32_t pid, const std::string& root = {});
/// The bytes among them that no other process has (Private_Clean and Private_Dirty).
std::optional<std::uint64_t> own_memory(std::uint32_t pid, const std::string& root = {});

}  // namespace beamheap::bytes
