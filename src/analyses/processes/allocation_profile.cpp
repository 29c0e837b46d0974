// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/allocation_profile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace beamheap::analyses {
namespace {

// Hits of one watch are one observation: of a process's fragments it sees a row of writes, which are of the same
// function as a rule.
struct Sums {
    std::uint64_t samples = 0;
    double words = 0, squares = 0;
    std::map<std::uint32_t, double> watches;  // of fragments: words, by the watch
    void add(double weight, const AllocationHit& hit) {
        words += weight;
        if (hit.fragment != 0) watches[hit.fragment] += weight;
        else squares += weight * weight;
    }
};

double percent_error(const Sums& sums) {
    double squares = sums.squares;
    for (const auto& [watch, words] : sums.watches) squares += words * words;
    return sums.words <= 0 ? 0 : 100 * std::sqrt(squares) / sums.words;
}

}  // namespace

AllocationProfile allocation_profile(const Snapshot& snapshot, const AllocationSamples& samples,
                                     const std::vector<bool>& processes, bool per_process) {
    using Key = std::tuple<Pid, std::uint32_t, std::uint32_t>;  // process, function, native function
    std::map<Key, Sums> rows;
    std::map<std::uint32_t, std::map<std::uint32_t, double>> callers;  // of each native function, by words
    AllocationProfile profile;
    Sums all;
    const auto counts = [&](const AllocationHit& hit) {
        if (processes.empty()) return true;
        const ProcId id = snapshot.find(hit.pid);
        return id != ProcId::none && processes[index_of(id)];
    };
    const auto key = [per_process](const AllocationHit& hit, std::uint32_t function, std::uint32_t native) {
        return Key{per_process ? hit.pid : Pid{}, function, native};
    };
    for (const AllocationHit& hit : samples.hits) {
        if (!counts(hit)) continue;
        const auto weight = static_cast<double>(hit.words);
        ++(hit.fragment != 0 ? profile.fragments : profile.hits);
        all.add(weight, hit);
        if (hit.function == FunctionId::none) continue;
        if (hit.fragment == 0) ++(hit.basis == SampleBasis::exact ? profile.exact : profile.checked);
        Sums& row = rows[key(hit, index_of(hit.function), AllocationHit::no_native)];
        ++row.samples;
        row.add(weight, hit);
        if (hit.native != AllocationHit::no_native) callers[hit.native][index_of(hit.function)] += weight;
    }
    for (const AllocationHit& hit : samples.hits) {
        if (!counts(hit) || hit.function != FunctionId::none) continue;
        const auto weight = static_cast<double>(hit.words);
        const auto known = callers.find(hit.native);
        if (hit.native == AllocationHit::no_native || known == callers.end()) {
            profile.unknown += hit.fragment == 0;
            Sums& row = rows[key(hit, index_of(FunctionId::none), hit.native)];
            ++row.samples;
            row.add(weight, hit);
            continue;
        }
        profile.shared += hit.fragment == 0;
        double sum = 0;
        for (const auto& [function, words] : known->second) sum += words;
        for (const auto& [function, words] : known->second)
            rows[key(hit, function, AllocationHit::no_native)].add(weight * words / sum, hit);
    }
    profile.words = all.words;
    profile.error = percent_error(all);
    for (const auto& [which, sums] : rows) {
        AllocationRow& row = profile.rows.emplace_back();
        row.process = std::get<0>(which);
        row.function = static_cast<FunctionId>(std::get<1>(which));
        row.native = std::get<2>(which);
        row.samples = sums.samples;
        row.words = sums.words;
        row.percent = all.words <= 0 ? 0 : 100 * sums.words / all.words;
        row.error = percent_error(sums);
    }
    std::ranges::stable_sort(profile.rows,
                             [](const AllocationRow& a, const AllocationRow& b) { return a.words > b.words; });
    return profile;
}

}  // namespace beamheap::analyses
