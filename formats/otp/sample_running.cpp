// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/sample_running.hpp"

#include <fmt/format.h>

#include "formats/otp/core_artifact.hpp"
#include "formats/otp/sampling/sampling.hpp"

namespace beamheap::otp {

Result<CpuSamples> sample_running(std::uint32_t pid, const OpenOptions& options, Snapshot& snapshot,
                                  const SampleRequest& request) {
    BH_TRY(const RunningVm running, attach(pid, fmt::format("{}", pid), options));
    Reader reader(*running.vm, snapshot);
    return sample_cpu({reader, *running.image->process()}, request);
}

Result<AllocationSamples> sample_running_allocations(std::uint32_t pid, const OpenOptions& options, Snapshot& snapshot,
                                                     const SampleRequest& request) {
    BH_TRY(const RunningVm running, attach(pid, fmt::format("{}", pid), options));
    Reader reader(*running.vm, snapshot);
    return sample_allocations({reader, *running.image->process()}, request);
}

Result<std::vector<LoadedFunction>> loaded_functions(std::uint32_t pid, const OpenOptions& options,
                                                     Snapshot& snapshot) {
    BH_TRY(const RunningVm running, attach(pid, fmt::format("{}", pid), options));
    if (!running.image->build().jit)
        return Error{ErrorCode::not_held,
                     "this VM interprets Erlang code: there is no machine code that a function's name could stand for",
                     {}};
    Reader reader(*running.vm, snapshot);
    std::vector<LoadedFunction> functions;
    reader.vm.code.each_function(reader.memory, [&](const Mfa& mfa, std::uint64_t start, std::uint64_t end) {
        functions.push_back({start, end, reader.function(mfa)});
    });
    return functions;
}

}  // namespace beamheap::otp
