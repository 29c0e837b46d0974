// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/section_order.hpp"

#include <algorithm>
#include <functional>

namespace beamheap::crashdump {
namespace {

// Sections that every dump has, and since which release. =memory is not among them: where an allocator is switched off
// the VM can't sum up.
struct Required {
    std::string_view tag;
    std::uint32_t since = 0;
};
constexpr Required required[] = {
    {"allocated_areas", 10},  {"allocator", 10},  {"proc", 10},        {"node", 10},
    {"loaded_modules", 10},   {"mod", 10},        {"fun", 10},         {"proc_stack", 10},
    {"proc_heap", 10},        {"atoms", 10},      {"scheduler", 18},   {"literals", 21},
    {"persistent_terms", 22}, {"hash_table", 10}, {"index_table", 10},
};

// Tags whose sections have a name, or are one: no two of a dump are alike. Sections of processes are not among them
// (their readers know which they have), nor are tables of hashing, of which two have one name, nor what has no name.
constexpr std::string_view one_of_each[] = {"allocated_areas",
                                            "allocator",
                                            "atoms",
                                            "dirty_cpu_run_queue",
                                            "dirty_cpu_scheduler",
                                            "dirty_io_run_queue",
                                            "dirty_io_scheduler",
                                            "hidden_node",
                                            "index_table",
                                            "literals",
                                            "loaded_modules",
                                            "memory",
                                            "mod",
                                            "no_distribution",
                                            "node",
                                            "not_connected",
                                            "persistent_terms",
                                            "port",
                                            "scheduler",
                                            "visible_node"};

std::string shown(const Scanner::Head& head) {
    std::string text = "=";
    text += head.tag;
    if (!head.id.empty()) text += ":" + head.id;
    return text;
}

}  // namespace

SectionOrder::SectionOrder() {
    for (const std::string_view tag : one_of_each) one_of_each_[number_of(*find_tag(tag))] = true;
}

void SectionOrder::passed(Loader& loader, const Scanner::Head& head) {
    const SectionTag& row = *head.row;
    last_offset_ = head.offset;
    order_ = row.order;
    if (row.body == Body::dump_abort || row.body == Body::dump_start) return;
    if (row.order < reached_) loader.anomalies().add(Anomaly::section_misplaced, head.offset, shown(head));
    reached_ = std::max(reached_, row.order);
    const std::size_t number = number_of(row);
    ++counts_[number];
    if (one_of_each_[number] && !names_.insert(std::hash<std::string>{}(head.id) * most_tags + number).second)
        loader.anomalies().add(Anomaly::duplicate_section, head.offset, shown(head));
}

void SectionOrder::passed_unknown(Loader& loader, const Scanner::Head& head) {
    const bool damaged = loader.dialect.otp != 0 && loader.dialect.otp <= newest_known_release;
    loader.anomalies().add(damaged ? Anomaly::damaged_tag : Anomaly::unknown_section, head.offset, head.tag);
    if (damaged && order_ == find_tag("proc")->order) loader.losses.table_torn();
}

bool SectionOrder::missing(const Loader& loader, std::size_t index) const {
    const SectionTag& row = *find_tag(required[index].tag);
    return loader.dialect.otp >= required[index].since && row.order < reached_ && counts_[number_of(row)] == 0;
}

// What has few of the sections that it must have is no node's dump, but what somebody has made of one.
bool SectionOrder::of_a_node(const Loader& loader) const {
    std::size_t passed = 0, lost = 0;
    for (std::size_t i = 0; i < std::size(required); ++i) {
        if (find_tag(required[i].tag)->order >= reached_) continue;
        ++passed;
        lost += missing(loader, i);
    }
    return 2 * lost <= passed;
}

void SectionOrder::judge(Loader& loader, bool sealed) const {
    if (!sealed || !of_a_node(loader)) return;
    for (std::size_t i = 0; i < std::size(required); ++i)
        if (missing(loader, i)) loader.anomalies().add(Anomaly::section_missing, 0, "=" + std::string(required[i].tag));
}

bool SectionOrder::table_end_doubtful(const Loader& loader) const {
    if (!of_a_node(loader)) return false;
    for (std::size_t i = 0; i < std::size(required); ++i)
        if (find_tag(required[i].tag)->order > find_tag("proc")->order && missing(loader, i)) return true;
    return false;
}

}  // namespace beamheap::crashdump
