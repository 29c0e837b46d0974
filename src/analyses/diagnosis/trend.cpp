// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/trend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace beamheap::analyses {
namespace {

constexpr std::size_t parts = 12;
constexpr std::size_t least_parts = 10;  // that have a figure: a VM may have stood still meanwhile
constexpr double least_monotone = 0.8;   // of Mann and Kendall's statistic, whose most is 1
constexpr double least_rising = 0.7;     // of neighbours
constexpr double largest_step = 0.3;     // of the whole rise, between two neighbours
constexpr double slowest_half = 0.6;     // the second half's slope, of the first's; and the other way round
constexpr double slowest_end = 0.5;      // what its last quarter rises by, of the slope
constexpr double least_over_noise = 6;   // the rise, of the median distance from the line
constexpr double largest_error = 0.15;   // of the slope
constexpr double off_line = 0.5;         // of what a part rises by; what is farther from the line is not on it
constexpr double new_part = 0.25;        // of the rise, by which it ends above what was before

double median(std::vector<double>& values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 != 0) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// The least point of each part of `length` seconds from `begin` on.
std::vector<TrendPoint> envelope(std::span<const TrendPoint> points, double begin, double length) {
    std::vector<TrendPoint> least;
    double part = -1;
    for (const TrendPoint& point : points) {
        const double of = std::floor((point.at - begin) / length);
        if (least.empty() || of != part) least.push_back(point);
        else if (point.value < least.back().value) least.back() = point;
        part = of;
    }
    return least;
}

// Slopes of all pairs.
std::vector<double> slopes_of(std::span<const TrendPoint> points) {
    std::vector<double> slopes;
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = i + 1; j < points.size(); ++j)
            if (points[j].at > points[i].at)
                slopes.push_back((points[j].value - points[i].value) / (points[j].at - points[i].at));
    return slopes;
}

double slope(std::span<const TrendPoint> points) {
    std::vector<double> slopes = slopes_of(points);
    return median(slopes);
}

// The same of so many points with its error: half of the interval in which it is with nine tenths of confidence, of the
// slope (Sen 1968), by the ranks of the slopes, so that no distribution is assumed. No number of no slope.
struct Slope {
    double value = 0, error = 0;
};
Slope slope_with_error(std::span<const TrendPoint> points) {
    constexpr double nine_tenths = 1.645;
    std::vector<double> slopes = slopes_of(points);
    std::ranges::sort(slopes);
    const auto n = static_cast<double>(points.size()), pairs = static_cast<double>(slopes.size());
    const double ranks = nine_tenths * std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
    const auto at = [&](double rank) { return slopes[static_cast<std::size_t>(std::clamp(rank, 0.0, pairs - 1))]; };
    const double half = (at((pairs + ranks) / 2) - at((pairs - ranks) / 2)) / 2;
    const double value = median(slopes);
    return {value, half / std::abs(value)};
}

// Pairs of which the later one is larger, less those of which it is smaller, of all pairs.
double monotone(std::span<const TrendPoint> points) {
    double sum = 0, pairs = 0;
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = i + 1; j < points.size(); ++j, ++pairs)
            sum += points[j].value > points[i].value ? 1 : points[j].value < points[i].value ? -1 : 0;
    return pairs == 0 ? 0 : sum / pairs;
}

// Of a part of the points. The last one belongs to the last part.
double part_length(std::span<const TrendPoint> points) {
    return points.empty() ? 0 : (points.back().at - points.front().at) / parts * (1 + 1e-9);
}

// Where a line begins: the earliest of the points that lie on it without a gap, from within the window backwards.
double beginning(std::span<const TrendPoint> before, std::span<const TrendPoint> window, const auto& on_line) {
    const TrendPoint* first = window.data();
    while (first != &window.back() && !on_line(*first)) ++first;
    double begin = first->at;
    if (first != window.data()) return begin;
    for (auto point = before.rbegin(); point != before.rend() && on_line(*point); ++point) begin = point->at;
    return begin;
}

}  // namespace

std::optional<double> rise_of_envelope(std::span<const TrendPoint> points) {
    const double length = part_length(points);
    if (!(length > 0)) return std::nullopt;
    const std::vector<TrendPoint> low = envelope(points, points.front().at, length);
    const double time = low.back().at - low.front().at;
    if (low.size() < least_parts || !(time > 0)) return std::nullopt;
    return (low.back().value - low.front().value) / time;
}

std::optional<Trend> steady_growth(std::span<const TrendPoint> window, std::span<const TrendPoint> before) {
    if (window.size() < least_points) return std::nullopt;
    const double begin = window.front().at, length = part_length(window);
    if (!(length > 0)) return std::nullopt;
    const std::vector<TrendPoint> low = envelope(window, begin, length);
    if (low.size() < least_parts) return std::nullopt;
    const double rise = low.back().value - low.front().value;
    if (!(rise > 0)) return std::nullopt;
    const double order = monotone(low);
    if (order < least_monotone) return std::nullopt;
    double rising = 0, step = 0;
    for (std::size_t i = 1; i < low.size(); ++i) {
        const double more = low[i].value - low[i - 1].value;
        rising += more > 0 ? 1 : 0;
        step = std::max(step, more);
    }
    rising /= static_cast<double>(low.size() - 1);
    if (rising < least_rising || step > rise * largest_step) return std::nullopt;

    const std::span<const TrendPoint> all(low);
    const double first = slope(all.first(low.size() / 2)), second = slope(all.last(low.size() / 2));
    if (!(first > 0) || !(second > 0) || second < first * slowest_half || first < second * slowest_half)
        return std::nullopt;
    const Slope whole = slope_with_error(all);
    if (!(whole.error <= largest_error)) return std::nullopt;
    Trend trend{.per_second = whole.value, .begin = begin};
    const TrendPoint end = low[low.size() - 1 - low.size() / 4];
    if (low.back().value - end.value < trend.per_second * (low.back().at - end.at) * slowest_end) return std::nullopt;
    std::vector<double> offsets, distances;
    for (const TrendPoint& point : low) offsets.push_back(point.value - trend.per_second * (point.at - begin));
    const double offset = median(offsets);
    for (const TrendPoint& point : low)
        distances.push_back(std::abs(point.value - offset - trend.per_second * (point.at - begin)));
    const double noise = median(distances);
    if (rise < noise * least_over_noise) return std::nullopt;
    const std::vector<TrendPoint> low_before = envelope(before, begin, length);
    for (const TrendPoint& point : low_before)
        if (point.value > low.back().value - rise * new_part) return std::nullopt;
    const auto line = [&](double at) { return offset + trend.per_second * (at - begin); };
    const double most_off = trend.per_second * length * off_line + noise * 3;
    const auto on_line = [&](const TrendPoint& point) { return std::abs(point.value - line(point.at)) <= most_off; };
    trend.begin = beginning(low_before, low, on_line);
    trend.from = line(trend.begin);
    trend.to = line(window.back().at);
    const double even = std::min(first, second) / std::max(first, second);
    const double clear = 1 - std::min(1.0, noise * least_over_noise / rise);
    trend.confidence = std::clamp((order + rising + even + clear) / 4, 0.0, 1.0);
    return trend;
}

std::optional<Trend> latest_growth(std::span<const TrendPoint> points, std::size_t most) {
    for (std::size_t count = std::min(most, points.size()); count >= least_points; count /= 2) {
        if (const auto found = steady_growth(points.last(count), points.first(points.size() - count))) return found;
        if (count > least_points && count / 2 < least_points) count = least_points * 2;  // the last window is the least
    }
    return std::nullopt;
}

}  // namespace beamheap::analyses
