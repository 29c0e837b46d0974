// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/diff.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "analyses/base/sum.hpp"
#include "analyses/memory/atom_families.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/totals.hpp"
#include "erlang/erlang_syntax.hpp"

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

/// The figures of one input, by what they are about.
struct Figures {
    struct Key {
        GrowthOf what;
        std::string_view measure;
        bool bytes;
        std::string key;
        friend bool operator==(const Key&, const Key&) = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return std::hash<std::string_view>{}(key.key) * 31 + std::hash<std::string_view>{}(key.measure) * 7 +
                   static_cast<std::size_t>(key.what);
        }
    };
    std::unordered_map<Key, Sum, Hash> sums;
    std::vector<const Key*> order;  // as they came
    bool has_processes = true;      // all of them: what is not there was not there
    bool has_atoms = true;

    void add(GrowthOf what, std::string key, std::string_view measure, bool bytes, Count figure) {
        add(what, std::move(key), measure, bytes, [&] {
            Sum sum;
            sum.add(figure);
            return sum;
        }());
    }
    void add(GrowthOf what, std::string key, std::string_view measure, bool bytes, const Sum& figures) {
        const auto [at, added] = sums.try_emplace({what, measure, bytes, std::move(key)});
        at->second.add(figures);
        if (added) order.push_back(&at->first);
    }
};

std::string kind_of(const Snapshot& snapshot, const Process& p) {
    if (p.label != TextId::none) return std::string(snapshot.text(p.label));
    const FunctionId function = p.real_initial_call != FunctionId::none ? p.real_initial_call : p.initial_call;
    return function == FunctionId::none ? "(unknown)" : function_text(snapshot, function);
}

std::string name_or_kind(const Snapshot& snapshot, const Owner& owner) {
    if (owner.name != TextId::none) return std::string(snapshot.text(owner.name));
    return owner.alive() ? kind_of(snapshot, snapshot[owner.process]) : std::string("(gone)");
}

// What pids tell apart.
void add_by_pid(Figures& figures, const Snapshot& snapshot) {
    for (const Process& p : snapshot.processes) {
        const std::string key =
            p.name != TextId::none ? std::string(snapshot.text(p.name)) : pid_text(p.pid) + " " + kind_of(snapshot, p);
        figures.add(GrowthOf::process, key, "reductions", false, p.reductions);
        if (p.refc_bytes.has()) figures.add(GrowthOf::process, key, "binaries", true, p.refc_bytes);
        if (p.name != TextId::none) continue;
        figures.add(GrowthOf::process, key, "messages", false, p.msgq_len);
        figures.add(GrowthOf::process, key, "memory", true, p.memory_bytes);
    }
}

void add_processes(Figures& figures, const Snapshot& snapshot) {
    for (const Process& p : snapshot.processes) {
        const bool named = p.name != TextId::none;
        const GrowthOf what = named ? GrowthOf::process : GrowthOf::process_group;
        const std::string key = named ? std::string(snapshot.text(p.name)) : kind_of(snapshot, p);
        if (!named) figures.add(what, key, "processes", false, Count(1));
        figures.add(what, key, "messages", false, p.msgq_len);
        if (p.memory_bytes.has()) figures.add(what, key, "memory", true, p.memory_bytes);
        else  // releases that do not say: what the heaps take
            figures.add(what, key, "heap", true,
                        words_to_bytes(p.heap_words + p.old_heap_words, snapshot.source.word_size));
    }
}

// Functions, youngest first, up to four of them.
void add_stacks(Figures& figures, const Snapshot& snapshot) {
    constexpr std::size_t shown = 4;
    for (const ProcessGroup& group : group_by_stack(snapshot, all_processes(snapshot)).groups) {
        std::string key;
        std::size_t frames = 0;
        for (const Frame& frame : snapshot.stacks[group.stack]) {
            if (frame.function == FunctionId::none) continue;
            if (frames == shown) break;
            if (frames++ != 0) key += " < ";
            key += function_text(snapshot, frame.function);
        }
        if (frames != 0) figures.add(GrowthOf::stack, std::move(key), "processes", false, Count(group.count));
    }
}

void add_tables(Figures& figures, const Snapshot& snapshot) {
    for (const EtsUse& use : ets_tables(snapshot).tables) {
        const EtsTable& table = snapshot.ets[use.table];
        const std::string key = std::string(snapshot.text(table.name)) + " of " + name_or_kind(snapshot, use.owner);
        figures.add(GrowthOf::ets_table, key, "ets_tables", false, Count(1));
        figures.add(GrowthOf::ets_table, key, "objects", false, table.objects);
        figures.add(GrowthOf::ets_table, key, "memory", true, use.bytes);
    }
    for (const PortGroup& group : ports(snapshot).groups) {
        std::string key(snapshot.text(group.kind));
        if (!group.driver.empty()) key += (key.empty() ? "" : " ") + group.driver;
        figures.add(GrowthOf::port_driver, key, "ports", false, Count(group.count));
        figures.add(GrowthOf::port_driver, key, "queue", true, group.queue_bytes);
    }
    for (const TimerGroup& group : timers(snapshot).groups) {
        const std::string receiver = group.receiver_name != TextId::none
                                         ? std::string(snapshot.text(group.receiver_name))
                                         : name_or_kind(snapshot, group.receiver);
        figures.add(GrowthOf::timer_receiver, receiver + " " + group.shape, "timers", false, Count(group.count));
    }
    for (const NamedBytes& kind : snapshot.memory)
        figures.add(GrowthOf::memory, std::string(snapshot.text(kind.name)), "memory", true, kind.bytes);
}

void add_totals(Figures& figures, const Snapshot& snapshot) {
    const Totals totals = analyses::totals(snapshot);
    const auto total = [&figures](std::string_view measure, Count count) {
        figures.add(GrowthOf::total, std::string(measure), measure, false, count);
    };
    total("processes", totals.processes);
    total("messages", totals.messages.value());
    total("ports", totals.ports);
    total("ets_tables", totals.ets_tables);
    total("timers", totals.timers);
    total("atoms", totals.atom_fill.used);
    total("modules", totals.modules);
    total("binaries", snapshot.node.binaries);
    figures.add(GrowthOf::total, "binaries", "memory", true, snapshot.node.binary_bytes);
    for (const AtomFamily& family : atom_families(snapshot).families)
        figures.add(GrowthOf::atom_family, family.pattern, "atoms", false, Count(family.count));
    figures.has_atoms = !snapshot.atoms.empty();
    figures.has_processes = snapshot.source.process_table_complete;
}

Figures figures_of(const Snapshot& snapshot, bool by_pid) {
    Figures figures;
    add_processes(figures, snapshot);
    if (by_pid) add_by_pid(figures, snapshot);
    add_stacks(figures, snapshot);
    add_tables(figures, snapshot);
    add_totals(figures, snapshot);
    return figures;
}

Count figure(const Figures& figures, const Figures::Key& key) {
    if (const auto found = figures.sums.find(key); found != figures.sums.end()) return found->second.value();
    switch (key.what) {
        case GrowthOf::memory:
        case GrowthOf::total: return {};
        case GrowthOf::atom_family: return figures.has_atoms ? Count(0) : Count();
        case GrowthOf::process:
        case GrowthOf::process_group:
        case GrowthOf::stack: return figures.has_processes ? Count(0) : Count();
        default: return Count(0);
    }
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

std::vector<Growth> diff(const Snapshot& before, const Snapshot& after) {
    const bool moments = same_vm(before, after);
    const Figures first = figures_of(before, moments);
    const Figures second = figures_of(after, moments);
    const double minutes =
        moments ? static_cast<double>(after.source.live->read_at_ms - before.source.live->read_at_ms) / 60'000 : 0;
    std::vector<Growth> rows;
    const auto add = [&](const Figures::Key& key) {
        Growth row{.what = key.what, .key = key.key, .measure = key.measure, .bytes = key.bytes};
        row.before = figure(first, key);
        row.after = figure(second, key);
        if (row.before == row.after) return;
        if (row.before.has() && row.after.has()) {
            row.delta = signed_difference(*row.before, *row.after);
            if (row.what == GrowthOf::stack && (*row.delta == 1 || *row.delta == -1)) return;
            if (*row.before != 0)
                row.percent = 100.0 * static_cast<double>(*row.delta) / static_cast<double>(*row.before);
            if (const double rate = static_cast<double>(*row.delta) / minutes; moments && std::abs(rate) < 9e18)
                row.per_minute = std::llround(rate);
            row.weight = static_cast<double>(*row.delta) / scale_of(row.measure, row.bytes) * factor_of(row.what);
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
