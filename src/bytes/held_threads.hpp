// SPDX-License-Identifier: Apache-2.0
// Registers and stacks of threads of another process, each held for the instant in which they are read: ptrace(2).
//
// What the kernel's events (thread_samples.hpp) copy is right for the thread's own stack; what else belongs to the
// instant (an Erlang stack elsewhere in memory) has to be read while the thread stands. A thread is attached to,
// stopped, read and let go again as one step, so that between two samples nothing is attached: signals go to the
// process as ever, a debugger may come, and ending this program at any moment, by force too, leaves no thread stopped
// (the kernel lets go of what an ended tracer held). Only one thread stands at a time, some ten microseconds; the
// others go on.
//
// Nothing is written: no register, no word of memory. A signal that arrives in just that instant is passed on.
// Facts: ptrace(2), PTRACE_SEIZE and PTRACE_INTERRUPT; PTRACE_DETACH takes back an interrupt that is still pending
// (kernel/ptrace.c, ptrace_unlink).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "beamheap/error.hpp"
#include "bytes/running_process.hpp"
#include "bytes/thread_samples.hpp"

namespace beamheap::bytes {

class ThreadHolder {
public:
    static constexpr std::uint32_t most_hertz =
        1000;  ///< above, a thread would stand for more than a hundredth of the time
    /// Holds one of the threads once, for proof. `memory` must outlive the holder. Errors: unreadable, with the right
    /// that is missing, or who has attached to the process already.
    static Result<ThreadHolder> open(std::uint32_t process, std::vector<std::uint32_t> threads,
                                     std::uint32_t stack_bytes, const LiveMemory& memory);

    std::size_t threads() const { return threads_.size(); }
    /// Holds the thread with this index if it is on a CPU or ready for one and has used `period_ns` of CPU time since
    /// it last was (an interrupt makes it ready, so that one that only waits would be met for ever), and calls `visit`
    /// while it stands; false where it rests, has ended, or was refused (a debugger came).
    bool sample(std::size_t thread, std::uint64_t period_ns, const std::function<void(const ThreadSample&)>& visit);
    /// Whether all threads have ended.
    bool all_gone() const { return gone_ == threads_.size(); }
    /// For how long each sample held its thread, ns; at most some million of them.
    std::vector<std::uint64_t>& held_ns() { return held_ns_; }
    std::uint64_t refused() const { return refused_; }

private:
    struct Thread {
        std::uint32_t id = 0;
        bool gone = false;
        std::uint64_t on_cpu_ns = 0;  ///< of its CPU time, what samples stand for
    };
    ThreadHolder(std::uint32_t process, std::uint32_t stack_bytes, const LiveMemory& memory)
        : process_(process), memory_(&memory), stack_(stack_bytes) {}
    int hold(Thread& thread, const std::function<void(const ThreadSample&)>& visit);
    std::uint32_t process_;
    const LiveMemory* memory_;
    std::vector<std::byte> stack_;
    std::vector<Thread> threads_;
    std::vector<std::uint64_t> held_ns_;
    std::uint64_t refused_ = 0;
    std::size_t gone_ = 0;
};

}  // namespace beamheap::bytes
