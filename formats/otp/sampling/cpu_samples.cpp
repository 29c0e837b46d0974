// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <algorithm>
#include <optional>
#include <set>

#include "formats/otp/sampling/held_schedulers.hpp"
#include "formats/otp/sampling/scheduler_sampler.hpp"
#include "formats/otp/sampling/scheduling.hpp"

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

class CpuSampler {
public:
    CpuSampler(SamplingTarget target, const SampleRequest& request, SchedulerSampler& schedulers)
        : target_(target), request_(request), schedulers_(schedulers) {
        for (const SchedulerThread& each : schedulers.threads()) result_.threads.push_back(each.thread);
    }
    /// By the kernel's events. Errors: those of ThreadSampler::open.
    Status by_events() {
        BH_CHECK(schedulers_.learn(request_.stop));
        result_.hertz = std::clamp(request_.hertz, 1u, bytes::ThreadSampler::most_hertz);
        BH_TRY(bytes::ThreadSampler sampler,
               bytes::ThreadSampler::open(schedulers_.thread_ids(), {result_.hertz, request_.stack_bytes}));
        std::vector<std::uint64_t> lags;
        const auto take = [&](const bytes::ThreadSample& sample) {
            const std::uint64_t now = monotonic_ns();
            if (lags.size() < most_lags && now > sample.time) lags.push_back(now - sample.time);
            const std::size_t thread = schedulers_.thread_of(sample.thread);
            if (thread == result_.threads.size()) return;
            if (request_.one_of_each && !seen_.insert(sample.thread).second) return;
            add(thread, schedulers_.resolve(sample));
        };
        for (begin(); left() > 0;) {
            sampler.wait(static_cast<int>(std::min<std::uint64_t>(100, left() / 1'000'000 + 1)), take);
            if (over(sampler.all_gone())) break;
        }
        const bytes::SampleCounts& counts = sampler.counts();
        result_.lost = counts.lost;
        result_.throttled = counts.throttled;
        result_.unusable = counts.unusable;
        end(lags);
        return ok();
    }
    /// By holding threads, in rounds over all that run. Errors: those of ThreadHolder::open.
    Status by_holding() {
        BH_TRY(bytes::ThreadHolder holder, bytes::ThreadHolder::open(target_.process.pid(), schedulers_.thread_ids(),
                                                                     request_.stack_bytes, target_.process));
        schedulers_.threads_stand(true);
        result_.held = true;
        BH_CHECK(schedulers_.learn(request_.stop, &holder));
        holder.held_ns().clear();
        result_.hertz = std::clamp(request_.hertz, 1u, bytes::ThreadHolder::most_hertz);
        begin();
        const std::uint64_t period = nanoseconds / result_.hertz;
        for (std::uint64_t next = begin_ + period; left() > 0; next = std::max(next + period, monotonic_ns())) {
            for (std::size_t i = 0; i < holder.threads(); ++i) {
                if (request_.one_of_each && seen_.contains(result_.threads[i].id)) continue;
                ResolvedSample resolved;
                if (!holder.sample(i, request_.one_of_each ? 0 : period,
                                   [&](const bytes::ThreadSample& sample) { resolved = schedulers_.resolve(sample); }))
                    continue;
                seen_.insert(result_.threads[i].id);
                add(i, resolved);  // names are looked for when the thread goes on again
            }
            if (over(holder.all_gone())) break;
            for (std::uint64_t now = monotonic_ns(); now < next && left() > 0 && !over(false); now = monotonic_ns()) {
                const timespec rest{0, static_cast<long>(std::min(next - now, nanoseconds / 10))};
                nanosleep(&rest, nullptr);
            }
        }
        result_.refused = holder.refused();
        end(holder.held_ns());
        return ok();
    }
    CpuSamples take() { return std::move(result_); }

private:
    void begin() {
        result_.begin_ns = unix_ns();
        begin_ = monotonic_ns();
        if (request_.one_of_each) held_.emplace(target_.reader, target_.process, schedulers_.threads());
    }
    std::uint64_t left() const {
        const auto length = static_cast<std::uint64_t>((request_.one_of_each ? 1.0 : request_.seconds) * 1e9);
        const std::uint64_t gone = monotonic_ns() - begin_;
        return gone < length ? length - gone : 0;
    }
    bool over(bool all_gone) {
        if (request_.one_of_each && seen_.size() == result_.threads.size()) return true;
        result_.gone = all_gone;
        return result_.ended = all_gone || (request_.stop && request_.stop());
    }
    void add(std::size_t thread, const ResolvedSample& resolved) {
        CpuSample& row = result_.samples.emplace_back();
        row.thread = static_cast<std::uint32_t>(thread);
        row.basis = resolved.basis;
        row.cut = resolved.cut;
        result_.unfollowed += !resolved.followed;
        if (resolved.process.address != 0) row.pid = schedulers_.pid(resolved.process);
        row.stack = schedulers_.stack(resolved.frames);
        for (std::size_t i = 0; i < resolved.native; ++i)
            row.native.push_back(schedulers_.native(schedulers_.frames()[i]));
    }
    // Threads that gave no sample, have a process in hand and sleep.
    void add_held() {
        if (!held_ || !held_->any()) return;
        std::vector<std::byte> buffer;
        schedulers_.threads_stand(true);
        for (const HeldThread& each : held_->still()) {
            if (seen_.contains(result_.threads[each.thread].id)) continue;
            add(each.thread, schedulers_.resolve_held(held_->sample(each, buffer), each.process));
            result_.samples.back().held_in = each.wait.words();
        }
    }
    void end(std::vector<std::uint64_t>& lags) {
        add_held();
        result_.seconds = static_cast<double>(monotonic_ns() - begin_) / static_cast<double>(nanoseconds);
        result_.lag_p50 = quantile(lags, 50);
        result_.lag_p90 = quantile(lags, 90);
        result_.lag_p99 = quantile(lags, 99);
        result_.natives = schedulers_.take_natives();
        release_scheduling(result_);
        result_.code_reloads = schedulers_.code_reloads();
        result_.no_erlang = schedulers_.no_erlang();
        result_.missing = schedulers_.missing();
    }

    SamplingTarget target_;
    const SampleRequest& request_;
    SchedulerSampler& schedulers_;
    CpuSamples result_;
    std::set<std::uint32_t> seen_;  // ids of threads that have given a sample
    std::optional<HeldThreads> held_;
    std::uint64_t begin_ = 0;
};

}  // namespace

Result<CpuSamples> sample_cpu(SamplingTarget target, const SampleRequest& request) {
    BH_TRY(const std::unique_ptr<SchedulerSampler> schedulers, SchedulerSampler::make(target));
    CpuSampler sampler(target, request, *schedulers);
    BH_CHECK(request.hold_threads ? sampler.by_holding() : sampler.by_events());
    return sampler.take();
}

}  // namespace beamheap::otp
