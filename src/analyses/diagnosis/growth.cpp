// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/growth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "analyses/diagnosis/growth_causes.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/totals.hpp"
#include "model/whole.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_of_each = 16;  // single processes by each figure
constexpr std::size_t most_single = 128;  // that are followed already
constexpr double day = 86400;
constexpr double farthest_wall = 183 * day;
constexpr double slowest_number = 183 * day;  // until it is twice as large
constexpr double slowest_memory = 30 * day;   // until the node is
constexpr double least_of_resident = 0.02;    // of that: a node touches one page after the other for long
constexpr double grown_up = 3600;             // seconds by which most has filled up that fills up
constexpr double least_rise = 8;              // of a number
constexpr double least_bytes = 64 * 1024;     // of memory
constexpr double still = 0.5;                 // of its rate: what rises at that has not stopped

using Key = Figures::Key;
using Series = RoundSeries::Series;

double value_of(const Count& count) { return count.has() ? static_cast<double>(*count) : RoundSeries::none; }

void put(Round& round, const Figures& figures, const auto& pid_of, bool single) {
    for (const auto& [key, sum] : figures.sums)
        round.figures.push_back({key, value_of(sum.value()), pid_of(key), single});
}

void add_system(Figures& figures, const Snapshot& s, const SystemFigures& system) {
    figures.add(GrowthOf::memory, "resident", "memory", true, system.resident_bytes);
    figures.add(GrowthOf::memory, "swapped", "memory", true, system.swapped_bytes);
    figures.add(GrowthOf::total, "descriptors", "descriptors", false, system.descriptors);
    Sum queued;
    for (const Scheduler& scheduler : s.schedulers)
        for (const Count& length : scheduler.run_queue)
            if (length.has()) queued.add(length);
    figures.add(GrowthOf::total, "run_queue", "run_queue", false, queued);
}

// What of a thing shows its growth: of the memory of a process what its heaps use.
Key shown_by(Key key) {
    const bool process = key.what == GrowthOf::process || key.what == GrowthOf::process_group;
    if (process && key.measure == "memory") key.measure = "used";
    return key;
}

// What has to grow with it, at so much of its rate, and no more.
constexpr double any = std::numeric_limits<double>::infinity();
struct Proof {
    Key key;
    double least = -any, most = any;
};
std::optional<Proof> proof_of(const Key& key) {
    const bool process = key.what == GrowthOf::process || key.what == GrowthOf::process_group;
    if (process && key.measure == "memory") return Proof{key, explained, any};
    if (process && key.measure == "binaries")
        return Proof{{GrowthOf::memory, "memory", true, "binary"}, explained, any};
    if (key.measure == "unused") return Proof{{key.what, "held", true, key.key}, explained, 1 / explained};
    // Heaps that are large by now, of which less is in use, are no leak: they are collected before they grow further.
    if (is_node_memory(key)) return Proof{{GrowthOf::memory, "idle", true, "heaps_idle"}, -any, explained};
    return std::nullopt;
}

Key node_memory(std::string_view kind) { return {GrowthOf::memory, "memory", true, std::string(kind)}; }

TrendPoint mean(std::span<const TrendPoint> part) {
    TrendPoint sum;
    for (const TrendPoint& point : part) sum.at += point.at, sum.value += point.value;
    const auto count = static_cast<double>(part.size());
    return {sum.at / count, sum.value / count};
}

}  // namespace

std::string_view name_of(WallKind kind) {
    switch (kind) {
        case WallKind::group_memory: return "group_memory";
        case WallKind::machine_memory: return "machine_memory";
        case WallKind::process_limit: return "process_limit";
        case WallKind::port_limit: return "port_limit";
        case WallKind::atom_limit: return "atom_limit";
        case WallKind::descriptor_limit: break;
    }
    return "descriptor_limit";
}

// Those without a name that have most, and those that are followed already, the oldest first.
void GrowthWatch::add_single(const Snapshot& s, Round& round) const {
    const std::vector<ProcId> all = all_processes(s);
    std::vector<ProcId> wanted;
    for (Count Process::*figure :
         {&Process::memory_bytes, &Process::msgq_len, &Process::old_bin_vheap_words, &Process::bin_vheap_words})
        for (const ProcId id : largest(s, all, figure, most_of_each)) wanted.push_back(id);
    std::vector<std::pair<std::uint64_t, ProcId>> followed;
    for (const auto& [key, series] : series_.all())
        if (const ProcId id = series.single ? s.find(series.pid) : ProcId::none; id != ProcId::none)
            followed.emplace_back(series.first, id);
    std::ranges::sort(followed);
    followed.erase(std::unique(followed.begin(), followed.end()), followed.end());
    for (std::size_t i = 0; i < std::min(most_single, followed.size()); ++i) wanted.push_back(followed[i].second);
    std::ranges::sort(wanted);
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    for (const ProcId id : wanted) {
        const Process& p = s[id];
        if (p.name != TextId::none) continue;
        const std::string key = process_key(s, p);
        Figures figures;
        add_followed(figures, s, p, GrowthOf::process, key);
        figures.add(GrowthOf::process, key, "messages", false, p.msgq_len);
        figures.add(GrowthOf::process, key, "memory", true, p.memory_bytes);
        put(
            round, figures, [&](const Key&) { return p.pid; }, true);
    }
}

void GrowthWatch::add(const Snapshot& s, const SystemFigures& system) {
    if (!s.source.live) return;
    const std::int64_t now = s.source.live->read_at_ms;
    if (rounds() == 0) first_ms_ = now;
    if (stands_) {  // it worked for some of the time until it was found to stand, and no longer than between rounds
        const double step = series_.time_since(1), gap = work_seconds(now) - series_.time();
        if (gap > step) pauses_.push_back({series_.time(), stood_seconds() + gap - step});
        stands_ = false;
    }
    system_ = system;
    process_limit_ = analyses::process_limit(s), port_limit_ = analyses::port_limit(s);
    atom_limit_ = analyses::atom_limit(s);
    Figures figures = figures_of(s, {.stacks = false, .families = false, .followed = true});
    add_system(figures, s, system);
    Round round{.seconds = work_seconds(now), .complete = figures.has_processes};
    const auto pid_of = [&s](const Key& key) {
        const ProcId named = key.what == GrowthOf::process ? s.find_registered(key.key) : ProcId::none;
        return named == ProcId::none ? Pid{} : s[named].pid;
    };
    put(round, figures, pid_of, false);
    add_single(s, round);
    series_.add(round);
}

double GrowthWatch::work_seconds(std::int64_t ms) const {
    const double seconds = static_cast<double>(ms - first_ms_) / 1000;
    double stood = 0;
    for (const Pause& pause : pauses_)
        if (seconds - stood > pause.at) stood = std::min(pause.stood, seconds - pause.at);
    return seconds - stood;
}

std::int64_t GrowthWatch::time_of(double work_seconds) const {
    double stood = 0;
    for (const Pause& pause : pauses_)
        if (work_seconds > pause.at) stood = pause.stood;
    return first_ms_ + std::llround((work_seconds + stood) * 1000);
}

// All of a watch that is longer than the rounds that are kept one by one; else these, behind what was before.
std::optional<Trend> GrowthWatch::trend(const Key& key) const {
    const Series* series = series_.find(key);
    if (series == nullptr) return std::nullopt;
    if (rounds() > RoundSeries::kept)
        if (const auto found = latest_growth(series_.span_points(*series))) return found;
    return latest_growth(series_.all_points(*series), series_.points(*series).size());
}

// The slope of another figure over the same time: the median of its steps is no use where it is allocated in steps, so
// it is what the first and the last quarter differ by.
std::optional<double> GrowthWatch::slope_of(const Key& key, const Trend& window) const {
    const Series* series = series_.find(key);
    if (series == nullptr) return std::nullopt;
    std::vector<TrendPoint> all = series_.all_points(*series);
    std::erase_if(all, [&](const TrendPoint& point) { return point.at < window.begin; });
    const std::size_t quarter = all.size() / 4;
    if (quarter == 0) return std::nullopt;
    const std::span<const TrendPoint> span(all);
    const TrendPoint first = mean(span.first(quarter)), last = mean(span.last(quarter));
    return last.at > first.at ? std::optional((last.value - first.value) / (last.at - first.at)) : std::nullopt;
}

// The growth of a figure, where what has to go with it does.
std::optional<Trend> GrowthWatch::proven(const Key& key) const {
    const auto found = trend(shown_by(key));
    const auto proof = proof_of(key);
    if (!found || !proof) return found;
    const auto with = slope_of(proof->key, *found);
    if (!with || *with < found->per_second * proof->least || *with > found->per_second * proof->most)
        return std::nullopt;
    return found;
}

double GrowthWatch::now_of(const Key& key) const {
    const Series* series = series_.find(key);
    return series == nullptr ? RoundSeries::none : series_.now(*series);
}

void GrowthWatch::find_wall(Growing& growing, const std::optional<double>& node_rate) const {
    growing.wall.reset();
    const auto nearer = [&](WallKind kind, const Count& limit, const Count& left, double rate) {
        if (!limit.has() || !left.has() || !(rate > 0)) return;
        const double seconds = static_cast<double>(*left) / rate;
        if (seconds > farthest_wall || (growing.wall && growing.wall->seconds <= seconds)) return;
        growing.wall = Wall{kind, *limit, *left, seconds};
    };
    const std::string_view measure = growing.key.measure;
    const auto number = [&](std::string_view of, WallKind kind, const Count& limit) {
        if (measure != of || !limit.has()) return;
        const double now = now_of({GrowthOf::total, of, false, std::string(of)});
        if (!std::isnan(now)) nearer(kind, limit, Count(*limit - std::min(*limit, whole(now))), growing.per_second);
    };
    number("processes", WallKind::process_limit, process_limit_);
    number("ports", WallKind::port_limit, port_limit_);
    number("atoms", WallKind::atom_limit, atom_limit_);
    number("descriptors", WallKind::descriptor_limit, system_.descriptor_limit);
    if (measure == "atoms" || measure == "descriptors" || measure == "run_queue") return;
    const std::optional<double> rate = node_rate ? node_rate : growing.bytes_per_second;
    if (rate)
        nearer(system_.limit_of_group ? WallKind::group_memory : WallKind::machine_memory, system_.memory_limit_bytes,
               system_.memory_left_bytes, *rate);
}

// What has no wall is told where it is fast for what it is part of.
bool GrowthWatch::matters(const Growing& growing) const {
    if (growing.wall) return true;
    if (!growing.key.bytes) return static_cast<double>(growing.now) < growing.per_second * slowest_number;
    const double node = std::fmax(now_of(node_memory("total")), now_of(node_memory("resident")));
    return !(node > growing.per_second * slowest_memory);
}

Growing GrowthWatch::found(const Key& key, const Series& series, const Trend& trend) const {
    Growing each{.key = key, .per_second = trend.per_second, .confidence = trend.confidence};
    each.since_ms = time_of(trend.begin);
    each.since_before = trend.begin <= 0;
    each.from = whole(trend.from);
    each.now = whole(series_.now(series));
    each.pid = series.pid;
    each.sum = is_sum(key);
    if (key.measure != "messages" && key.measure != "atoms" && system_.age_seconds.value_or(grown_up) < grown_up)
        each.young = system_.age_seconds;
    if (key.bytes) each.bytes_per_second = trend.per_second;
    else if (const auto bytes = slope_of({key.what, "memory", true, key.key}, trend); bytes && *bytes > 0)
        each.bytes_per_second = bytes;
    return each;
}

std::optional<double> GrowthWatch::node_rate() const {
    std::optional<double> rate;
    for (const std::string_view kind : {"total", "resident"})
        if (const auto grows = rising(node_memory(kind))) rate = std::max(rate.value_or(0), grows->per_second);
    return rate;
}

// What has risen by what is worth a word.
std::optional<Trend> GrowthWatch::rising(const Key& key) const {
    const auto grows = proven(key);
    if (!grows) return grows;
    double least = key.bytes ? least_bytes : least_rise;
    if (key.key == "resident" && is_node_memory(key)) least = std::max(least, grows->from * least_of_resident);
    return grows->to - grows->from >= least ? grows : std::nullopt;
}

std::vector<Growing> GrowthWatch::growing() const {
    std::vector<Growing> all;
    for (const auto& [key, series] : series_.all()) {
        if (rank_of(key.measure) == 0 || key.key == "swapped") continue;
        if (const auto grows = rising(key)) all.push_back(found(key, series, *grows));
    }
    std::vector<Growing> told = causes_of(all);
    const std::optional<double> rate = node_rate();
    for (Growing& each : told) find_wall(each, rate);
    std::erase_if(told, [this](const Growing& each) { return !matters(each); });
    const auto order = [](const Growing& each) {
        return std::tuple(is_node_memory(each.key), each.wall ? each.wall->seconds : farthest_wall,
                          -each.bytes_per_second.value_or(0), each.key.what, std::string_view(each.key.key));
    };
    std::ranges::sort(told, [&](const Growing& a, const Growing& b) { return order(a) < order(b); });
    return told;
}

void GrowthWatch::renew(Growing& growing) const {
    if (const Series* series = series_.find(growing.key)) {
        growing.now = whole(series_.now(*series));
        growing.pid = series->pid;
    }
    find_wall(growing, node_rate());
}

bool GrowthWatch::still_rises(const Growing& growing) const {
    const Series* series = series_.find(shown_by(growing.key));
    if (series == nullptr || std::isnan(series_.now(*series))) return false;
    const double since = work_seconds(growing.since_ms);
    const double last = std::max((series_.time() - since) / 4, series_.time_since(least_points));
    std::vector<TrendPoint> points = series_.all_points(*series);
    std::erase_if(points, [&](const TrendPoint& point) { return point.at < series_.time() - last; });
    return rise_of_envelope(points).value_or(0) >= growing.per_second * still;
}

std::vector<Risen> GrowthWatch::risen(std::size_t most) const {
    constexpr double hour = 3600, least_share = 0.1;
    std::vector<Risen> node, bytes, numbers;
    if (rounds() == 0) return node;
    for (const auto& [key, series] : series_.all()) {
        const double now = series_.now(series);
        if (rank_of(key.measure) == 0 || key.key == "swapped" || std::isnan(now)) continue;
        const auto first = series_.first_since(series, series_.time() - hour);
        if (!first || now - first->value < std::max(first->value * least_share, key.bytes ? least_bytes : least_rise))
            continue;
        const Risen risen{&key, series_.time() - first->at, first->value, now};
        (is_node_memory(key) ? node : key.bytes ? bytes : numbers).push_back(risen);
    }
    const auto more = [](const Risen& a, const Risen& b) {
        return std::tuple(b.now - b.from, a.key->what, std::string_view(a.key->key), a.key->measure) <
               std::tuple(a.now - a.from, b.key->what, std::string_view(b.key->key), b.key->measure);
    };
    for (std::vector<Risen>* all : {&node, &bytes, &numbers}) {
        std::ranges::sort(*all, more);
        if (all->size() > most) all->resize(most);
    }
    node.insert(node.end(), bytes.begin(), bytes.end());
    node.insert(node.end(), numbers.begin(), numbers.end());
    return node;
}

std::vector<GrowthWatch::Now> GrowthWatch::now() const {
    std::vector<Now> all;
    if (rounds() == 0) return all;
    for (const auto& [key, series] : series_.all())
        if (const double value = series_.now(series); !std::isnan(value)) all.push_back({&key, value, series.single});
    std::ranges::sort(all, [](const Now& a, const Now& b) {
        return std::tie(a.key->what, a.key->key, a.key->measure) < std::tie(b.key->what, b.key->key, b.key->measure);
    });
    return all;
}

}  // namespace beamheap::analyses
