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
constexpr double least_over_noise = 6;   // the rise, of the median distance from the line
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

double slope(std::span<const TrendPoint> points) {
    std::vector<double> slopes;
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = i + 1; j < points.size(); ++j)
            if (points[j].at > points[i].at)
                slopes.push_back((points[j].value - points[i].value) / (points[j].at - points[i].at));
    return median(slopes);
}

// Pairs of which the later one is larger, less those of which it is smaller, of all pairs.
double monotone(std::span<const TrendPoint> points) {
    double sum = 0, pairs = 0;
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = i + 1; j < points.size(); ++j, ++pairs)
            sum += points[j].value > points[i].value ? 1 : points[j].value < points[i].value ? -1 : 0;
    return pairs == 0 ? 0 : sum / pairs;
}

}  // namespace

std::optional<Trend> steady_growth(std::span<const TrendPoint> window, std::span<const TrendPoint> before) {
    if (window.size() < least_points) return std::nullopt;
    const double begin = window.front().at;
    // The last point belongs to the last part.
    const double length = (window.back().at - begin) / parts * (1 + 1e-9);
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
    Trend trend{.per_second = slope(all), .begin = begin};
    std::vector<double> offsets, distances;
    for (const TrendPoint& point : low) offsets.push_back(point.value - trend.per_second * (point.at - begin));
    const double offset = median(offsets);
    for (const TrendPoint& point : low)
        distances.push_back(std::abs(point.value - offset - trend.per_second * (point.at - begin)));
    const double noise = median(distances);
    if (rise < noise * least_over_noise) return std::nullopt;
    for (const TrendPoint& point : envelope(before, begin, length))
        if (point.value > low.back().value - rise * new_part) return std::nullopt;
    trend.from = offset;
    trend.to = offset + trend.per_second * (window.back().at - begin);
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
