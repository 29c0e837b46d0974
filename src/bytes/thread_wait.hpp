// SPDX-License-Identifier: Apache-2.0
// What a thread that sleeps waits for, as the kernel tells it: which call of the system, and on which file.
//
// /proc/PID/task/TID/syscall of a thread that is in a call has its number, six arguments, stack pointer and program
// counter; of one that runs it says so. Reading it takes the right that reading memory takes, and neither stops nor
// wakes the thread (proc(5); Linux 2.6.27 and later with CONFIG_HAVE_ARCH_TRACEHOOK).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bytes/running_process.hpp"

namespace beamheap::bytes {

/// A call of the system that has not come back.
struct ThreadWait {
    char state = '?';  ///< 'S': until something happens; 'D': in the kernel, not to be interrupted (a disk, NFS)
    std::uint64_t on_cpu_ns = 0;  ///< that the thread has used so far: as long as this stays the same it did nothing
    std::int64_t number = -1;     ///< of the call, for this machine
    std::string call;             ///< "write"; empty: one whose name is not known here
    std::string on;  ///< "standard output, a pipe", "/srv/data"; empty: it is on no file, or which is not told
    std::uint64_t stack_pointer = 0, program_counter = 0;

    /// "write() on standard output, a pipe", "futex()", "a call of the system".
    std::string words() const;
    /// Whether it is still in that very call, and has not run since `before`.
    bool goes_on_from(const ThreadWait& before) const {
        return number == before.number && on_cpu_ns == before.on_cpu_ns && stack_pointer == before.stack_pointer &&
               program_counter == before.program_counter;
    }
};

/// Of a thread (the kernel's id) of a process. Nothing: it runs or is ready to, is stopped, has ended, or the system
/// does not tell.
std::optional<ThreadWait> thread_wait(const RunningProcess& process, std::uint32_t thread);

/// Why none of a process's threads runs.
enum class Halt : std::uint8_t {
    none,
    stopped,  ///< by a signal: SIGSTOP, or of a terminal (state T)
    traced,   ///< by whoever traces it: a debugger (state t)
    frozen    ///< with its control group (cgroup.freeze; docker pause)
};
Halt halt_of(const RunningProcess& process);

/// A line of /proc/PID/task/TID/syscall taken apart: number, stack pointer, program counter, and the first two
/// arguments. Nothing: "running", "-1 ..." (in no call), or what is no such line.
struct CallLine {
    std::int64_t number = -1;
    std::uint64_t first = 0, second = 0;
    std::uint64_t stack_pointer = 0, program_counter = 0;
};
std::optional<CallLine> parse_call_line(std::string_view line);

/// Whether the control groups of /proc/PID/cgroup are frozen; `mounted` is where they are mounted, "/sys/fs/cgroup".
bool is_frozen(std::string_view cgroups, const std::string& mounted);

}  // namespace beamheap::bytes
