// SPDX-License-Identifier: Apache-2.0
// Locks of libraries: what mnesia and global call the functions in which one is waited for, those that run under one,
// and the tables that name the holders. lib/mnesia/src/mnesia_tm.erl, mnesia_locker.erl; lib/kernel/src/global.erl, of
// OTP 23 to 29.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "erlang/ours.hpp"

namespace beamheap::erlang {

struct LibraryFunction {
    std::string_view module;
    std::string_view function;  // empty: any
};

/// A library's locks.
struct LockKind {
    Ours what;                                 ///< "a lock of mnesia"
    std::span<const LibraryFunction> waiting;  ///< on the stacks of those who want one
    std::span<const LibraryFunction> inside;   ///< on the stacks of those whom it was given, and of some who want one
    std::string_view table;  ///< locks that are held: {What, ... pids of holders ...}, or that in a tuple of one
    Ours advice;             ///< what helps, a sentence
};

inline constexpr std::array mnesia_waits_for_lock{LibraryFunction{"mnesia_tm", "restart"},
                                                  LibraryFunction{"mnesia_locker", "l_req_rec"},
                                                  LibraryFunction{"mnesia_locker", "receive_wlocks"},
                                                  LibraryFunction{"mnesia_locker", "rlock_get_reply"},
                                                  LibraryFunction{"mnesia_locker", "get_rwlocks_on_nodes"},
                                                  LibraryFunction{"mnesia_locker", "get_wlocks_on_nodes"},
                                                  LibraryFunction{"mnesia_locker", "request_lock"}};
inline constexpr std::array mnesia_under_lock{LibraryFunction{"mnesia_tm", "apply_fun"},
                                              LibraryFunction{"mnesia_tm", "execute_transaction"}};
inline constexpr std::array global_waits_for_lock{LibraryFunction{"global", "random_sleep"},
                                                  LibraryFunction{"global", "set_lock_on_nodes"}};
inline constexpr std::array global_under_lock{LibraryFunction{"global", "trans"}};

inline constexpr std::array lock_kinds{
    LockKind{"a lock of mnesia", mnesia_waits_for_lock, mnesia_under_lock, "mnesia_held_locks",
             "Take what may wait (calls, sleeps, input and output) out of the transaction's function: it holds its "
             "locks until that returns, and all who want one of them start over again and again."},
    LockKind{"a lock of global", global_waits_for_lock, global_under_lock, "global_locks",
             "Take what may wait out of the function that `global:trans/4` runs, or give those who want the lock a "
             "bound on retries."},
};

}  // namespace beamheap::erlang
