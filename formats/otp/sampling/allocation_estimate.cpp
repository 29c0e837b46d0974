// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/sampling/allocation_estimate.hpp"

#include "model/whole.hpp"

namespace beamheap::otp {
namespace {

constexpr std::uint64_t enough_hits = 10;  // for a process to be judged by its own

}  // namespace

ChosenWord choose_word(const SeenProcess& p, std::uint64_t draw) {
    if (p.address == 0 || p.heap > p.top || p.top > p.stop || p.stop > p.end) return {};
    const std::uint64_t free = (p.stop - p.top) / 8;
    if (free <= words_in_hand + 1) return {};
    const std::uint64_t words = free - words_in_hand;
    return {p.top + 8 * (draw % words), words};
}

void FragmentGrowth::note(Pid process, std::uint64_t hit_words, std::optional<std::uint64_t> grown) {
    Sums& sums = processes_[process];
    sums.hits += hit_words != 0;
    sums.heap += static_cast<double>(hit_words);
    if (!grown) return;
    sums.told += static_cast<double>(hit_words);
    sums.grown += static_cast<double>(*grown);
}

void FragmentGrowth::spread(std::vector<AllocationHit>& hits) const {
    std::map<Pid, Sums> processes = processes_;
    for (const AllocationHit& hit : hits)
        if (hit.fragment != 0) processes[hit.pid].seen += static_cast<double>(hit.words);
    Sums rare;
    for (const auto& [pid, sums] : processes) {
        if (sums.hits >= enough_hits) continue;
        rare.heap += sums.heap;
        rare.told += sums.told;
        rare.grown += sums.grown;
        rare.seen += sums.seen;
    }
    for (AllocationHit& hit : hits) {
        if (hit.fragment == 0) continue;
        const Sums& own = processes[hit.pid];
        const Sums& sums = own.hits >= enough_hits ? own : rare;
        // Beside a word of the heap, so many of fragments; and so much more than was seen.
        const double all = sums.told <= 0 ? sums.seen : sums.grown / sums.told * sums.heap;
        hit.words = sums.seen <= 0 ? 0 : whole(static_cast<double>(hit.words) * all / sums.seen + 0.5);
    }
}

}  // namespace beamheap::otp
