// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "formats/otp/sampling/allocation_estimate.hpp"
#include "formats/otp/sampling/scheduler_sampler.hpp"

namespace beamheap::otp {
namespace {

constexpr std::uint64_t nanosecond_rate = 1'000'000'000;
constexpr std::uint32_t most_arms = 400;  // a second, of all schedulers together: each costs the VM some 50 us
constexpr std::uint32_t watched_stack_bytes = 8192;  // of the stack with each hit: enough to unwind a BIF

constexpr std::uint32_t fragment_stack_bytes = 2048;  // of the stack with each write to a sum of fragments
constexpr std::uint32_t most_fragment_writes = 16;    // that are waited for: each holds the process up for some 50 us

// A scheduler, and the word that is watched for it now.
struct Watch {
    std::optional<bytes::Watchpoint> point;
    SeenProcess process;                  // when it was armed
    std::uint64_t address = 0;            // of the word
    std::uint64_t words = 0;              // that were free; of fragments, their sum when it was last read
    bool fragments = false;               // it is a process's sum of them
    std::uint32_t turn = 0;               // the number of this watch
    bool watched = false;                 // a word of the heap was to be watched: its period is to be noted
    std::optional<std::uint64_t> before;  // the sum of fragments then
    std::uint64_t hit_words = 0;          // what its hit stands for; 0: none came
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
    /// Ends what is watched. Writes to fragments stand for what these grew by beside the heap, then.
    void stop() {
        for (Watch& watch : watches_) end(watch);
        growth_.spread(result_.hits);
    }
    /// Takes hits until `until` (ns), as long as something is watched.
    void wait(std::uint64_t until) {
        for (std::uint64_t now = monotonic_ns(); now < until; now = monotonic_ns()) {
            std::vector<pollfd> waits;
            for (const Watch& watch : watches_)
                waits.push_back({watch.point ? watch.point->descriptor() : -1, POLLIN, 0});
            const timespec rest{static_cast<time_t>((until - now) / nanosecond_rate),
                                static_cast<long>((until - now) % nanosecond_rate)};
            if (ppoll(waits.data(), waits.size(), &rest, nullptr) <= 0) return;
            for (std::size_t i = 0; i < waits.size(); ++i) {
                if (waits[i].revents == 0) continue;
                if (watches_[i].fragments) {
                    take_fragments(watches_[i]);
                    continue;
                }
                bytes::ThreadSample sample;
                if (watches_[i].point->taken(sample)) watches_[i].hit_words = take(watches_[i], sample);
                watches_[i].point.reset();
            }
        }
    }

private:
    Status arm(Watch& watch, std::size_t thread) {
        const std::uint64_t current = schedulers_.current_process(thread);
        watch.process = schedulers_.see(current);
        const SeenProcess& p = watch.process;
        const ChosenWord chosen = choose_word(p, random_());
        if (chosen.words == 0) return ok();
        watch.turn = static_cast<std::uint32_t>(turn_ + 1);
        watch.fragments =
            turn_++ % fragment_turns == first_fragment_turn_ && schedulers_.fragment_words(p.address, watch.words);
        if (watch.fragments) return arm_fragments(watch, thread);
        watch.hit_words = 0;
        std::uint64_t sum = 0;
        watch.before = schedulers_.fragment_words(p.address, sum) ? std::optional(sum) : std::nullopt;
        watch.words = chosen.words;
        watch.address = chosen.address;
        auto point =
            bytes::Watchpoint::open(schedulers_.threads()[thread].thread.id, watch.address, 1, watched_stack_bytes);
        if (point) {
            ++result_.arms;
            watch.watched = true;
            watch.point.emplace(std::move(*point));
            return ok();
        }
        if (point.error().code != ErrorCode::resource_limit || result_.arms == 0) return std::move(point.error());
        ++result_.refused;
        return ok();
    }
    Status arm_fragments(Watch& watch, std::size_t thread) {
        auto point = bytes::Watchpoint::open(schedulers_.threads()[thread].thread.id,
                                             schedulers_.fragment_words_of(watch.process.address), most_fragment_writes,
                                             fragment_stack_bytes);
        if (point) {
            ++result_.fragment_arms;
            watch.hit_words = 0;
            watch.point.emplace(std::move(*point));
        } else if (point.error().code != ErrorCode::resource_limit) {
            return std::move(point.error());
        }
        return ok();
    }
    // Writes to a sum of fragments, and what it has grown by. A collection (which takes the fragments in, and moves or
    // empties the heap) ends it.
    void take_fragments(Watch& watch) {
        std::vector<AllocationHit> hits;
        bool collected = false;
        watch.point->each([&](const bytes::ThreadSample& sample) {
            const ResolvedSample resolved = schedulers_.resolve(sample);
            if (resolved.process.address != watch.process.address || resolved.process.id != watch.process.id) return;
            AllocationHit hit;
            collected = collected || !describe(resolved, sample, hit);
            if (!collected) hits.push_back(hit);
        });
        std::uint64_t sum = 0;
        const SeenProcess now = schedulers_.see(watch.process.address);
        collected = collected || now.id != watch.process.id || now.heap != watch.process.heap ||
                    !schedulers_.fragment_words(now.address, sum) || sum < watch.words;
        if (collected) {
            watch.point.reset();
            return;  // how much it was until then is gone
        }
        if (hits.empty()) return;  // what it grew by belongs to writes that are still to be seen, or had no room
        for (AllocationHit& hit : hits) {
            hit.fragment = watch.turn;
            hit.words = (sum - watch.words) / hits.size();
            if (hit.words != 0) result_.hits.push_back(hit);
        }
        watch.words = sum;
        watch.hit_words += hits.size();
        if (watch.hit_words >= most_fragment_writes) watch.point.reset();
    }
    // What fragments grew by while a word of the heap was watched, where the heap is the same still.
    void note_growth(Watch& watch) {
        if (!std::exchange(watch.watched, false)) return;
        const SeenProcess now = schedulers_.see(watch.process.address);
        std::uint64_t sum = 0;
        const bool same = watch.before && now.id == watch.process.id && now.heap == watch.process.heap &&
                          now.top >= watch.process.top && schedulers_.fragment_words(now.address, sum) &&
                          sum >= *watch.before;
        growth_.note(schedulers_.pid(watch.process), watch.hit_words,
                     same ? std::optional(sum - *watch.before) : std::nullopt);
    }
    // A word that nobody was seen to write to.
    void end(Watch& watch) {
        if (watch.fragments) {
            if (watch.point) take_fragments(watch);
            watch.point.reset();
            return;
        }
        note_growth(watch);
        if (!watch.point) return;
        watch.point.reset();
        const SeenProcess now = schedulers_.see(watch.process.address);
        const bool allocated =
            now.address != 0 && now.id == watch.process.id && now.heap == watch.process.heap && now.top > watch.address;
        ++(allocated ? result_.passed : result_.no_hit);
    }
    // Gives what the hit stands for; 0: it is none.
    std::uint64_t take(const Watch& watch, const bytes::ThreadSample& sample) {
        const ResolvedSample resolved = schedulers_.resolve(sample);
        // Where the block has become somebody else's memory meanwhile, its writer did not allocate there.
        if (resolved.process.address != watch.process.address || resolved.process.id != watch.process.id) {
            ++result_.collections;
            return 0;
        }
        // (An interpreter's thread has a stack of its own, wherever that is.)
        if (resolved.native == 0 && resolved.stack_top != 0 && watch.address >= resolved.stack_top) {
            ++result_.stack_growth;
            return 0;
        }
        AllocationHit hit;
        if (!describe(resolved, sample, hit)) {
            ++result_.collections;
            return 0;
        }
        hit.words = watch.words;
        result_.hits.push_back(hit);
        return hit.words;
    }
    // Who it was; false: a garbage collection.
    bool describe(const ResolvedSample& resolved, const bytes::ThreadSample& sample, AllocationHit& hit) {
        for (std::size_t i = 0; i < resolved.native; ++i) {
            const std::uint32_t native = schedulers_.native(schedulers_.frames()[i]);
            const std::string& name = schedulers_.natives()[native].name;
            if (name.find("garbage_collect") != name.npos || name.starts_with("erts_gc_after_bif_call")) return false;
            if (hit.native == AllocationHit::no_native && !name.empty()) hit.native = native;
        }
        if (resolved.native != 0 && hit.native == AllocationHit::no_native)
            hit.native = schedulers_.native(schedulers_.frames()[0]);
        hit.thread = static_cast<std::uint32_t>(schedulers_.thread_of(sample.thread));
        hit.basis = resolved.basis;
        hit.pid = schedulers_.pid(resolved.process);
        // A stack that may be of a later call does not say who allocated.
        if (resolved.basis == SampleBasis::approximate && !resolved.by_code) hit.basis = SampleBasis::moved;
        if (hit.basis != SampleBasis::moved && !resolved.frames.empty())
            hit.function = resolved.frames.front().function;
        return true;
    }

    SchedulerSampler& schedulers_;
    AllocationSamples& result_;
    std::mt19937_64 random_;
    std::vector<std::size_t> watched_;  // indexes of normal schedulers' threads
    std::vector<Watch> watches_;
    FragmentGrowth growth_;
    std::uint64_t turn_ = 0;
    std::uint64_t first_fragment_turn_ = random_() % fragment_turns;
};

}  // namespace

Result<AllocationSamples> sample_allocations(SamplingTarget target, const SampleRequest& request) {
    BH_TRY(const std::unique_ptr<SchedulerSampler> schedulers, SchedulerSampler::make(target));
    BH_CHECK(schedulers->learn(request.stop));
    AllocationSamples result;
    AllocationSampler sampler(*schedulers, result);
    if (sampler.watched() == 0)
        return Error{ErrorCode::not_held, "no scheduler's thread was found in this process", {}};
    const auto bound = std::max<std::uint32_t>(1, most_arms / static_cast<std::uint32_t>(sampler.watched()));
    result.hertz = std::clamp(request.hertz, 1u, bound);
    result.begin_ns = unix_ns();
    const std::uint64_t begin = monotonic_ns(), period = nanosecond_rate / result.hertz;
    const auto length = static_cast<std::uint64_t>(request.seconds * 1e9);
    for (std::uint64_t next = begin + period; monotonic_ns() - begin < length;
         next = std::max(next + period, monotonic_ns())) {
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
    sampler.stop();
    result.seconds = static_cast<double>(monotonic_ns() - begin) / 1e9;
    result.natives = schedulers->take_natives();
    result.no_erlang = schedulers->no_erlang();
    result.missing = schedulers->missing();
    return result;
}

}  // namespace beamheap::otp
