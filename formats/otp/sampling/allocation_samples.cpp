#include <poll.h>
#include <time.h>

#include <algorithm>
#include <optional>
#include <random>

#include "formats/otp/sampling/scheduler_sampler.hpp"

namespace beamheap::otp {
namespace {

constexpr std::uint64_t nanosecond_rate = 1'000'000'000;
constexpr std::uint32_t most_arms = 400;           // a second, of all schedulers together: each costs the VM some 50 us
constexpr std::uint64_t kept_free = 8;             // words above the heap's top that a call may have to itself already
constexpr std::uint32_t watched_stack_bytes = 8192;  // of the stack with each hit: enough to unwind a BIF

// A scheduler, and the word that is watched for it now.
struct Watch {
    std::optional<bytes::Watchpoint> point;
    SeenProcess process;        // when it was armed
    std::uint64_t address = 0;  // of the word
    std::uint64_t words = 0;    // that were free
};

class AllocationSampler {
public:
    AllocationSampler(SchedulerSampler& schedulers, AllocationSamples& result)
        : schedulers_(schedulers), result_(result), random_(monotonic_ns()) {
        for (std::size_t i = 0; i < schedulers.threads().size(); ++i) {
            result.threads.push_back(schedulers.threads()[i].thread);
            if (schedulers.threads()[i].thread.kind == Scheduler::Kind::normal) watched_.push_back(i);
        }
        watches_.resize(watched_.size());
    }
    std::size_t watched() const { return watched_.size(); }

    /// Ends what is watched, and watches anew. Errors: a right is missing.
    Status arm() {
        for (std::size_t i = 0; i < watches_.size(); ++i) {
            end(watches_[i]);
            BH_CHECK(arm(watches_[i], watched_[i]));
        }
        return ok();
    }
    /// Takes hits until `until` (ns), as long as something is watched.
    void wait(std::uint64_t until) {
        for (std::uint64_t now = monotonic_ns(); now < until; now = monotonic_ns()) {
            std::vector<pollfd> waits;
            for (const Watch& watch : watches_) waits.push_back({watch.point ? watch.point->descriptor() : -1, POLLIN, 0});
            const timespec rest{static_cast<time_t>((until - now) / nanosecond_rate), static_cast<long>((until - now) % nanosecond_rate)};
            if (ppoll(waits.data(), waits.size(), &rest, nullptr) <= 0) return;
            for (std::size_t i = 0; i < waits.size(); ++i) {
                if (waits[i].revents == 0) continue;
                bytes::ThreadSample sample;
                if (watches_[i].point->taken(sample)) take(watches_[i], sample);
                watches_[i].point.reset();
            }
        }
    }

private:
    Status arm(Watch& watch, std::size_t thread) {
        const std::uint64_t current = schedulers_.current_process(thread);
        watch.process = schedulers_.see(current);
        const SeenProcess& p = watch.process;
        if (p.address == 0 || p.heap > p.top || p.top > p.stop || p.stop > p.end || p.stop - p.top <= 8 * (kept_free + 1)) return ok();
        watch.words = (p.stop - p.top) / 8 - kept_free;
        watch.address = p.top + 8 * std::uniform_int_distribution<std::uint64_t>(0, watch.words - 1)(random_);
        auto point = bytes::Watchpoint::open(schedulers_.threads()[thread].thread.id, watch.address, watched_stack_bytes);
        if (point) {
            ++result_.arms;
            watch.point.emplace(std::move(*point));
            return ok();
        }
        if (point.error().code != ErrorCode::resource_limit || result_.arms == 0) return std::move(point.error());
        ++result_.refused;
        return ok();
    }
    // A word that nobody was seen to write to.
    void end(Watch& watch) {
        if (!watch.point) return;
        watch.point.reset();
        const SeenProcess now = schedulers_.see(watch.process.address);
        const bool allocated = now.address != 0 && now.id == watch.process.id && now.heap == watch.process.heap && now.top > watch.address;
        ++(allocated ? result_.passed : result_.no_hit);
    }
    void take(const Watch& watch, const bytes::ThreadSample& sample) {
        const ResolvedSample resolved = schedulers_.resolve(sample);
        // Where the block has become somebody else's memory meanwhile, its writer did not allocate there.
        if (resolved.process.address != watch.process.address || resolved.process.id != watch.process.id) {
            ++result_.collections;
            return;
        }
        if (resolved.basis == SampleBasis::exact && resolved.native == 0 && watch.address >= sample.stack_pointer()) {
            ++result_.stack_growth;
            return;
        }
        AllocationHit hit;
        for (std::size_t i = 0; i < resolved.native; ++i) {
            const std::uint32_t native = schedulers_.native(schedulers_.frames()[i]);
            const std::string& name = schedulers_.natives()[native].name;
            if (name.find("garbage_collect") != name.npos) {
                ++result_.collections;
                return;
            }
            if (hit.native == AllocationHit::no_native && !name.empty()) hit.native = native;
        }
        if (resolved.native != 0 && hit.native == AllocationHit::no_native) hit.native = schedulers_.native(schedulers_.frames()[0]);
        hit.thread = static_cast<std::uint32_t>(schedulers_.thread_of(sample.thread));
        hit.basis = resolved.basis;
        hit.words = watch.words;
        hit.pid = schedulers_.pid(resolved.process);
        // A stack that may be of a later call does not say who allocated.
        if (resolved.basis == SampleBasis::approximate && !resolved.by_code) hit.basis = SampleBasis::moved;
        if (hit.basis != SampleBasis::moved && !resolved.frames.empty()) hit.function = resolved.frames.front().function;
        result_.hits.push_back(hit);
    }

    SchedulerSampler& schedulers_;
    AllocationSamples& result_;
    std::mt19937_64 random_;
    std::vector<std::size_t> watched_;  // indexes of normal schedulers' threads
    std::vector<Watch> watches_;
};

}  // namespace

Result<AllocationSamples> sample_allocations(SamplingTarget target, const SampleRequest& request) {
    BH_TRY(const std::unique_ptr<SchedulerSampler> schedulers, SchedulerSampler::make(target));
    BH_CHECK(schedulers->learn(request.stop));
    AllocationSamples result;
    AllocationSampler sampler(*schedulers, result);
    if (sampler.watched() == 0) return Error{ErrorCode::not_held, "no scheduler's thread was found in this process", {}};
    const auto bound = std::max<std::uint32_t>(1, most_arms / static_cast<std::uint32_t>(sampler.watched()));
    result.hertz = std::clamp(request.hertz, 1u, bound);
    result.begin_ns = unix_ns();
    const std::uint64_t begin = monotonic_ns(), period = nanosecond_rate / result.hertz;
    const auto length = static_cast<std::uint64_t>(request.seconds * 1e9);
    for (std::uint64_t next = begin + period; monotonic_ns() - begin < length; next = std::max(next + period, monotonic_ns())) {
        BH_CHECK(sampler.arm());
        sampler.wait(next);
        if (const std::uint64_t now = monotonic_ns(); now < next) {
            const timespec rest{0, static_cast<long>(std::min<std::uint64_t>(next - now, 100'000'000))};
            nanosleep(&rest, nullptr);
        }
        if ((result.gone = target.process.gone()) || (request.stop && request.stop())) {
            result.ended = true;
            break;
        }
    }
    result.seconds = static_cast<double>(monotonic_ns() - begin) / 1e9;
    result.natives = schedulers->take_natives();
    result.no_erlang = schedulers->no_erlang();
    result.missing = schedulers->missing();
    return result;
}

}  // namespace beamheap::otp
