// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/round_series.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_things = 384;  // of a kind that are followed
constexpr std::size_t most_by_each = 32;  // of these, by each figure

bool is_sum(GrowthOf what) { return what == GrowthOf::memory || what == GrowthOf::total; }
std::size_t number_of(GrowthOf what) { return static_cast<std::size_t>(what); }

// What a thing that is not there has.
double absent(GrowthOf what, bool complete) {
    const bool process = what == GrowthOf::process || what == GrowthOf::process_group;
    return is_sum(what) || (process && !complete) ? RoundSeries::none : 0;
}

}  // namespace

// The names of a kind that are followed from now on: all, or those that have most of something, those that were
// followed already, and those that have most of the others.
RoundSeries::Names RoundSeries::chosen(GrowthOf what, const Round& round) {
    Names things, found;
    std::map<std::string_view, std::vector<std::pair<double, std::string_view>>> by_measure;
    for (const auto& [key, value, pid, single] : round.figures) {
        if (key.what != what || single) continue;
        things.insert(key.key);
        if (!std::isnan(value)) by_measure[key.measure].emplace_back(-value, key.key);
    }
    if (things.size() <= most_things) found = things, by_measure.clear();  // nothing has to be ranked
    for (auto& [measure, values] : by_measure)
        std::ranges::partial_sort(values,
                                  values.begin() + static_cast<std::ptrdiff_t>(std::min(most_things, values.size())));
    const auto add_largest = [&](std::size_t from, std::size_t to) {
        for (std::size_t rank = from; rank < to; ++rank)
            for (const auto& [measure, values] : by_measure)
                if (rank < values.size() && found.size() < most_things) found.insert(values[rank].second);
    };
    add_largest(0, most_by_each);
    std::vector<std::pair<std::uint64_t, std::string_view>> followed;
    for (const auto& [key, series] : all_)
        if (key.what == what && !series.single) followed.emplace_back(series.first, key.key);
    std::ranges::sort(followed);
    for (const auto& [first, name] : followed) {
        if (found.size() >= most_things) break;
        found.insert(name);
    }
    add_largest(most_by_each, most_things);
    const auto left = things.size() - static_cast<std::size_t>(std::ranges::count_if(
                                          found, [&](std::string_view name) { return things.contains(name); }));
    left_out_ += left;
    some_left_[number_of(what)] = some_left_[number_of(what)] || left != 0;
    return found;
}

void RoundSeries::put(const Round::Figure& figure) {
    const GrowthOf what = figure.key.what;
    auto at = all_.find(figure.key);
    if (at == all_.end()) {
        if (std::isnan(figure.value)) return;
        at = all_.emplace(figure.key, Series{}).first;
        // Of what is counted and was not there before, there was none.
        const bool unknown = what == GrowthOf::process || is_sum(what) || some_left_[number_of(what)];
        const double before = unknown ? none : 0;
        at->second.recent.fill(before);
        at->second.spans.assign(span_times_.size(), before);
        at->second.first = rounds_;
        at->second.single = figure.single;
    }
    Series& series = at->second;
    series.recent[rounds_ % kept] = figure.value;
    series.pid = figure.pid;
    series.seen = rounds_;
}

void RoundSeries::add(const Round& round) {
    times_[rounds_ % kept] = round.seconds;
    left_out_ = 0;
    // What has not been there for as long as rounds are kept.
    std::erase_if(all_, [this](const auto& each) { return rounds_ - each.second.seen > kept; });
    NamesByKind names;
    for (std::size_t i = 0; i < kinds_of_growth; ++i)
        if (!is_sum(static_cast<GrowthOf>(i))) names[i] = chosen(static_cast<GrowthOf>(i), round);
    for (const Round::Figure& figure : round.figures)
        if (figure.single || is_sum(figure.key.what) || names[number_of(figure.key.what)].contains(figure.key.key))
            put(figure);
    forget(names);
    end_round(round.complete);
}

// What is not followed any longer.
void RoundSeries::forget(const NamesByKind& chosen) {
    std::erase_if(all_, [&](const auto& each) {
        const auto& [key, series] = each;
        if (series.single) return series.seen != rounds_;
        return !is_sum(key.what) && !chosen[number_of(key.what)].contains(key.key);
    });
}

void RoundSeries::end_round(bool complete) {
    const bool begins = rounds_ % span_rounds_ == 0;
    if (begins) span_times_.push_back(times_[rounds_ % kept]);
    for (auto& [key, series] : all_) {
        double& value = series.recent[rounds_ % kept];
        if (series.seen != rounds_) value = absent(key.what, complete);
        if (begins) series.spans.push_back(value);
        else series.spans.back() = std::fmin(series.spans.back(), value);
    }
    if (span_times_.size() > kept) halve_spans();
    ++rounds_;
}

void RoundSeries::halve_spans() {
    const auto halve = [](std::vector<double>& values, const auto& both) {
        std::size_t to = 0;
        for (std::size_t i = 0; i < values.size(); i += 2)
            values[to++] = i + 1 < values.size() ? both(values[i], values[i + 1]) : values[i];
        values.resize(to);
    };
    for (auto& [key, series] : all_) halve(series.spans, [](double a, double b) { return std::fmin(a, b); });
    halve(span_times_, [](double first, double) { return first; });
    span_rounds_ *= 2;
}

const RoundSeries::Series* RoundSeries::find(const Key& key) const {
    const auto at = all_.find(key);
    return at == all_.end() ? nullptr : &at->second;
}

std::vector<TrendPoint> RoundSeries::points(const Series& series) const {
    std::vector<TrendPoint> all;
    const std::uint64_t count = std::min<std::uint64_t>(rounds_, kept);
    for (std::uint64_t round = rounds_ - count; round < rounds_; ++round)
        if (const double value = series.recent[round % kept]; !std::isnan(value))
            all.push_back({times_[round % kept], value});
    return all;
}

std::vector<TrendPoint> RoundSeries::all_points(const Series& series) const {
    const std::vector<TrendPoint> recent = points(series);
    if (recent.empty()) return {};
    std::vector<TrendPoint> all;
    for (std::size_t i = 0; i + 1 < span_times_.size() && span_times_[i + 1] <= recent.front().at; ++i)
        if (!std::isnan(series.spans[i])) all.push_back({span_times_[i], series.spans[i]});
    all.insert(all.end(), recent.begin(), recent.end());
    return all;
}

std::vector<TrendPoint> RoundSeries::span_points(const Series& series) const {
    std::vector<TrendPoint> all;
    for (std::size_t i = 0; i < span_times_.size(); ++i)
        if (!std::isnan(series.spans[i])) all.push_back({span_times_[i], series.spans[i]});
    return all;
}

// Rounds one by one may go back less far than the time, and spans may be longer than it: either has what the other has
// not. Of what was not there when those rounds begin, a span would tell an age that it has not.
std::optional<TrendPoint> RoundSeries::first_since(const Series& series, double seconds) const {
    std::optional<TrendPoint> within, before;
    const auto take = [&](const TrendPoint& point) {
        if (point.at >= time()) return;
        if (point.at < seconds) before = !before || point.at > before->at ? point : *before;
        else within = !within || point.at < within->at ? point : *within;
    };
    std::ranges::for_each(points(series), take);
    const std::uint64_t oldest = rounds_ - std::min<std::uint64_t>(rounds_, kept);
    if (!std::isnan(series.recent[oldest % kept])) std::ranges::for_each(span_points(series), take);
    return within ? within : before;
}

double RoundSeries::time_since(std::uint64_t rounds) const {
    if (rounds_ == 0) return 0;
    const std::uint64_t back = std::min({rounds, rounds_ - 1, std::uint64_t{kept - 1}});
    return time() - times_[(rounds_ - 1 - back) % kept];
}

}  // namespace beamheap::analyses
