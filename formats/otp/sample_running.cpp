#include "formats/otp/sample_running.hpp"

#include <fmt/format.h>

#include "formats/otp/core_artifact.hpp"
#include "formats/otp/sampling/sampling.hpp"

namespace beamheap::otp {

Result<CpuSamples> sample_running(std::uint32_t pid, const OpenOptions& options, Snapshot& snapshot, const SampleRequest& request) {
    BH_TRY(const RunningVm running, attach(pid, fmt::format("{}", pid), options));
    Reader reader(*running.vm, snapshot);
    return sample_cpu({reader, *running.image->process()}, request);
}

Result<AllocationSamples> sample_running_allocations(std::uint32_t pid, const OpenOptions& options, Snapshot& snapshot, const SampleRequest& request) {
    BH_TRY(const RunningVm running, attach(pid, fmt::format("{}", pid), options));
    Reader reader(*running.vm, snapshot);
    return sample_allocations({reader, *running.image->process()}, request);
}

}  // namespace beamheap::otp
