// SPDX-License-Identifier: Apache-2.0
// The native stacks of a VM's threads: which of them are alike, which hold a function, and what was sampled.
//
// A core image is one sample of every thread at the same instant. `blame` asks who was inside a native function (a
// copy, a collection, a lock); several images together are what a sampling profiler would have collected.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/native.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// "erts_garbage_collect+0x1c2", "beam.smp+0x1af20" where its name was stripped; "compiled Erlang code" under the JIT.
std::string frame_text(const NativeFrame& frame);

/// Whether all schedulers for ordinary work are in code of a file (the VM's own functions, a NIF), and none in what the
/// JIT wrote. false where one of them has no stack.
bool all_schedulers_in_native(const NativeThreads& native);

/// Threads with one stack and one process, or with none: threads that wait for work are alike.
struct ThreadGroup {
    std::vector<std::uint32_t> threads;  ///< indexes into NativeThreads::threads
    ProcId process = ProcId::none;
};
/// Those with a signal first, then those with a process, then the others, most threads first.
std::vector<ThreadGroup> group_threads(const NativeThreads& native);

/// Threads that were inside a native function, by the Erlang function that they were called from.
struct BlameGroup {
    FunctionId function = FunctionId::none;  ///< none: no Erlang process
    std::vector<std::uint32_t> threads;
};
struct Blame {
    std::vector<BlameGroup> groups;         ///< most threads first
    std::vector<std::string> names;         ///< all functions that were seen, sorted
    std::uint64_t threads = 0;              ///< that hold it
    std::uint64_t unnamed = 0, frames = 0;  ///< native frames without a name, and all of them
};
/// `pattern` is a function's name, in which * stands for any text; a compiler's suffixes (".isra.0") don't count.
Blame blame(const Snapshot& snapshot, const NativeThreads& native, std::string_view pattern);
/// The Erlang function that a thread worked for.
FunctionId erlang_function(const Snapshot& snapshot, const NativeThread& thread);

/// What one thread or process ran in one input.
struct Sample {
    std::string pid;
    std::string native;                  ///< youngest native function with a name; empty: Erlang code, or unknown
    std::vector<std::string> functions;  ///< Erlang frames, youngest first
};
/// Processes that ran or were collected, with what their thread did where `native` is given.
std::vector<Sample> samples(const Snapshot& snapshot, const NativeThreads* native);

struct SampleGroup {
    Sample example;
    std::uint64_t count = 0;
    double percent = 0;                 ///< of all samples
    std::vector<std::uint32_t> inputs;  ///< in which of them, each once
};
/// Samples of several inputs by stack and native function, most first. samples[i] are those of input i.
std::vector<SampleGroup> group_samples(std::span<const std::vector<Sample>> samples);

}  // namespace beamheap::analyses
