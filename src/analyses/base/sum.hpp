// SPDX-License-Identifier: Apache-2.0
// Sums and shares over figures of which the input may hold only some.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "beamheap/ids.hpp"

namespace beamheap::analyses {

/// a + b, at most the largest number that a Count can hold.
constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - 1;
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) || sum > most ? most : sum;
}

/// a * b, at most the largest number that a Count can hold.
constexpr std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - 1;
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) || product > most ? most : product;
}

/// `words` in bytes; missing where it is missing.
constexpr Count words_to_bytes(Count words, std::uint32_t word_size) {
    return words.has() ? Count(saturating_multiply(*words, word_size)) : Count();
}

/// Adds up figures, saturating. Missing ones are left out and counted: the sum is then a lower bound.
class Sum {
public:
    constexpr void add(Count figure) {
        if (figure.has()) {
            total_ = saturating_add(total_, *figure);
            ++known_;
        } else {
            ++missing_;
        }
    }
    constexpr void add(const Sum& other) {
        total_ = saturating_add(total_, other.total_);
        known_ += other.known_;
        missing_ += other.missing_;
    }
    /// The sum of what is known; missing where every figure was missing, 0 where there was none at all.
    constexpr Count value() const { return known_ == 0 && missing_ != 0 ? Count() : Count(total_); }
    constexpr std::uint64_t known() const { return known_; }      ///< figures that were added up
    constexpr std::uint64_t missing() const { return missing_; }  ///< figures that the input does not hold
    constexpr bool lower_bound() const { return missing_ != 0; }

private:
    std::uint64_t total_ = 0;
    std::uint64_t known_ = 0;
    std::uint64_t missing_ = 0;
};

/// part / whole in percent; missing where a figure is missing or the whole is 0.
constexpr std::optional<double> percent_of(Count part, Count whole) {
    if (!part.has() || !whole.has() || *whole == 0) return std::nullopt;
    return 100.0 * static_cast<double>(*part) / static_cast<double>(*whole);
}

}  // namespace beamheap::analyses
