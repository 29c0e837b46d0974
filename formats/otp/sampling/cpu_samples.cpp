#include <algorithm>
#include <set>

#include "formats/otp/sampling/scheduler_sampler.hpp"

namespace beamheap::otp {
namespace {

constexpr std::size_t most_lags = 1u << 20;
constexpr std::uint64_t nanoseconds = 1'000'000'000;

std::uint64_t quantile(std::vector<std::uint64_t>& values, unsigned percent) {
    if (values.empty()) return 0;
    const std::size_t n = (values.size() - 1) * percent / 100;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n), values.end());
    return values[n];
}

}  // namespace

Result<CpuSamples> sample_cpu(SamplingTarget target, const SampleRequest& request) {
    BH_TRY(const std::unique_ptr<SchedulerSampler> schedulers, SchedulerSampler::make(target));
    BH_CHECK(schedulers->learn(request.stop));
    CpuSamples result;
    for (const SchedulerThread& each : schedulers->threads()) result.threads.push_back(each.thread);
    result.hertz = std::clamp(request.hertz, 1u, bytes::ThreadSampler::most_hertz);
    BH_TRY(bytes::ThreadSampler sampler,
           bytes::ThreadSampler::open(schedulers->thread_ids(), {result.hertz, request.stack_bytes}));
    std::vector<std::uint64_t> lags;
    std::set<std::uint32_t> seen;
    const auto take = [&](const bytes::ThreadSample& sample) {
        const std::uint64_t now = monotonic_ns();
        if (lags.size() < most_lags && now > sample.time) lags.push_back(now - sample.time);
        const std::size_t thread = schedulers->thread_of(sample.thread);
        if (thread == result.threads.size()) return;
        if (request.one_of_each && !seen.insert(sample.thread).second) return;
        const ResolvedSample resolved = schedulers->resolve(sample);
        CpuSample& row = result.samples.emplace_back();
        row.thread = static_cast<std::uint32_t>(thread);
        row.basis = resolved.basis;
        row.cut = resolved.cut;
        if (resolved.process.address != 0) row.pid = schedulers->pid(resolved.process);
        row.stack = schedulers->stack(resolved.frames);
        for (std::size_t i = 0; i < resolved.native; ++i) row.native.push_back(schedulers->native(schedulers->frames()[i]));
    };
    const std::uint64_t begin = monotonic_ns();
    const auto length = static_cast<std::uint64_t>((request.one_of_each ? 1.0 : request.seconds) * 1e9);
    while (monotonic_ns() - begin < length) {
        sampler.wait(static_cast<int>(std::min<std::uint64_t>(100, (length - (monotonic_ns() - begin)) / 1'000'000 + 1)), take);
        if (request.one_of_each && seen.size() == result.threads.size()) break;
        if ((result.gone = sampler.all_gone()) || (request.stop && request.stop())) {
            result.ended = true;
            break;
        }
    }
    result.seconds = static_cast<double>(monotonic_ns() - begin) / static_cast<double>(nanoseconds);
    const bytes::SampleCounts& counts = sampler.counts();
    result.lost = counts.lost;
    result.throttled = counts.throttled;
    result.unusable = counts.unusable;
    result.lag_p50 = quantile(lags, 50);
    result.lag_p90 = quantile(lags, 90);
    result.lag_p99 = quantile(lags, 99);
    result.natives = schedulers->take_natives();
    result.code_reloads = schedulers->code_reloads();
    result.no_erlang = schedulers->no_erlang();
    result.missing = schedulers->missing();
    return result;
}

}  // namespace beamheap::otp
