// SPDX-License-Identifier: Apache-2.0
// Samples of a running VM added up: by function, stack, process or scheduler, and by whom a native function was called.
//
// A sample belongs to the youngest Erlang function of its stack: also the time in C code that this function called for
// (a BIF, a collection) is its own, and told apart (`native`). What has no Erlang function belongs to its youngest
// native function with a name.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/samples.hpp"

namespace beamheap::analyses {

/// "erts_garbage_collect"; "beam.smp+0x1af20" where the file is stripped of its name.
std::string native_text(const NativeFunction& function);

/// How well the Erlang parts are known, in samples; `by_basis` is indexed by SampleBasis.
struct SampleAccuracy {
    std::uint64_t samples = 0, erlang = 0;  ///< of those, in Erlang code
    std::array<std::uint64_t, sample_basis_count> by_basis{};
    std::uint64_t cut = 0;  ///< stacks without their oldest frames
    std::uint64_t operator[](SampleBasis basis) const { return by_basis[static_cast<std::size_t>(basis)]; }
};
SampleAccuracy accuracy(const CpuSamples& samples);

/// Which samples are added up.
struct SampleFilter {
    bool only_erlang = false;     ///< those that were taken in Erlang code
    std::string blamed;           ///< those within this native function; empty: all
    std::vector<bool> functions;  ///< those whose youngest Erlang function is marked; empty: all
    /// Those of processes that are marked, by ProcId; empty: all.
    std::vector<bool> processes;
};
/// Whether a native function is one that is blamed: `pattern` is its name, the beginning of its name, a name with * for
/// any text, or FILE+0xOFFSET of one without a name.
bool is_blamed(const NativeFunction& function, std::string_view pattern);

/// Samples of one function. Either is set: an Erlang function, or a native one that worked for none.
struct FunctionSamples {
    FunctionId function = FunctionId::none;
    std::uint32_t native_function =
        0;                     ///< index into CpuSamples::natives, where `function` is none; no_native: without a name
    std::uint64_t self = 0;    ///< samples in which it was the youngest
    std::uint64_t native = 0;  ///< of those, in C code that it had called
    std::uint64_t uncertain = 0;  ///< of those, of an approximate stack
    std::uint64_t total = 0;      ///< samples with it anywhere on the stack
};
inline constexpr std::uint32_t no_native = 0xFFFFFFFFu;
/// Most samples first.
std::vector<FunctionSamples> samples_by_function(const Snapshot& snapshot, const CpuSamples& samples,
                                                 const SampleFilter& filter);

/// Samples with one stack; of `example` all are alike.
struct StackSamples {
    std::uint32_t example = 0;  ///< index into CpuSamples::samples
    std::uint64_t count = 0;
    std::uint64_t uncertain = 0;
};
std::vector<StackSamples> samples_by_stack(const Snapshot& snapshot, const CpuSamples& samples,
                                           const SampleFilter& filter);

struct ProcessSamples {
    Pid pid;  ///< none: no process
    std::uint64_t count = 0, native = 0;
    FunctionId hottest = FunctionId::none;  ///< its function with most samples
};
std::vector<ProcessSamples> samples_by_process(const Snapshot& snapshot, const CpuSamples& samples,
                                               const SampleFilter& filter);

struct ThreadSamples {
    std::uint32_t thread = 0;                                    ///< index into CpuSamples::threads
    std::uint64_t count = 0, erlang = 0, native = 0, other = 0;  ///< other: of no process
    FunctionId hottest = FunctionId::none;
};
/// In the order of the threads, those without a sample too.
std::vector<ThreadSamples> samples_by_thread(const Snapshot& snapshot, const CpuSamples& samples,
                                             const SampleFilter& filter);

/// The youngest Erlang function of a sample; none where it has none.
FunctionId function_of(const Snapshot& snapshot, const CpuSample& sample);

}  // namespace beamheap::analyses
