// SPDX-License-Identifier: Apache-2.0
// Whether a series of figures grows steadily, and how fast.
//
// Theory. What a node holds goes up and down: garbage is collected, caches fill to their bound, load comes in bursts
// and waves. A leak is what stays: the lower envelope of the series rises, and goes on rising at about the same rate.
// So the window is cut into twelve parts of equal time, of each the least figure stands for the part (a sawtooth
// shorter than a part leaves no trace there), and these twelve are judged:
//   monotone   Mann and Kendall's statistic over their pairs: nearly all later ones are larger;
//   spread     at most a few neighbours do not rise, and no single step is a large part of the whole rise: what is
//              higher than before since one moment has not grown steadily;
//   steady     the slope of the second half is about that of the first: what fills to a bound gets slower, what began
//              within the window gets faster, and a shorter window tells its rate;
//   not over   the last quarter rises, too, at half of the slope at least;
//   above noise  the rise is several times what the twelve differ from their line;
//   new        they end higher than anything like them before the window: a wave of the day comes back to where it was.
// The rate is Theil and Sen's: the median of the slopes of all pairs, which a quarter of the points can't spoil. It is
// as sure as the rise is high above the noise: with the bound below its standard error is some tenth.
//
// Where growth began need not be where the window begins: it is where the points begin to lie on the line, within the
// window or before it.
//
// It says nothing rather than something wrong: of growth that is slower than its own noise it is silent until the
// window is long enough. A first tooth that is longer than the window looks as a leak does; who knows more of a figure
// (what is allocated, beside what is in use) asks that, too.
// H. Theil 1950, P. K. Sen 1968, H. B. Mann 1945, M. G. Kendall 1975.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>

namespace beamheap::analyses {

/// A figure at a time, in seconds from any beginning.
struct TrendPoint {
    double at = 0, value = 0;
};

struct Trend {
    double per_second = 0;  ///< Theil and Sen's slope of the lower envelope
    double begin = 0;       ///< seconds: since when it has grown so
    double from = 0;        ///< the envelope then and at the window's end, by that line
    double to = 0;
    /// How sure it is, 0 to 1: how monotone, how even, and how far above its noise the envelope rises.
    double confidence = 0;
};

/// Points that a window has at the least.
inline constexpr std::size_t least_points = 60;

/// The growth within one window, whose points are in the order of time; `before` are those before it, of which the same
/// parts are made. Nothing: it does not grow steadily. O(points).
std::optional<Trend> steady_growth(std::span<const TrendPoint> window, std::span<const TrendPoint> before = {});

/// The same of a whole series: of its last `most` points, the last half of these, the last quarter and so on down to
/// least_points, the longest that grows steadily. O(points).
std::optional<Trend> latest_growth(std::span<const TrendPoint> points,
                                   std::size_t most = std::numeric_limits<std::size_t>::max());

/// What the lower envelope rises by a second from its first part to its last, steadily or in steps; nothing of fewer
/// than ten parts. O(points).
std::optional<double> rise_of_envelope(std::span<const TrendPoint> points);

}  // namespace beamheap::analyses
