// SPDX-License-Identifier: Apache-2.0
// The calls of the C library that tests/fuzz/faults.cpp lets fail: one table.
//
// They are this program's own functions, which the linker takes in place of the C library's, for all libraries. What is
// counted, and which call fails, stands in memory that all processes share which the program under test starts.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>

namespace beamheap::faults {

/// A kind of call, and with what it can fail. `short_count`: no error, but less is read or written than was asked for.
/// EINTR and EAGAIN of a call that may be asked again come once, others also for good.
inline constexpr int short_count = -1;
struct Call {
    std::string_view name;
    std::span<const int> errors;
};

#define BEAMHEAP_FAILING_CALLS(X)                                \
    X(memory, "memory", ENOMEM)                                  \
    X(mappings, "mmap", ENOMEM)                                  \
    X(reads, "read", EIO, EINTR, short_count)                    \
    X(writes, "write", ENOSPC, EIO, EDQUOT, EINTR, short_count)  \
    X(opens, "open", EMFILE, EACCES, EIO, ENOMEM)                \
    X(streams, "fopen", EMFILE, EIO, ENOMEM)                     \
    X(folders, "opendir", EMFILE, EIO, ENOMEM)                   \
    X(entries, "readdir", EIO)                                   \
    X(looks, "stat", EIO, ENOMEM)                                \
    X(details, "statx", EIO, ENOMEM, ENOSYS)                     \
    X(closes, "close", EIO, EDQUOT)                              \
    X(sizes, "ftruncate", ENOSPC, EIO)                           \
    X(links, "link", ENOSPC, EIO, EACCES)                        \
    X(renames, "rename", ENOSPC, EIO, EACCES)                    \
    X(removals, "unlink", EIO, EACCES)                           \
    X(syncs, "fsync", EIO, ENOSPC)                               \
    X(new_folders, "mkdir", ENOSPC, EACCES)                      \
    X(pipes, "pipe", EMFILE, ENFILE)                             \
    X(processes, "fork", EAGAIN, ENOMEM)                         \
    X(copies, "fcntl(F_DUPFD)", EMFILE)                          \
    X(memory_files, "memfd_create", EMFILE, ENOMEM)              \
    X(sockets, "socketpair", EMFILE)                             \
    X(messages, "send or receive", ENOBUFS, EINTR)               \
    X(targets, "readlink", EIO, EACCES)                          \
    X(polls, "poll", EINTR, ENOMEM)                              \
    X(waits, "waitpid", EINTR)                                   \
    X(foreign, "process_vm_readv", EFAULT, ESRCH, EPERM, ENOMEM) \
    X(stops, "ptrace", EPERM, ESRCH)                             \
    X(events, "perf_event_open", EACCES, EMFILE, ENOSYS, ESRCH)  \
    X(threads, "pthread_create", EAGAIN)

enum Kind : std::size_t {
#define BEAMHEAP_KIND(kind, ...) kind,
    BEAMHEAP_FAILING_CALLS(BEAMHEAP_KIND)
#undef BEAMHEAP_KIND
        kinds
};

/// The row of a kind.
const Call& row_of(std::size_t kind);

struct Injection {
    std::atomic<long> made[kinds]{};  ///< calls of those that count
    std::size_t kind = kinds;         ///< which fails; `kinds`: none
    long at = 0;                      ///< the first that fails, from 1 on
    bool for_good = false;            ///< and all behind it
    int error = 0;                    ///< errno, or short_count
};
/// In shared memory.
Injection& injection();

/// From now on the calls of this process count and can fail, and those of processes that it forks off.
void begin_counting();
/// Those of this process no longer do.
void end_counting();

}  // namespace beamheap::faults
