// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/sampling/scheduling.hpp"

#include <algorithm>
#include <vector>

namespace beamheap::otp {

void release_scheduling(CpuSamples& samples) {
    std::vector<bool> schedules(samples.natives.size());
    for (std::size_t i = 0; i < schedules.size(); ++i) schedules[i] = samples.natives[i].name == "erts_schedule";
    const auto of_process = [](const CpuSample& sample) {
        return sample.basis != SampleBasis::none && !sample.native.empty();
    };
    for (const CpuSample& sample : samples.samples) {
        if (!of_process(sample) || samples.threads[sample.thread].kind != Scheduler::Kind::normal ||
            !samples.natives[sample.native.back()].name.empty())
            continue;
        if (std::ranges::any_of(sample.native,
                                [&](std::uint32_t native) { return samples.natives[native].name == "epoll_wait"; }))
            schedules[sample.native.back()] = true;
    }
    for (CpuSample& sample : samples.samples) {
        if (!of_process(sample) || !schedules[sample.native.back()]) continue;
        sample.basis = SampleBasis::none;
        sample.cut = false;
        sample.pid = {};
        sample.stack = StackId::none;
    }
}

}  // namespace beamheap::otp
