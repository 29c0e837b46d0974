// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/diff.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analyses/diagnosis/moment_figures.hpp"

namespace beamheap::analyses {
namespace {

// What weighs 1 of each measure.
double scale_of(std::string_view measure, bool bytes) {
    if (bytes) return 10.0 * 1024 * 1024;
    if (measure == "processes" || measure == "ports" || measure == "ets_tables" || measure == "modules") return 100;
    if (measure == "messages" || measure == "timers") return 1000;
    if (measure == "objects") return 100'000;
    if (measure == "reductions") return 1e9;
    return 10'000;
}

double factor_of(GrowthOf what) {
    return what == GrowthOf::memory || what == GrowthOf::total ? 0.25 : what == GrowthOf::stack ? 0.9 : 1.0;
}

constexpr double factor_of_waves = 0.25;  // of what did not rise from each input to the next

// Whether each input has more than the one before.
bool rises(const Growth& row) {
    Count last = row.before;
    const auto more = [&last](Count next) { return next.has() && *std::exchange(last, next) < *next; };
    return last.has() && std::ranges::all_of(row.between, more) && more(row.after);
}

std::int64_t signed_difference(std::uint64_t before, std::uint64_t after) {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    return after >= before ? static_cast<std::int64_t>(std::min(after - before, most))
                           : -static_cast<std::int64_t>(std::min(before - after, most));
}

}  // namespace

std::string_view name_of(GrowthOf what) {
    switch (what) {
        case GrowthOf::process: return "process";
        case GrowthOf::process_group: return "process_group";
        case GrowthOf::ets_table: return "ets_table";
        case GrowthOf::atom_family: return "atom_family";
        case GrowthOf::port_driver: return "port_driver";
        case GrowthOf::timer_receiver: return "timer_receiver";
        case GrowthOf::stack: return "stack";
        case GrowthOf::memory: return "memory";
        case GrowthOf::total: break;
    }
    return "total";
}

std::string_view name_of(FindingChange change) {
    return change == FindingChange::added ? "new" : change == FindingChange::kept ? "kept" : "gone";
}

bool same_vm(const Snapshot& before, const Snapshot& after) {
    const auto &first = before.source.live, &second = after.source.live;
    return first && second && first->pid == second->pid && first->read_at_ms < second->read_at_ms;
}

std::vector<Growth> diff(const Snapshot& before, const Snapshot& after) { return diff(before, {}, after); }

std::vector<Growth> diff(const Snapshot& before, std::span<const Figures> between, const Snapshot& after) {
    const bool moments = same_vm(before, after);
    const FigureWish wish{.by_pid = moments};
    const Figures first = figures_of(before, wish);
    const Figures second = figures_of(after, wish);
    const double minutes =
        moments ? static_cast<double>(after.source.live->read_at_ms - before.source.live->read_at_ms) / 60'000 : 0;
    std::vector<Growth> rows;
    const auto add = [&](const Figures::Key& key) {
        Growth row{.what = key.what, .key = key.key, .measure = key.measure, .bytes = key.bytes};
        row.before = first.figure(key);
        row.after = second.figure(key);
        for (const Figures& figures : between) row.between.push_back(figures.figure(key));
        if (row.before == row.after) return;
        if (row.before.has() && row.after.has()) {
            row.delta = signed_difference(*row.before, *row.after);
            if (row.what == GrowthOf::stack && (*row.delta == 1 || *row.delta == -1)) return;
            if (*row.before != 0)
                row.percent = 100.0 * static_cast<double>(*row.delta) / static_cast<double>(*row.before);
            if (const double rate = static_cast<double>(*row.delta) / minutes; moments && std::abs(rate) < 9e18)
                row.per_minute = std::llround(rate);
            row.weight = static_cast<double>(*row.delta) / scale_of(row.measure, row.bytes) * factor_of(row.what);
            row.steady = rises(row);
            if (!between.empty() && !row.steady && row.weight > 0) row.weight *= factor_of_waves;
        }
        rows.push_back(std::move(row));
    };
    for (const Figures::Key* key : second.order) add(*key);
    for (const Figures::Key* key : first.order)
        if (!second.sums.contains(*key)) add(*key);
    std::ranges::stable_sort(rows, [](const Growth& a, const Growth& b) {
        if (a.delta.has_value() != b.delta.has_value()) return a.delta.has_value();
        if (a.weight != b.weight) return a.weight > b.weight;
        if (a.what != b.what) return a.what < b.what;
        return a.key < b.key;
    });
    return rows;
}

std::vector<ChangedFinding> diff_findings(const std::vector<Finding>& before, const std::vector<Finding>& after) {
    const auto has = [](const std::vector<Finding>& list, const Finding& finding) {
        return std::ranges::find(list, finding.fingerprint, &Finding::fingerprint) != list.end();
    };
    std::vector<ChangedFinding> changes;
    for (const Finding& finding : after)
        if (!has(before, finding)) changes.push_back({FindingChange::added, &finding});
    for (const Finding& finding : after)
        if (has(before, finding)) changes.push_back({FindingChange::kept, &finding});
    for (const Finding& finding : before)
        if (!has(after, finding)) changes.push_back({FindingChange::gone, &finding});
    return changes;
}

Result<std::vector<const Growth*>> over_limit(const Limit& limit, const std::vector<Growth>& rows) {
    const auto fits = [&limit](const Growth& row) {
        const bool process = row.what == GrowthOf::process || row.what == GrowthOf::process_group;
        const bool memory = row.what == GrowthOf::memory;
        switch (limit.metric) {
            case LimitMetric::msgq: return process && row.measure == "messages";
            case LimitMetric::memory: return process && row.measure == "memory";
            case LimitMetric::total:
            case LimitMetric::binary:
            case LimitMetric::ets:
            case LimitMetric::code: return memory && row.key == info(limit.metric).name.text();
            default: return row.what == GrowthOf::total && row.measure == info(limit.metric).name.text() && !row.bytes;
        }
    };
    if (limit.metric == LimitMetric::heap || limit.metric == LimitMetric::stack || limit.metric == LimitMetric::links)
        return Error{ErrorCode::usage, "diff does not compare " + std::string(info(limit.metric).name.text()),
                     "Take memory, which holds heap and stack."};
    std::vector<const Growth*> over;
    for (const Growth& row : rows) {
        if (!fits(row) || !row.delta || *row.delta <= 0) continue;
        const bool from_nothing = limit.quantity.unit == Quantity::Unit::percent && *row.before == 0;
        if (from_nothing || exceeds(limit, Count(static_cast<std::uint64_t>(*row.delta)), row.before))
            over.push_back(&row);
    }
    return over;
}

}  // namespace beamheap::analyses
