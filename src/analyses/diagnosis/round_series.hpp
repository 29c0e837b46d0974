// SPDX-License-Identifier: Apache-2.0
// Figures of things, round after round, in memory that does not grow with time: of each the last 180 rounds one by one,
// and all rounds as at most 180 spans of equal length, of each of which the least figure stands. Spans are made twice
// as long when there are too many.
//
// Which things have a series is chosen anew in each round, and each has all its figures or none. What there are few of
// is always followed: sums of the node, kinds of memory. Of the others (processes by name, groups, tables, ports,
// timers) there may be any number: of each kind all are followed where these are few, else those that have most of
// something, and those that were followed already, the oldest first. Single processes without a name come and go; which
// of them are worth a series says who adds the round.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyses/diagnosis/moment_figures.hpp"
#include "analyses/diagnosis/trend.hpp"

namespace beamheap::analyses {

/// What a node had at one time.
struct Round {
    struct Figure {
        Figures::Key key;
        double value = 0;  ///< NaN: not known
        Pid pid;           ///< of a process
        bool single = false;
    };
    double seconds = 0;
    bool complete = true;  ///< all processes are there: what is not was not
    std::vector<Figure> figures;
};

class RoundSeries {
public:
    using Key = Figures::Key;
    static constexpr std::size_t kept = 180;  ///< rounds, and spans
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();

    struct Series {
        std::array<double, kept> recent;  ///< by round, as a ring; none: not there
        std::vector<double> spans;
        Pid pid;
        std::uint64_t first = 0, seen = 0;  ///< rounds
        bool single = false;                ///< of a process without a name
    };
    using All = std::unordered_map<Key, Series, Figures::Hash>;

    /// A round, later than those before. O(figures + series).
    void add(const Round& round);

    const All& all() const { return all_; }
    /// Null: not followed.
    const Series* find(const Key& key) const;
    /// In the last round, of which there is one; none: not there.
    double now(const Series& series) const { return series.recent[(rounds_ - 1) % kept]; }
    /// The rounds that are kept one by one.
    std::vector<TrendPoint> points(const Series& series) const;
    /// The spans that ended before these began, and these.
    std::vector<TrendPoint> all_points(const Series& series) const;
    /// The oldest that is known of it from a time on, before the last round; else the newest that is from before that
    /// time. None: it is known of the last round alone.
    std::optional<TrendPoint> first_since(const Series& series, double seconds) const;
    /// All spans; the last may not be whole.
    std::vector<TrendPoint> span_points(const Series& series) const;

    std::uint64_t rounds() const { return rounds_; }
    /// Seconds of the last round.
    double time() const { return rounds_ == 0 ? 0 : times_[(rounds_ - 1) % kept]; }
    /// Seconds since the round that was so many before it, or the oldest that is kept.
    double time_since(std::uint64_t rounds) const;
    /// Things of the last round that are not followed, single processes aside.
    std::uint64_t left_out() const { return left_out_; }

private:
    using Names = std::unordered_set<std::string_view>;
    using NamesByKind = std::array<Names, kinds_of_growth>;
    Names chosen(GrowthOf what, const Round& round);
    void put(const Round::Figure& figure);
    void forget(const NamesByKind& chosen);
    void end_round(bool complete);
    void halve_spans();
    All all_;
    std::array<bool, kinds_of_growth> some_left_{};  // in any round: what is new may have been there before
    std::array<double, kept> times_{};               // seconds, by round
    std::vector<double> span_times_;                 // of the beginning of each
    std::uint64_t rounds_ = 0, span_rounds_ = 1, left_out_ = 0;
};

}  // namespace beamheap::analyses
