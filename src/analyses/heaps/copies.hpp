// SPDX-License-Identifier: Apache-2.0
// What several terms have in common: a part with the same content in each, which lies there once for each of them.
//
// Theory. What is sent, spawned with, or read from a table is copied: it is the same in content and lies at another
// address for each who has it. What is shared lies at one address, or among the literals, and costs nothing. So of each
// sample (a process's roots, a value of a collection) the large parts are looked at from above down, a number is made
// of each (term_digest.hpp), and what has one number in nearly all samples, at different addresses, are copies. The
// largest such part is told: what it is a part of is not the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
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

    /// Adds a sample: terms of one source. Looks at no more than 64 parts of it, and at 20,000 objects of each.
    void add(TermSource& terms, TermMeasures& measures, std::span<const Element> sample);
    /// A sample that can't be read: it has nothing.
    void skip() { ++samples_; }
    std::size_t samples() const { return samples_; }
    /// Whether a sample has that part.
    bool has(std::size_t sample, std::uint64_t digest) const;
    /// The largest part that three quarters of the first `of` samples, and at least four of them, have for themselves.
    std::optional<CommonPart> best(std::size_t of) const;

private:
    struct Part {
        std::uint64_t words = 0;
        Sentence what;
        std::vector<std::size_t> samples;
        std::vector<std::uint64_t> addresses;  // of those, within one source each: equal ones are shared
    };
    std::map<std::uint64_t, Part> parts_;
    std::size_t samples_ = 0;
};

}  // namespace beamheap::analyses
