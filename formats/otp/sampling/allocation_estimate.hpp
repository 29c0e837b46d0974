// SPDX-License-Identifier: Apache-2.0
// What hits on watched words stand for: the arithmetic of sampling.hpp, without the VM.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "beamheap/samples.hpp"
#include "formats/otp/sampling/resolver.hpp"

namespace beamheap::otp {

/// Words above the heap's top that a call may have to itself already: they are not watched.
inline constexpr std::uint64_t words_in_hand = 8;

/// A word of a process's free heap, and how many it was chosen from: what a write to it stands for.
struct ChosenWord {
    std::uint64_t address = 0;
    std::uint64_t words = 0;  ///< 0: there was none to choose
};
/// `draw` is any number, drawn at random.
ChosenWord choose_word(const SeenProcess& process, std::uint64_t draw);

/// What processes allocate in fragments beside their heaps, relative to what they allocate on them.
class FragmentGrowth {
public:
    /// One period in which a word of the heap was watched: what its hit stands for (0: none came), and what the
    /// process's fragments grew by meanwhile, in words; none where a collection came between.
    void note(Pid process, std::uint64_t hit_words, std::optional<std::uint64_t> grown);
    /// Makes writes to fragments stand for what fragments grew by beside all hits on heaps: for each its part of what
    /// was seen of its process, or, of processes that were rarely met, of all of these together.
    void spread(std::vector<AllocationHit>& hits) const;

private:
    struct Sums {
        std::uint64_t hits = 0;
        double heap = 0;   // words of all hits
        double told = 0;   // of those in periods whose growth is known
        double grown = 0;  // words that fragments grew by in those
        double seen = 0;   // words of fragments whose writers were seen
    };
    std::map<Pid, Sums> processes_;
};

}  // namespace beamheap::otp
