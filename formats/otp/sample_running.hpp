// SPDX-License-Identifier: Apache-2.0
// Sampling a VM that runs: attached to anew, beside whatever else was read of it.
#pragma once

#include <vector>

#include "beamheap/artifact.hpp"
#include "beamheap/samples.hpp"

namespace beamheap::otp {

/// What the schedulers of the VM with this pid do with their CPU time. `snapshot` is that of an artifact of it, loaded:
/// its processes say where stacks begin, and functions and stacks that are seen are added to it. Errors: those of
/// attach() and sample_cpu().
Result<CpuSamples> sample_running(std::uint32_t pid, const OpenOptions& options, Snapshot& snapshot,
                                  const SampleRequest& request);

/// Which functions of it allocate on the heaps of processes. Errors: those of attach() and sample_allocations().
Result<AllocationSamples> sample_running_allocations(std::uint32_t pid, const OpenOptions& options, Snapshot& snapshot,
                                                     const SampleRequest& request);

/// A function's code as it stands in a running VM's memory, with what tells which function it is in front of it.
struct LoadedFunction {
    std::uint64_t start = 0, end = 0;  ///< addresses
    FunctionId function = FunctionId::none;
};

/// All functions whose code is loaded now, added to those of `snapshot`. Errors: those of attach(); not_held of an
/// interpreter, whose code is no machine's.
Result<std::vector<LoadedFunction>> loaded_functions(std::uint32_t pid, const OpenOptions& options, Snapshot& snapshot);

}  // namespace beamheap::otp
