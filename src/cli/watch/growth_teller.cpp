// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/growth_teller.hpp"

#include <fmt/format.h>

#include <cmath>

namespace beamheap::cli {
namespace {

using analyses::Growing;
using present::GrowthChange;

constexpr unsigned rounds_until_told = 3, rounds_until_other = 12;
constexpr unsigned rounds_until_gone = analyses::least_points;  // as many as it takes to be found
constexpr double other_rate = 1.0 / 3, nearer_wall = 0.5;

std::string name_of(const Growing& growing) {
    return fmt::format("{}\n{}\n{}", analyses::name_of(growing.key.what), growing.key.key, growing.key.measure);
}

void keep_beginning(Growing& growing, const Growing& before) {
    if (before.since_ms >= growing.since_ms) return;
    growing.since_ms = before.since_ms;
    growing.since_before = before.since_before;
    growing.from = before.from;
}

}  // namespace

// Of what this round has found.
GrowthChange GrowthTeller::judge(Known& known, const LookInto& look_into) const {
    const double rate = known.growing.per_second, seconds = known.growing.wall ? known.growing.wall->seconds : 0;
    GrowthChange change = GrowthChange::kept;
    if (!known.told) {
        change = GrowthChange::added;
        known.detail = look_into(known.growing);
    } else {
        const bool other = std::abs(rate - known.told_rate) > known.told_rate * other_rate ||
                           (seconds > 0 && (known.told_seconds == 0 || seconds < known.told_seconds * nearer_wall));
        known.other = other ? known.other + 1 : 0;
        if (known.other >= rounds_until_other) change = GrowthChange::changed;
    }
    known.told = true;
    if (change != GrowthChange::kept) known.told_rate = rate, known.told_seconds = seconds, known.other = 0;
    return change;
}

std::vector<present::ToldGrowth> GrowthTeller::after(const analyses::GrowthWatch& watch, const LookInto& look_into) {
    std::vector<present::ToldGrowth> told;
    for (auto& [name, known] : known_) ++known.missed;
    for (Growing& growing : watch.growing()) {
        Known& known = known_[name_of(growing)];
        if (known.found != 0) keep_beginning(growing, known.growing);
        known.growing = std::move(growing);
        known.missed = 0;
        if (++known.found < rounds_until_told) continue;
        const GrowthChange change = judge(known, look_into);
        told.push_back({change, known.growing, known.detail});
    }
    for (auto at = known_.begin(); at != known_.end();) {
        Known& known = at->second;
        const bool missed = known.missed != 0, lost = missed && !known.told;
        const bool gone = known.missed >= rounds_until_gone && !watch.still_rises(known.growing);
        if (missed && known.told) {
            watch.renew(known.growing);
            told.push_back({gone ? GrowthChange::gone : GrowthChange::kept, known.growing, known.detail});
        }
        at = lost || gone ? known_.erase(at) : std::next(at);
    }
    return told;
}

}  // namespace beamheap::cli
