// SPDX-License-Identifier: Apache-2.0
// Processes that wait for a lock of a library, and those who may hold it.
//
// Theory. Locks of mnesia and of global are no calls to their holder: who wants one asks a server, is told to wait or
// to come back, and sleeps in the library in between. So nobody waits for the holder as far as monitors tell, and a
// node whose transactions all stand still looks idle. What stacks tell: who is in the library's code that wants a lock,
// and who is in a function that the library runs under one. Which lock it is stands in a table that core images alone
// hold. What each library calls these functions and tables is one row of erlang/library_locks.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "beamheap/artifact.hpp"
#include "beamheap/snapshot.hpp"
#include "erlang/library_locks.hpp"
#include "erlang/owned_term.hpp"

namespace beamheap::analyses {

using erlang::LockKind;

/// A lock that the library's table names.
struct HeldLock {
    Pid holder;
    std::shared_ptr<OwnedTerm> what;  ///< its name: {account, 1}
};

struct LockQueue {
    const LockKind* kind = nullptr;
    std::vector<ProcId> waiters;
    std::vector<ProcId> inside;  ///< in a function that runs under a lock, and not waiting for one
    std::vector<HeldLock> held;  ///< by read_held_locks(): those held by processes of `inside`, or of other nodes
    bool table_read = false;     ///< `held` is all that there is
};

/// One for each kind of lock that somebody waits for. Needs stacks. O(distinct stacks x frames + processes).
std::vector<LockQueue> lock_queues(const Snapshot& snapshot);
/// Reads the tables of locks, where the input holds tables' contents; at most 1,000 locks of each kind.
void read_held_locks(Artifact& artifact, std::vector<LockQueue>& queues);

}  // namespace beamheap::analyses
