// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/growth.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "analyses/memory/allocators.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/totals.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::size_t most_of_each = 16;  // single processes by each figure
constexpr std::size_t most_single = 128;  // that are followed at a time
constexpr double farthest_wall = 183.0 * 86400;
constexpr double least_rise = 8;           // of a number
constexpr double least_bytes = 64 * 1024;  // of memory
constexpr double explained = 0.5;

using Key = Figures::Key;

double value_of(const Count& count) {
    return count.has() ? static_cast<double>(*count) : std::numeric_limits<double>::quiet_NaN();
}

// What tells the cause best comes first; 0 is no finding by itself.
unsigned rank_of(std::string_view measure) {
    constexpr std::array order{"processes",   "messages", "objects",  "atoms",  "ports", "timers", "ets_tables",
                               "descriptors", "modules",  "binaries", "memory", "queue", "links",  "run_queue"};
    const auto at = std::ranges::find(order, measure);
    return at == order.end() ? 0 : static_cast<unsigned>(at - order.begin()) + 1;
}

bool is_sum(const Key& key) { return key.what == GrowthOf::memory || key.what == GrowthOf::total; }
bool is_node_memory(const Key& key) {
    return key.what == GrowthOf::memory && (key.key == "total" || key.key == "resident");
}

// Sums that say more than the memory of the node does.
bool is_told(const Key& sum) {
    if (sum.what == GrowthOf::memory) return sum.key == "binary" || sum.key == "ets" || sum.key == "code";
    return sum.key != "binaries";
}

// Whether the growth of a thing is part of a sum's.
bool part_of(const Key& thing, const Key& sum) {
    if (is_sum(thing)) return false;
    const bool process = thing.what == GrowthOf::process || thing.what == GrowthOf::process_group;
    if (sum.what == GrowthOf::memory) {
        if (sum.key == "binary") return thing.measure == "binaries" || thing.measure == "messages";
        if (sum.key == "ets") return thing.what == GrowthOf::ets_table;
        if (sum.key.starts_with("processes")) return process;
        if (sum.key.starts_with("atom")) return false;
        return true;
    }
    if (sum.key == "descriptors") return thing.measure == "ports";
    return thing.measure == sum.measure;
}

std::vector<ProcId> single_processes(const Snapshot& s) {
    const std::vector<ProcId> all = all_processes(s);
    std::vector<ProcId> found;
    for (Count Process::*figure :
         {&Process::memory_bytes, &Process::msgq_len, &Process::old_bin_vheap_words, &Process::bin_vheap_words})
        for (const ProcId id : largest(s, all, figure, most_of_each)) found.push_back(id);
    return found;
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

void GrowthWatch::put(const Key& key, double value, Pid pid, bool optional) {
    auto at = series_.find(key);
    if (at == series_.end()) {
        if (series_.size() >= most_series || std::isnan(value)) return;
        at = series_.emplace(key, Series{}).first;
        // Of what is counted and was not there before, there was none.
        const double before = optional || key.what == GrowthOf::process || is_sum(key) ? none : 0;
        at->second.recent.fill(before);
        at->second.spans.assign(span_times_.size(), before);
        at->second.optional = optional;
    }
    Series& series = at->second;
    series.recent[rounds_ % kept] = value;
    series.pid = pid;
    series.seen = rounds_;
}

// Those without a name that have most, and those that are followed already.
void GrowthWatch::add_single(const Snapshot& s) {
    std::vector<ProcId> wanted = single_processes(s);
    std::unordered_set<std::string> followed;
    for (const auto& [key, series] : series_) {
        if (!series.optional || followed.size() >= most_single || !followed.insert(key.key).second) continue;
        if (const ProcId id = s.find(series.pid); id != ProcId::none) wanted.push_back(id);
    }
    std::ranges::sort(wanted, {}, [](ProcId id) { return index_of(id); });
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    for (const ProcId id : wanted) {
        const Process& p = s[id];
        if (p.name != TextId::none) continue;
        const std::string key = process_key(s, p);
        Figures figures;
        add_followed(figures, s, p, GrowthOf::process, key);
        figures.add(GrowthOf::process, key, "messages", false, p.msgq_len);
        figures.add(GrowthOf::process, key, "memory", true, p.memory_bytes);
        for (const auto& [figure, sum] : figures.sums) put(figure, value_of(sum.value()), p.pid, true);
    }
}

void GrowthWatch::add(const Snapshot& s, const SystemFigures& system) {
    if (!s.source.live) return;
    if (rounds_ == 0) first_ms_ = s.source.live->read_at_ms;
    const double now = static_cast<double>(s.source.live->read_at_ms - first_ms_) / 1000;
    times_[rounds_ % kept] = now;
    system_ = system;
    process_limit_ = analyses::process_limit(s), port_limit_ = analyses::port_limit(s);
    atom_limit_ = analyses::atom_limit(s);

    Figures figures = figures_of(s, {.stacks = false, .families = false, .followed = true});
    figures.add(GrowthOf::memory, "resident", "memory", true, system.resident_bytes);
    figures.add(GrowthOf::memory, "swapped", "memory", true, system.swapped_bytes);
    figures.add(GrowthOf::total, "descriptors", "descriptors", false, system.descriptors);
    const AllocatorUse carriers = allocators(s).total;
    figures.add(GrowthOf::memory, "carriers_used", "carriers", true, carriers.block_bytes);
    figures.add(GrowthOf::memory, "carriers_held", "carriers", true, carriers.carrier_bytes);
    Sum queued;
    for (const Scheduler& scheduler : s.schedulers)
        for (const Count& length : scheduler.run_queue)
            if (length.has()) queued.add(length);
    figures.add(GrowthOf::total, "run_queue", "run_queue", false, queued);
    for (const auto& [key, sum] : figures.sums) {
        const ProcId named = key.what == GrowthOf::process ? s.find_registered(key.key) : ProcId::none;
        put(key, value_of(sum.value()), named == ProcId::none ? Pid{} : s[named].pid, false);
    }
    add_single(s);
    for (auto& [key, series] : series_)
        if (series.seen != rounds_) series.recent[rounds_ % kept] = value_of(figures.figure(key));
    for (auto& [key, series] : series_)
        if (series.optional && series.seen != rounds_) series.recent[rounds_ % kept] = none;
    close_round();
}

// The round's figures go into the spans; what has not been there for as long as rounds are kept is forgotten.
void GrowthWatch::close_round() {
    std::erase_if(series_, [this](const auto& each) {
        const std::uint64_t absent = rounds_ - each.second.seen;
        return absent > (each.second.optional ? 0 : kept);
    });
    const bool begins = rounds_ % span_rounds_ == 0;
    if (begins) span_times_.push_back(times_[rounds_ % kept]);
    const bool full = span_times_.size() > kept;
    for (auto& [key, series] : series_) {
        const double value = series.recent[rounds_ % kept];
        if (begins) series.spans.push_back(value);
        else series.spans.back() = std::fmin(series.spans.back(), value);
        if (!full) continue;
        std::size_t to = 0;
        for (std::size_t i = 0; i < series.spans.size(); i += 2)
            series.spans[to++] =
                i + 1 < series.spans.size() ? std::fmin(series.spans[i], series.spans[i + 1]) : series.spans[i];
        series.spans.resize(to);
    }
    if (full) {
        std::size_t to = 0;
        for (std::size_t i = 0; i < span_times_.size(); i += 2) span_times_[to++] = span_times_[i];
        span_times_.resize(to);
        span_rounds_ *= 2;
    }
    ++rounds_;
}

// The rounds that are kept one by one.
std::vector<TrendPoint> GrowthWatch::points(const Series& series) const {
    std::vector<TrendPoint> all;
    const std::uint64_t count = std::min<std::uint64_t>(rounds_, kept);
    for (std::uint64_t round = rounds_ - count; round < rounds_; ++round)
        if (const double value = series.recent[round % kept]; !std::isnan(value))
            all.push_back({times_[round % kept], value});
    return all;
}

namespace {

// All of a watch that is longer than the rounds that are kept one by one.
std::optional<Trend> long_growth(std::span<const double> times, std::span<const double> values) {
    std::vector<TrendPoint> all;
    for (std::size_t i = 0; i < times.size(); ++i)
        if (!std::isnan(values[i])) all.push_back({times[i], values[i]});
    return latest_growth(all);
}

}  // namespace

std::optional<Trend> GrowthWatch::trend(const Key& key) const {
    const auto at = series_.find(key);
    if (at == series_.end()) return std::nullopt;
    const Series& series = at->second;
    if (rounds_ > kept)
        if (const auto found = long_growth(span_times_, series.spans)) return found;
    const std::vector<TrendPoint> recent = points(series);
    if (recent.size() < least_points) return std::nullopt;
    // What was before: only what is older than the first of the rounds.
    std::vector<TrendPoint> older;
    for (std::size_t i = 0; i + 1 < span_times_.size() && span_times_[i + 1] <= recent.front().at; ++i)
        if (!std::isnan(series.spans[i])) older.push_back({span_times_[i], series.spans[i]});
    older.insert(older.end(), recent.begin(), recent.end());
    return latest_growth(older, recent.size());
}

// The slope of another figure of the same thing, over the same time: the median of its steps is no use where it is
// allocated in steps, so it is what the first and the last quarter differ by.
std::optional<double> GrowthWatch::slope_of(Key key, std::string_view measure, bool bytes, const Trend& window) const {
    key.measure = measure;
    key.bytes = bytes;
    const auto at = series_.find(key);
    if (at == series_.end()) return std::nullopt;
    std::vector<TrendPoint> all = points(at->second);
    std::erase_if(all, [&](const TrendPoint& point) { return point.at < window.begin; });
    const std::size_t quarter = all.size() / 4;
    if (quarter == 0) return std::nullopt;
    const auto mean = [](std::span<const TrendPoint> part) {
        TrendPoint sum;
        for (const TrendPoint& point : part) sum.at += point.at, sum.value += point.value;
        return TrendPoint{sum.at / static_cast<double>(part.size()), sum.value / static_cast<double>(part.size())};
    };
    const std::span<const TrendPoint> span(all);
    const TrendPoint first = mean(span.first(quarter)), last = mean(span.last(quarter));
    return last.at > first.at ? std::optional((last.value - first.value) / (last.at - first.at)) : std::nullopt;
}

// The growth of a figure, where what has to go with it does.
std::optional<Trend> GrowthWatch::proven(const Key& key) const {
    constexpr double least_of_allocated = 0.5;
    const bool process = key.what == GrowthOf::process || key.what == GrowthOf::process_group;
    if (process && key.measure == "memory") {
        Key used = key;
        used.measure = "used";
        const auto found = trend(used);
        const auto allocated = found ? slope_of(key, "memory", true, *found) : std::nullopt;
        if (!allocated || *allocated < found->per_second * least_of_allocated) return std::nullopt;
        return found;
    }
    if (process && key.measure == "binaries") {
        const auto found = trend(key);
        const auto all =
            found ? slope_of({GrowthOf::memory, "memory", true, "binary"}, "memory", true, *found) : std::nullopt;
        if (!all || *all < found->per_second * least_of_allocated) return std::nullopt;
        return found;
    }
    return trend(key);
}

void GrowthWatch::find_wall(Growing& growing, const std::optional<double>& node_rate) const {
    const auto nearer = [&](WallKind kind, const Count& limit, const Count& left, double rate) {
        if (!limit.has() || !left.has() || !(rate > 0)) return;
        const double seconds = static_cast<double>(*left) / rate;
        if (growing.wall && growing.wall->seconds <= seconds) return;
        growing.wall = Wall{kind, *limit, *left, seconds};
    };
    const auto left_of = [&](std::string_view total, const Count& limit) -> Count {
        const auto at = series_.find({GrowthOf::total, total, false, std::string(total)});
        if (at == series_.end() || !limit.has()) return {};
        const double now = at->second.recent[(rounds_ - 1) % kept];
        return std::isnan(now) ? Count() : Count(*limit - std::min(*limit, static_cast<std::uint64_t>(now)));
    };
    const std::string_view measure = growing.key.measure;
    if (measure == "processes")
        nearer(WallKind::process_limit, process_limit_, left_of("processes", process_limit_), growing.per_second);
    if (measure == "ports")
        nearer(WallKind::port_limit, port_limit_, left_of("ports", port_limit_), growing.per_second);
    if (measure == "atoms")
        nearer(WallKind::atom_limit, atom_limit_, left_of("atoms", atom_limit_), growing.per_second);
    if (measure == "descriptors")
        nearer(WallKind::descriptor_limit, system_.descriptor_limit, left_of("descriptors", system_.descriptor_limit),
               growing.per_second);
    if (measure == "atoms" || measure == "descriptors" || measure == "run_queue") return;
    const std::optional<double> rate = node_rate ? node_rate : growing.bytes_per_second;
    if (rate)
        nearer(system_.limit_of_group ? WallKind::group_memory : WallKind::machine_memory, system_.memory_limit_bytes,
               system_.memory_left_bytes, *rate);
}

std::vector<Growing> GrowthWatch::growing() const {
    std::vector<Growing> found;
    for (const auto& [key, series] : series_) {
        if (rank_of(key.measure) == 0 || key.key == "swapped") continue;
        const auto grows = proven(key);
        if (!grows || grows->to - grows->from < (key.bytes ? least_bytes : least_rise)) continue;
        const double now = series.recent[(rounds_ - 1) % kept];
        Growing each{.key = key, .per_second = grows->per_second, .confidence = grows->confidence};
        each.since_ms = first_ms_ + std::llround(grows->begin * 1000);
        each.since_before = grows->begin <= 0;
        each.from = static_cast<std::uint64_t>(std::max(0.0, grows->from));
        each.now = std::isnan(now) ? 0 : static_cast<std::uint64_t>(now);
        each.pid = series.pid;
        each.sum = is_sum(key);
        if (key.bytes) each.bytes_per_second = grows->per_second;
        else if (!each.sum) {
            const auto bytes = slope_of(key, "memory", true, *grows);
            if (bytes && *bytes > 0) each.bytes_per_second = bytes;
        }
        found.push_back(std::move(each));
    }
    const auto same_thing = [](const Growing& a, const Growing& b) {
        return a.key.what == b.key.what && a.key.key == b.key.key;
    };
    const std::vector<Growing> all = found;
    // Of one thing the cause; of a group not what one of its processes explains, which is told by itself.
    std::erase_if(found, [&](const Growing& each) {
        return std::ranges::any_of(all, [&](const Growing& other) {
            if (same_thing(each, other)) return rank_of(other.key.measure) < rank_of(each.key.measure);
            // What it is linked to becomes more.
            if (each.key.measure == "links" && (other.key.measure == "processes" || other.key.measure == "ports") &&
                other.per_second >= each.per_second * explained)
                return true;
            return each.key.what == GrowthOf::process_group && other.key.what == GrowthOf::process &&
                   other.key.measure == each.key.measure && other.key.key.ends_with(" " + each.key.key) &&
                   other.per_second >= each.per_second * explained;
        });
    });
    const std::vector<Growing> things = found;
    const bool total = std::ranges::any_of(things, [](const Growing& each) { return each.key.key == "total"; });
    std::erase_if(found, [&](const Growing& sum) {
        if (!sum.sum || sum.key.measure == "atoms") return false;
        if (is_node_memory(sum.key)) return total && sum.key.key == "resident";
        if (!is_told(sum.key)) return true;
        double parts = 0;
        for (const Growing& each : things)
            if (part_of(each.key, sum.key))
                parts += sum.key.bytes ? each.bytes_per_second.value_or(0) : each.per_second;
        return parts >= sum.per_second * explained;
    });
    std::optional<double> node_rate;
    for (const Growing& each : all)
        if (is_node_memory(each.key)) node_rate = std::max(node_rate.value_or(0), each.per_second);
    for (Growing& each : found) find_wall(each, node_rate);
    std::erase_if(found, [](const Growing& each) { return each.wall && each.wall->seconds > farthest_wall; });
    std::ranges::sort(found, [](const Growing& a, const Growing& b) {
        const bool node_a = is_node_memory(a.key), node_b = is_node_memory(b.key);
        if (node_a != node_b) return node_b;
        const double left_a = a.wall ? a.wall->seconds : farthest_wall,
                     left_b = b.wall ? b.wall->seconds : farthest_wall;
        const double bytes_a = a.bytes_per_second.value_or(0), bytes_b = b.bytes_per_second.value_or(0);
        if (left_a != left_b) return left_a < left_b;
        if (bytes_a != bytes_b) return bytes_a > bytes_b;
        if (a.key.what != b.key.what) return a.key.what < b.key.what;
        return a.key.key < b.key.key;
    });
    return found;
}

std::vector<GrowthWatch::Now> GrowthWatch::now() const {
    std::vector<Now> all;
    if (rounds_ == 0) return all;
    for (const auto& [key, series] : series_)
        if (const double value = series.recent[(rounds_ - 1) % kept]; !std::isnan(value))
            all.push_back({&key, value, series.optional});
    std::ranges::sort(all, [](const Now& a, const Now& b) {
        if (a.key->what != b.key->what) return a.key->what < b.key->what;
        if (a.key->key != b.key->key) return a.key->key < b.key->key;
        return a.key->measure < b.key->measure;
    });
    return all;
}

}  // namespace beamheap::analyses
