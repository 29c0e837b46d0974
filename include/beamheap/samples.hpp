// SPDX-License-Identifier: Apache-2.0
// What the threads of a running VM were seen doing, and which functions were seen to allocate: samples, not sums.
//
// A sample is one instant of one thread: native functions, youngest first, and the stack of the Erlang process that it
// worked for. How far the Erlang part can be trusted differs from sample to sample, because the kernel copies the stack
// that the thread itself is on: while Erlang code runs that is the process's, while C code runs it is the thread's, and
// the process's is read a moment later.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "beamheap/ids.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap {

/// How the Erlang part of a sample is known, the best first.
enum class SampleBasis : std::uint8_t {
    exact,    ///< in Erlang code: registers and stack are of the same instant
    checked,  ///< in C code: the stack was read a moment later, and the process was still in the same call by its heap
    approximate,  ///< in C code: the stack was read later, and may be of a later call of the same process
    moved,        ///< in C code: the process is known, what it called from had gone by the time it was read
    none,         ///< no process: the scheduler's own work, or a stack that could not be followed to its caller
};
inline constexpr std::size_t sample_basis_count = 5;
std::string_view name_of(SampleBasis basis);

/// A native function; without its name where the file is stripped of it: then `offset` is where it begins in the file's
/// memory.
struct NativeFunction {
    std::string name;
    std::string file;  ///< "beam.smp", "libc.so.6"
    std::uint64_t offset = 0;
    friend bool operator==(const NativeFunction&, const NativeFunction&) = default;
};

/// A thread that was sampled.
struct SampledThread {
    std::uint32_t id = 0;  ///< of the kernel
    std::string role;      ///< "scheduler:1", "dirty_cpu_scheduler:3"
    Scheduler::Kind kind = Scheduler::Kind::normal;
};

struct CpuSample {
    std::uint32_t thread = 0;  ///< index into CpuSamples::threads
    SampleBasis basis = SampleBasis::none;
    bool cut = false;                   ///< older Erlang frames are missing
    Pid pid;                            ///< none where no process is known
    StackId stack = StackId::none;      ///< Erlang frames, of Snapshot::stacks
    std::vector<std::uint32_t> native;  ///< youngest first, indexes into CpuSamples::natives; empty: in Erlang code
    /// Of a thread that did not run, but sleeps with a process in hand (SampleRequest::one_of_each): the call of the
    /// system, "write() on standard output, a pipe". Empty: it ran.
    std::string held_in;
};

struct SampleRequest {
    std::uint32_t hertz = 99;
    double seconds = 10;
    std::uint32_t stack_bytes = 16384;  ///< of the thread's stack with each sample
    /// Ends after one sample of each thread that runs, or one second.
    bool one_of_each = false;
    /// Threads are held for the instant of each sample (ptrace), in place of the kernel's events.
    bool hold_threads = false;
    /// Asked a few times a second: true ends the sampling early. May be empty.
    std::function<bool()> stop;
};

struct CpuSamples {
    std::vector<SampledThread> threads;
    std::vector<NativeFunction> natives;
    std::vector<CpuSample> samples;
    std::uint32_t hertz = 0;
    double seconds = 0;                     ///< that were sampled
    std::int64_t begin_ns = 0;              ///< when that began: nanoseconds since 1970, UTC
    std::uint64_t lost = 0, throttled = 0;  ///< samples that had no room; times that the kernel held its clock back
    std::uint64_t unusable = 0;             ///< samples without registers
    std::uint64_t unfollowed =
        0;              ///< samples in C code whose frames led neither to Erlang code nor to where their thread began
    bool held = false;  ///< threads were held for the samples
    std::uint64_t refused = 0;  ///< times that a thread could not be held
    std::uint64_t lag_p50 = 0, lag_p90 = 0,
                  lag_p99 = 0;         ///< ns from a sample to its being read; held: for which a thread stood
    std::uint64_t code_reloads = 0;    ///< times that loaded code was listed again
    bool ended = false;                ///< the VM ended, or stopped early at the user's wish
    bool gone = false;                 ///< the VM ended
    std::string no_erlang;             ///< why Erlang functions are not told at all, a sentence; empty where they are
    std::vector<std::string> missing;  ///< files that can't be unwound, each with the reason
};

/// A word of free heap that was written to: the function that did it allocates, and stands for the `words` that were
/// free.
struct AllocationHit {
    std::uint32_t thread = 0;
    SampleBasis basis = SampleBasis::none;
    std::uint64_t words =
        0;  ///< free words of the heap out of which one was watched; of a fragment, what it stands for
    Pid pid;
    FunctionId function = FunctionId::none;
    std::uint32_t native = no_native;  ///< innermost named native function, index into AllocationSamples::natives
    static constexpr std::uint32_t no_native = 0xFFFFFFFFu;
    std::uint32_t fragment = 0;  ///< not 0: it was not on the heap but in a fragment beside it; the number of the watch
                                 ///< that saw it, with others as a rule
};

struct AllocationSamples {
    std::vector<SampledThread> threads;
    std::vector<NativeFunction> natives;
    std::vector<AllocationHit> hits;
    std::uint32_t hertz = 0;
    double seconds = 0;
    std::int64_t begin_ns = 0;        ///< nanoseconds since 1970, UTC
    std::uint64_t arms = 0;           ///< words that were watched
    std::uint64_t fragment_arms = 0;  ///< times that a process's sum of fragments was watched instead
    std::uint64_t no_hit = 0;         ///< of those, not written to in time
    std::uint64_t passed = 0;         ///< of those, allocated without a write that was seen: the process ran elsewhere
    std::uint64_t stack_growth = 0;   ///< written by the stack
    std::uint64_t collections = 0;    ///< written by a garbage collection, or by whose memory it had become
    std::uint64_t refused = 0;        ///< times that no debug register was to be had
    bool ended = false, gone = false;
    std::string no_erlang;
    std::vector<std::string> missing;
};

}  // namespace beamheap
