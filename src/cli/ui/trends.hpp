// SPDX-License-Identifier: Apache-2.0
// How figures of a running VM move from one reading to the next.
//
// A page has what there is now. Whoever watches wants to know where it goes: of queues, memory, work and sizes of
// tables, what they were in the last readings is kept, and stands beside them as a rate and as a line of bars.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "present/page.hpp"

namespace beamheap::cli::ui {

/// A bar of eight heights for each value, the newest last; empty where all are alike.
std::string bars_of(std::span<const double> values);

class Trends {
public:
    /// Puts beside the figures of a page how they move, and keeps them for the next one. `seconds`: when it was read,
    /// by any clock that goes on. Columns are added behind those that there are: the others keep their numbers.
    void follow(present::Page& page, double seconds);

private:
    struct Reading {
        double seconds = 0;
        double value = 0;
    };
    class Series {
    public:
        void add(Reading reading);
        /// By the second; none where there is one reading.
        std::optional<double> rate() const;
        /// Of the values themselves, or of what was added between two of them.
        std::string bars(bool of_rates) const;
        double last_seconds() const { return count_ == 0 ? 0 : readings_[count_ - 1].seconds; }

    private:
        std::array<Reading, 7> readings_{};  // oldest first
        std::size_t count_ = 0;
    };

    void follow(present::PageTable& table, double seconds);
    void follow(present::PageBlock& lines, std::string_view pid, double seconds);
    void forget(double before);

    std::map<std::string, Series> series_;  // by whose figure it is, and which
};

}  // namespace beamheap::cli::ui
