// SPDX-License-Identifier: Apache-2.0
// Registers and stacks of threads that go on running, taken by the kernel: perf events of Linux.
//
// Two kinds of events are used. One is a clock of the CPU time of a thread: each time that it has run for a period the
// kernel interrupts it and copies its registers and the top of its stack into a ring that both sides have mapped, so
// that the two belong together whatever the thread does next. The other watches a word of memory: the first write to it
// gives the same record, with the instruction behind the one that wrote. Neither stops a thread for longer than the
// copy, nor writes to it; both end with the descriptors that they were opened by, also when this program is killed.
//
// The kernel is left out (exclude_kernel), which is what users without further rights may ask for. Samples count CPU
// time: a thread that sleeps gives none.
//
// Facts: perf_event_open(2); include/uapi/linux/perf_event.h, arch/x86/include/uapi/asm/perf_regs.h of Linux. Periods
// much below 100 us are never asked for: where the interrupt takes longer than its period, the thread does not get on
// at all (observed at 10 us).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "beamheap/error.hpp"
#include "bytes/core_notes.hpp"

namespace beamheap::bytes {

/// What one event has told of a thread.
struct ThreadSample {
    static constexpr std::size_t register_count = static_cast<std::size_t>(X86::count_);
    std::uint32_t thread = 0;                               ///< kernel thread id
    std::uint64_t time = 0;                                 ///< nanoseconds of CLOCK_MONOTONIC
    std::array<std::uint64_t, register_count> registers{};  ///< by DWARF's numbers
    Bytes stack;  ///< what stood at the stack pointer and above; valid until the next sample is read
    std::uint64_t operator[](X86 r) const { return registers[static_cast<std::size_t>(r)]; }
    std::uint64_t stack_pointer() const { return (*this)[X86::rsp]; }
    std::uint64_t program_counter() const { return (*this)[X86::rip]; }
};

/// What came out of the rings beside samples.
struct SampleCounts {
    std::uint64_t samples = 0;
    std::uint64_t lost = 0;       ///< samples for which a ring had no room
    std::uint64_t throttled = 0;  ///< times that the kernel held the clock back
    std::uint64_t unusable = 0;   ///< without user registers (a kernel thread, a 32-bit program), or cut
};

/// Hands over the records in the bytes [tail, head) of a ring of `ring.size()` bytes (a power of two), each whole:
/// those that wrap around its end are put together in `scratch`. Gives where reading has come to: a record that claims
/// more than is there, or nothing at all, ends it.
std::uint64_t each_ring_record(Bytes ring, std::uint64_t tail, std::uint64_t head, std::vector<std::byte>& scratch,
                               const std::function<void(Bytes record)>& visit);
/// Takes a record apart: true where it is a sample with user registers, which `sample` has then (its stack lies in the
/// record). Others are counted.
bool parse_thread_record(Bytes record, ThreadSample& sample, SampleCounts& counts);

/// Whether this machine's processor is one whose registers are read here (x86-64).
bool can_sample_threads();

/// Samples of threads by their CPU time.
class ThreadSampler {
public:
    struct Options {
        std::uint32_t hertz = 99;           ///< samples for each second that a thread has run; at most most_hertz
        std::uint32_t stack_bytes = 16384;  ///< of the stack with each sample; a multiple of 8, at most 65528
    };
    static constexpr std::uint32_t most_hertz = 4000;

    /// Errors: unreadable, with the right that is missing and its cure; no thread is there any more.
    static Result<ThreadSampler> open(std::span<const std::uint32_t> threads, Options options);
    ThreadSampler(ThreadSampler&&) noexcept;
    ThreadSampler& operator=(ThreadSampler&&) noexcept;
    ~ThreadSampler();

    /// Waits until there are samples or `milliseconds` have passed (or a signal came), and hands over all that there
    /// are.
    void wait(int milliseconds, const std::function<void(const ThreadSample&)>& visit);
    const SampleCounts& counts() const;
    /// Whether all of the threads have ended.
    bool all_gone() const;

private:
    struct State;
    explicit ThreadSampler(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Told of writes that a thread makes to 8 bytes of memory.
class Watchpoint {
public:
    /// `address` is a multiple of 8. The kernel ends it after `most` writes, at least 1, whenever these are asked for:
    /// what it costs the thread is bounded. Errors: unreadable, as for the sampler; resource_limit where the thread has
    /// no free debug register (a debugger has them), or is gone.
    static Result<Watchpoint> open(std::uint32_t thread, std::uint64_t address, std::uint32_t most,
                                   std::uint32_t stack_bytes);
    Watchpoint(Watchpoint&&) noexcept;
    Watchpoint& operator=(Watchpoint&&) noexcept;
    ~Watchpoint();

    /// To wait for, as poll(2) does.
    int descriptor() const;
    /// Whether the word was written to, and by whom first. The stack is valid as long as the watchpoint.
    bool taken(ThreadSample& sample);
    /// All writes since the last call that there was room for; the stacks are valid during the call.
    void each(const std::function<void(const ThreadSample&)>& visit);

private:
    struct State;
    explicit Watchpoint(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace beamheap::bytes
