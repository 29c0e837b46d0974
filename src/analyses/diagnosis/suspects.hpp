// What of an input's heaps the rules need: which processes to look into, chosen from the process table alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyses/memory/binary_holders.hpp"
#include "analyses/rules/rules.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// How much heap may be decoded for the rules. What holds most is what one wants to know of, however large it is: a
/// process with a quarter of what all processes hold has a budget of its own.
struct SuspectBudget {
    std::uint64_t sample_words = 600'000;      ///< of idle heaps and of heaps with slices, each
    std::uint64_t term_words = 3'000'000;      ///< of one process whose terms are looked into for its messages
    std::uint64_t heap_words = 12'000'000;     ///< of the process with the largest heap (of 9 million 0.3 s and 260 MB)
    std::uint64_t messages = 200'000;          ///< of one process whose terms are looked into
    std::uint64_t giant_words = 64'000'000;    ///< of one that holds so much (of 24 million 2 s and 290 MB)
    std::uint64_t giant_messages = 4'000'000;  ///< of the same
};

struct Suspects {
    std::vector<ProcId> heaps;     ///< to decode: samples of idle groups, holders of large binaries; sorted
    std::vector<ProcId> binaries;  ///< of them, those whose references to binaries matter; sorted
    std::vector<ProcId> terms;     ///< to look into: long queues, the largest heap; sorted
    bool decode(ProcId id) const;
    bool look_into(ProcId id) const;
};

/// Needs the process table and =memory. O(processes).
Suspects suspects(const Snapshot& snapshot, const SuspectBudget& budget);

/// What a suspect's terms show. Bounded: reads at most 2,000 messages, spread evenly over the queue.
TermFacts look_into(const Snapshot& snapshot, ProcId process, TermSource& terms);

/// What each process pins, or shows by slices of binaries that the input does not list: most pinned bytes first. `held`
/// is sorted by process; `size_of` gives a listed binary's bytes.
std::vector<PinnedBinaries> pinned_binaries(const Snapshot& snapshot, std::span<const HeldBinary> held,
                                            const std::function<Count(std::uint64_t)>& size_of);

}  // namespace beamheap::analyses
