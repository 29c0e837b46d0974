// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/growth_causes.hpp"

#include <algorithm>
#include <array>

namespace beamheap::analyses {
namespace {

using Key = Figures::Key;

bool same_thing(const Growing& a, const Growing& b) { return a.key.what == b.key.what && a.key.key == b.key.key; }

// Whether a process is one of those that a group sums up.
bool is_member(const Key& process, const Key& group) {
    if (process.what != GrowthOf::process || group.what != GrowthOf::process_group) return false;
    const std::string_view name = process.key;
    if (!name.starts_with('<')) return name_pattern(name) == group.key;
    const std::string_view kind = name.substr(name.find(' ') + 1);
    return kind == group.key || label_pattern(kind) == group.key;
}

// Whether one growth is told by another: of one thing the cause; a group by one of its processes, a link by what it
// links to.
bool is_told_by(const Growing& each, const Growing& other) {
    if (same_thing(each, other)) return rank_of(other.key.measure) < rank_of(each.key.measure);
    if (other.per_second < each.per_second * explained) return false;
    if (each.key.measure == "links" && (other.key.measure == "processes" || other.key.measure == "ports"))
        return other.per_second <= each.per_second / explained;
    return other.key.measure == each.key.measure && is_member(other.key, each.key);
}

// Sums that say more than the memory of the node does.
bool is_told(const Key& sum) {
    if (sum.what != GrowthOf::memory) return !sum.bytes;
    return sum.measure == "unused" || sum.key == "binary" || sum.key == "ets" || sum.key == "code" ||
           sum.key == "other";
}

bool is_of_other_memory(const Key& thing) {
    return thing.what == GrowthOf::port_driver || thing.what == GrowthOf::timer_receiver || thing.measure == "links" ||
           thing.measure == "persistent_terms" || thing.measure == "modules";
}

// Whether the growth of a thing is part of a sum's.
bool part_of(const Key& thing, const Key& sum) {
    if (is_sum(thing)) return false;
    if (sum.what == GrowthOf::memory) {
        if (sum.measure == "unused") return false;
        if (sum.key == "binary") return thing.measure == "binaries" || thing.measure == "messages";
        return sum.key != "ets" || thing.what == GrowthOf::ets_table;
    }
    if (sum.key == "descriptors") return thing.measure == "ports";
    return thing.measure == sum.measure;
}

// Memory that has no kind of its own is told where it is what the node grows by, and nothing is known of what is in it.
bool is_explained_otherwise(const Growing& other, const std::vector<Growing>& all) {
    return std::ranges::any_of(all, [&](const Growing& each) {
        return is_of_other_memory(each.key) ||
               (is_node_memory(each.key) && other.per_second < each.per_second * explained);
    });
}

bool is_explained(const Growing& sum, const std::vector<Growing>& all) {
    if (sum.key.what == GrowthOf::memory && sum.key.key == "other") return is_explained_otherwise(sum, all);
    double parts = 0;
    for (const Growing& each : all)
        if (part_of(each.key, sum.key)) parts += sum.key.bytes ? each.bytes_per_second.value_or(0) : each.per_second;
    return parts >= sum.per_second * explained;
}

}  // namespace

unsigned rank_of(std::string_view measure) {
    constexpr std::array order{"processes", "messages",    "ets_tables", "objects",          "atoms",    "ports",
                               "timers",    "descriptors", "modules",    "persistent_terms", "binaries", "memory",
                               "unused",    "queue",       "links",      "run_queue"};
    const auto at = std::ranges::find(order, measure);
    return at == order.end() ? 0 : static_cast<unsigned>(at - order.begin()) + 1;
}

bool is_sum(const Key& key) { return key.what == GrowthOf::memory || key.what == GrowthOf::total; }

bool is_node_memory(const Key& key) {
    return key.what == GrowthOf::memory && (key.key == "total" || key.key == "resident");
}

std::vector<Growing> causes_of(const std::vector<Growing>& all) {
    std::vector<Growing> things;
    for (const Growing& each : all)
        if (std::ranges::none_of(all, [&](const Growing& other) { return is_told_by(each, other); }))
            things.push_back(each);
    const bool total = std::ranges::any_of(things, [](const Growing& each) { return each.key.key == "total"; });
    std::vector<Growing> told;
    for (const Growing& each : things) {
        if (!each.sum || each.key.measure == "atoms") told.push_back(each);
        else if (is_node_memory(each.key)) {
            if (!total || each.key.key == "total") told.push_back(each);
        } else if (is_told(each.key) && !is_explained(each, things)) told.push_back(each);
    }
    return told;
}

}  // namespace beamheap::analyses
