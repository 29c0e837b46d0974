// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/traced_profile.hpp"

#include <algorithm>

#include "analyses/base/sum.hpp"

namespace beamheap::analyses {
namespace {

TracedRow sum_of(const TracedFunction& traced) {
    TracedRow row{traced.function, traced.session, {}, traced.calls, {}, {}};
    const auto add = [&row](const std::vector<TracedProcess>& list, Count& amounts) {
        std::uint64_t calls = 0, amount = 0;
        for (const TracedProcess& each : list) {
            calls = saturating_add(calls, each.calls);
            amount = saturating_add(amount, each.amount);
        }
        if (!row.calls.has()) row.calls = calls;
        amounts = amount;
    };
    if (traced.measured) add(traced.memory, row.words);
    if (traced.timed) add(traced.time, row.time);
    return row;
}

// Counters of calls alone know no processes.
void add_processes(const TracedFunction& traced, std::vector<TracedRow>& rows) {
    const std::size_t first = rows.size();
    for (const TracedProcess& each : traced.memory)
        rows.push_back({traced.function, traced.session, each.pid, each.calls, each.amount, {}});
    for (const TracedProcess& each : traced.time) {
        const auto same = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                                       [&each](const TracedRow& row) { return row.pid == each.pid; });
        if (same != rows.end()) same->time = each.amount;
        else rows.push_back({traced.function, traced.session, each.pid, each.calls, {}, each.amount});
    }
    if (rows.size() == first) rows.push_back({traced.function, traced.session, {}, traced.calls, {}, {}});
}

}  // namespace

TracedProfile traced_profile(std::span<const TracedFunction> traced, bool per_process,
                             const std::function<bool(FunctionId)>& chosen) {
    TracedProfile profile;
    std::vector<TracedRow>& rows = profile.rows;
    for (const TracedFunction& each : traced) {
        if (!chosen(each.function)) continue;
        ++profile.functions;
        if (per_process) add_processes(each, rows);
        else rows.push_back(sum_of(each));
    }
    const auto any = [&rows](Count TracedRow::*member) {
        return std::ranges::any_of(rows, [member](const TracedRow& row) { return (row.*member).has(); });
    };
    if (any(&TracedRow::words)) profile.measure = &TracedRow::words;
    else if (any(&TracedRow::time)) profile.measure = &TracedRow::time;
    Sum total;
    for (const TracedRow& row : rows) total.add(row.*profile.measure);
    profile.total = total.value();
    profile.sessions =
        std::ranges::any_of(rows, [&rows](const TracedRow& row) { return row.session != rows.front().session; });
    std::ranges::stable_sort(rows, std::ranges::greater(),
                             [&profile](const TracedRow& row) { return (row.*profile.measure).value_or(0); });
    return profile;
}

}  // namespace beamheap::analyses
