// SPDX-License-Identifier: Apache-2.0
// Schedulers that have a process in hand and do nothing: their thread sleeps in a call of the system (a write to a pipe
// that nobody reads, a file of a server that hangs, a lock of a library).
//
// The VM tells such a process as running. A scheduler that has nothing to do has no process in hand, so one that has,
// and whose thread is asleep at both of two looks in one and the same call, without CPU time in between, is held. Since
// the thread sleeps, its stack does not change while it is read: the kernel tells where it is
// (/proc/PID/task/TID/syscall), and nothing has to be stopped.
#pragma once

#include <vector>

#include "bytes/running_process.hpp"
#include "bytes/thread_samples.hpp"
#include "bytes/thread_wait.hpp"
#include "formats/otp/sampling/threads.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

struct HeldThread {
    std::size_t thread = 0;     ///< index into the threads that were looked at
    std::uint64_t process = 0;  ///< address of the Process in hand
    bytes::ThreadWait wait;
};

class HeldThreads {
public:
    /// The first look. `threads` and `process` outlive this.
    HeldThreads(const Reader& reader, const bytes::RunningProcess& process, const std::vector<SchedulerThread>& threads)
        : reader_(reader), process_(process), threads_(threads), before_(look()) {}

    bool any() const { return !before_.empty(); }
    /// The second one: those that have not moved in between.
    std::vector<HeldThread> still() const;
    /// What a sample of such a thread would have been, as far as the kernel tells it: stack pointer, program counter
    /// and stack, which lies in `buffer`.
    bytes::ThreadSample sample(const HeldThread& held, std::vector<std::byte>& buffer) const;

private:
    std::vector<HeldThread> look() const;
    const Reader& reader_;
    const bytes::RunningProcess& process_;
    const std::vector<SchedulerThread>& threads_;
    std::vector<HeldThread> before_;
};

/// Fills Scheduler::held and, on x86-64, Scheduler::stack, of the schedulers and processes that the snapshot has. The
/// two looks are held_look_ms apart; there is only one where no scheduler's thread sleeps with a process in hand.
inline constexpr std::uint32_t held_look_ms = 100;
void read_held_schedulers(Reader& reader, const bytes::RunningProcess& process);

}  // namespace beamheap::otp
