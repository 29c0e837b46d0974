// SPDX-License-Identifier: Apache-2.0
// What several terms have in common: a part with the same content in each, which lies there once for each of them.
//
// Theory. What is sent, spawned with, or read from a table is copied: it is the same in content and lies at another
// address for each who has it. What is shared lies at one address, or among the literals, and costs nothing. So of each
// sample (a process's roots, a value of a collection) the large parts are found from above down. Those of one size in
// nearly all samples are gone through, the largest first, and a number is made of each (term_digest.hpp), of its first
// objects to begin with, which mostly are not the same; what has one number in nearly all samples, at different
// addresses, are copies. The largest such part is told: what it is a part of
// is not the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/heaps/term_measures.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

struct CommonPart {
    std::uint64_t digest = 0;
    std::uint64_t words = 0;           ///< of one of them, flat
    Sentence what;                     ///< "a map of 60 ..." as in term_shape.hpp
    std::vector<std::size_t> samples;  ///< that have it, by the order in which they were added
};

class CommonParts {
public:
    static constexpr std::uint64_t least_words = 128;
    static constexpr std::uint64_t least_share = 5;  ///< of a sample: smaller parts of it are not looked at

    /// Adds a sample: terms of one source, which must outlive this. Finds no more than 64 parts of it.
    void add(TermSource& terms, TermMeasures& measures, std::span<const Element> sample);
    /// A sample that can't be read: it has nothing.
    void skip() { samples_.emplace_back(); }
    /// Whether a sample has that part.
    bool has(std::size_t sample, const CommonPart& part) const;
    /// The largest part that three quarters of the first `of` samples, and at least four of them, have for themselves.
    /// Looks at parts of eight sizes, and at 20,000 objects of each.
    std::optional<CommonPart> best(std::size_t of) const;

private:
    struct Sample {
        TermSource* terms = nullptr;
        std::vector<std::pair<std::uint64_t, Element>> parts;  // by words, as they are found
    };
    bool begin_alike(std::uint64_t words, std::size_t of, std::size_t least) const;
    std::optional<CommonPart> of_size(std::uint64_t words, std::size_t of, std::size_t least) const;
    std::vector<Sample> samples_;
};

}  // namespace beamheap::analyses
