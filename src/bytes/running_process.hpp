// SPDX-License-Identifier: Apache-2.0
// A process that runs and goes on running, looked at from outside: its memory, its mappings, its threads.
//
// Memory is read by process_vm_readv(2): the process is neither stopped nor written to, and nothing of it is opened for
// writing. It takes the right to attach (ptrace(2), PTRACE_MODE_ATTACH_REALCREDS), as a debugger does. Two things are
// other than with a file. What was read is of many instants: the process writes while it is read, so whoever reads a
// structure reads what proves it again (changed words mean that the rest may be torn). And mappings come and go: a
// range may be gone at any moment, whatever the list of mappings said, so no read is refused for what a list says; it
// is tried, and what can't be read is counted.
//
// A pid is used again when its process is gone. The time at which a process was started (proc(5), stat, field 22) stays
// the same while it lives, so pid and start time together name one process, and gone() holds them against the system.
// Facts: Linux process_vm_readv(2), proc(5), ptrace(2), Documentation/admin-guide/LSM/Yama.rst; observed on Linux 6.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"

namespace beamheap::bytes {

/// Most bytes that one read asks for; what is longer is read in part.
inline constexpr std::size_t largest_read = 128u << 20;

/// A line of /proc/PID/maps.
struct Mapping {
    std::uint64_t start = 0, end = 0;  ///< addresses
    bool readable = false, writable = false, executable = false;
    bool shared = false;                  ///< MAP_SHARED: the JIT's code is, in a memory file ("/memfd:vmem")
    std::uint64_t file_offset = 0;        ///< bytes
    std::uint64_t device = 0, inode = 0;  ///< of the file; inode 0: no file
    std::string path;  ///< as the process's own mount namespace names it; "[heap]", "[stack]", or empty
};

/// The lines of a text in the form of /proc/PID/maps; those that are none are left out.
std::vector<Mapping> parse_mappings(std::string_view text);

/// What /proc/PID/stat and schedstat tell of a process or a thread.
struct TaskTimes {
    std::string name;               ///< at most 15 bytes, chosen by the process
    char state = '?';               ///< R running or runnable, S sleeping, t stopped by a tracer, Z gone, ...
    std::uint64_t start_ticks = 0;  ///< since the machine's start, in clock ticks (sysconf(_SC_CLK_TCK))
    std::uint64_t user_ticks = 0, system_ticks = 0;  ///< CPU time in clock ticks
    std::uint64_t on_cpu_ns = 0;                     ///< CPU time in ns; 0 where the kernel has no schedstat
    std::uint64_t waited_ns = 0;                     ///< ready to run and without a CPU, in ns
    bool has_schedstat = false;                      ///< whether the two above are told
};

/// A thread of a process; `id` is the kernel's, as it is here.
struct TaskOfProcess {
    std::uint32_t id = 0;
    std::uint32_t own_id = 0;  ///< what it calls itself (gettid): another one in another pid namespace
    TaskTimes times;
};

/// A range to be read, where to, and how much of it was.
struct MemoryPiece {
    std::uint64_t address = 0;
    std::span<std::byte> into;  ///< at most largest_read of it are filled
    std::size_t got = 0;  ///< bytes that were there, from the start on; less than asked for: the rest is not mapped
    bool whole() const { return got == into.size(); }
};

/// Where a process is read from. Tests put one of their own in its place, whose bytes change while they are read.
class LiveMemory {
public:
    virtual ~LiveMemory() = default;
    /// Fills the pieces in their order. What is not mapped (any more) makes a piece short and is counted in faults().
    virtual void read(std::span<MemoryPiece> pieces) const = 0;
    /// Bytes of one range that were there.
    std::size_t read(std::uint64_t address, std::span<std::byte> into) const {
        MemoryPiece piece{address, into};
        read({&piece, 1});
        return piece.got;
    }
    /// Its mappings as they are now.
    virtual std::vector<Mapping> mappings() const = 0;
    /// Whether the process has ended, or its pid names another one now.
    virtual bool gone() const = 0;
};

class RunningProcess final : public LiveMemory {
public:
    /// Finds a process and proves that its memory may be read, by reading some.
    /// Errors: usage (this program's own pid, or a thread's); unreadable, where there is no such process or a right is
    /// missing: the sentence names the right, the advice its cure.
    static Result<RunningProcess> attach(std::uint32_t pid);

    std::uint32_t pid() const { return pid_; }
    /// When it was started, in clock ticks since the machine was.
    std::uint64_t start_ticks() const { return start_ticks_; }

    using LiveMemory::read;
    /// As many ranges as there are: up to 1024 go into one system call of 1 to 2 microseconds. Any thread may call it.
    void read(std::span<MemoryPiece> pieces) const override;
    std::vector<Mapping> mappings() const override;
    bool gone() const override;

    /// Pieces so far that were not, or not wholly, mapped; and calls of the system, and bytes read; by all threads.
    std::uint64_t faults() const { return counts_->faults; }
    std::uint64_t calls() const { return counts_->calls; }
    std::uint64_t bytes_read() const { return counts_->bytes; }

    /// The executable, to be opened: a link of the kernel's own, which leads into other mount namespaces and to a file
    /// that was deleted meanwhile. (A path of mappings() must not be opened: it is a name in another file system.)
    std::string executable_link() const;
    /// What that link says: a name in the process's own file system, "... (deleted)" where it was replaced.
    std::string executable_name() const;
    /// A file of the process's own file system, to be opened from here: "/proc/PID/root" and the path.
    std::string path_from_here(std::string_view path) const;
    /// Its threads, now.
    std::vector<TaskOfProcess> threads() const;
    /// A file of /proc/PID, whole; empty where it can't be read.
    std::string proc_file(std::string_view name) const;

private:
    RunningProcess(std::uint32_t pid, std::uint64_t start_ticks) : pid_(pid), start_ticks_(start_ticks) {}
    std::uint32_t pid_ = 0;
    std::uint64_t start_ticks_ = 0;
    struct Counts {
        std::atomic<std::uint64_t> faults{0}, calls{0}, bytes{0};
    };
    std::unique_ptr<Counts> counts_ = std::make_unique<Counts>();
};

/// The contents of a small file such as those of /proc, at most `limit` bytes; empty where it can't be read.
std::string read_small_file(const std::string& path, std::size_t limit = 16u << 20);
/// What `stat` and `schedstat` below a folder such as "/proc/12" or "/proc/12/task/13" say; start_ticks 0: no such
/// process.
TaskTimes task_times(const std::string& folder);
/// The name of a user by /etc/passwd, the number where it has none.
std::string user_name(std::uint32_t uid);
/// The pids that /proc lists, in their order.
std::vector<std::uint32_t> all_pids();

/// Why the memory of a process may not be read, and what would cure it, told from what the system shows of both;
/// `tried` is what was refused, for the sentence. Always ErrorCode::unreadable.
Error no_right_to_attach(std::uint32_t pid, std::string_view tried);

}  // namespace beamheap::bytes
