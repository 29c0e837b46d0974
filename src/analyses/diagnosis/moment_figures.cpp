// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/moment_figures.hpp"

#include <algorithm>

#include "analyses/memory/allocators.hpp"
#include "analyses/memory/atom_families.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/inventory.hpp"
#include "analyses/processes/process_columns.hpp"
#include "analyses/processes/totals.hpp"
#include "erlang/erlang_syntax.hpp"

namespace beamheap::analyses {

std::string kind_key(const Snapshot& snapshot, const Process& p) {
    if (p.label != TextId::none) return std::string(snapshot.text(p.label));
    const FunctionId function = p.real_initial_call != FunctionId::none ? p.real_initial_call : p.initial_call;
    return function == FunctionId::none ? "(unknown)" : function_text(snapshot, function);
}

std::string name_pattern(std::string_view name) {
    return may_be_of_family(name) ? atom_pattern(name) : std::string(name);
}

std::string label_pattern(std::string_view label) {
    const bool term = label.find_first_of("{[\"<#") != label.npos;
    return term ? term_shape(label) : name_pattern(label);
}

std::string group_key(const Snapshot& snapshot, const Process& process) {
    if (process.name != TextId::none) return name_pattern(snapshot.text(process.name));
    return process.label != TextId::none ? label_pattern(snapshot.text(process.label)) : kind_key(snapshot, process);
}

std::string process_key(const Snapshot& snapshot, const Process& process) {
    if (process.name != TextId::none) return std::string(snapshot.text(process.name));
    return pid_text(process.pid) + " " + kind_key(snapshot, process);
}

void add_followed(Figures& figures, const Snapshot& snapshot, const Process& process, GrowthOf what,
                  const std::string& key) {
    const std::uint32_t word = snapshot.source.word_size;
    figures.add(what, key, "used", true, words_to_bytes(used_words(process), word));
    figures.add(what, key, "binaries", true, words_to_bytes(virtual_heap_words(process), word));
    figures.add(what, key, "links", false, Count(std::uint64_t{process.links} + process.monitors));
}

namespace {

constexpr std::string_view literal_allocator = "literal_alloc";  // constants of modules, and persistent terms

std::string name_or_kind(const Snapshot& snapshot, const Owner& owner, bool patterns) {
    if (owner.name != TextId::none) {
        const std::string_view name = snapshot.text(owner.name);
        return patterns ? name_pattern(name) : std::string(name);
    }
    if (!owner.alive()) return "(gone)";
    return patterns ? group_key(snapshot, snapshot[owner.process]) : kind_key(snapshot, snapshot[owner.process]);
}

// What pids tell apart.
void add_by_pid(Figures& figures, const Snapshot& snapshot) {
    for (const Process& p : snapshot.processes) {
        const std::string key = process_key(snapshot, p);
        figures.add(GrowthOf::process, key, "reductions", false, p.reductions);
        if (p.refc_bytes.has()) figures.add(GrowthOf::process, key, "binaries", true, p.refc_bytes);
        if (p.name != TextId::none) continue;
        figures.add(GrowthOf::process, key, "messages", false, p.msgq_len);
        figures.add(GrowthOf::process, key, "memory", true, p.memory_bytes);
    }
}

void add_process(Figures& figures, const Snapshot& snapshot, const Process& p, GrowthOf what, const std::string& key) {
    if (what == GrowthOf::process_group) figures.add(what, key, "processes", false, Count(1));
    figures.add(what, key, "messages", false, p.msgq_len);
    if (p.memory_bytes.has()) figures.add(what, key, "memory", true, p.memory_bytes);
    else  // releases that do not say: what the heaps take
        figures.add(what, key, "heap", true,
                    words_to_bytes(p.heap_words + p.old_heap_words, snapshot.source.word_size));
}

void add_processes(Figures& figures, const Snapshot& snapshot) {
    for (const Process& p : snapshot.processes)
        if (p.name == TextId::none) add_process(figures, snapshot, p, GrowthOf::process_group, kind_key(snapshot, p));
        else add_process(figures, snapshot, p, GrowthOf::process, std::string(snapshot.text(p.name)));
}

/// Figures of processes without a name that are of one kind, summed before anybody looks for the kind's name: there are
/// tens of thousands of the ones and a few of the others.
struct FollowedGroup {
    Sum processes, messages, memory, heap, used, binaries, links;

    void add(const Process& p, std::uint32_t word) {
        processes.add(Count(1));
        messages.add(p.msgq_len);
        if (p.memory_bytes.has()) memory.add(p.memory_bytes);
        else heap.add(words_to_bytes(p.heap_words + p.old_heap_words, word));
        used.add(words_to_bytes(used_words(p), word));
        binaries.add(words_to_bytes(virtual_heap_words(p), word));
        links.add(Count(std::uint64_t{p.links} + p.monitors));
    }
    void put(Figures& figures, GrowthOf what, const std::string& key) const {
        const auto each = [&](std::string_view measure, bool bytes, const Sum& sum) {
            if (sum.known() + sum.missing() != 0) figures.add(what, key, measure, bytes, sum);
        };
        if (what == GrowthOf::process_group) each("processes", false, processes);
        each("messages", false, messages);
        each("memory", true, memory);
        each("heap", true, heap);
        each("used", true, used);
        each("binaries", true, binaries);
        each("links", false, links);
    }
};

// Those with a name that has a number are one of a group, too.
void add_followed_processes(Figures& figures, const Snapshot& snapshot) {
    const std::uint32_t word = snapshot.source.word_size;
    std::unordered_map<std::uint64_t, FollowedGroup> kinds;  // by label, else by function
    std::vector<std::pair<std::uint64_t, const Process*>> order;
    Sum idle;
    for (const Process& p : snapshot.processes) {
        if (p.name != TextId::none) {
            FollowedGroup one;
            one.add(p, word);
            if (const std::string group = group_key(snapshot, p); group != snapshot.text(p.name))
                one.put(figures, GrowthOf::process_group, group);
            one.put(figures, GrowthOf::process, std::string(snapshot.text(p.name)));
        } else {
            const bool labelled = p.label != TextId::none;
            const FunctionId function = p.real_initial_call != FunctionId::none ? p.real_initial_call : p.initial_call;
            const std::uint64_t kind =
                labelled ? 1 + 2 * std::uint64_t{index_of(p.label)} : 2 * std::uint64_t{index_of(function)};
            const auto [at, added] = kinds.try_emplace(kind);
            if (added) order.emplace_back(kind, &p);
            at->second.add(p, word);
        }
        const Count used = words_to_bytes(used_words(p), word);
        if (used.has() && p.memory_bytes.has()) idle.add(Count(*p.memory_bytes - std::min(*p.memory_bytes, *used)));
    }
    for (const auto& [kind, first] : order)
        kinds.at(kind).put(figures, GrowthOf::process_group, group_key(snapshot, *first));
    if (idle.known() != 0) figures.add(GrowthOf::memory, "heaps_idle", "idle", true, idle);
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

void add_ets_tables(Figures& figures, const Snapshot& snapshot, bool patterns) {
    for (const EtsUse& use : ets_tables(snapshot).tables) {
        const EtsTable& table = snapshot.ets[use.table];
        const std::string_view name = snapshot.text(table.name);
        const std::string key =
            (patterns ? name_pattern(name) : std::string(name)) + " of " + name_or_kind(snapshot, use.owner, patterns);
        figures.add(GrowthOf::ets_table, key, "ets_tables", false, Count(1));
        figures.add(GrowthOf::ets_table, key, "objects", false, table.objects);
        figures.add(GrowthOf::ets_table, key, "memory", true, use.bytes);
    }
}

void add_ports_and_timers(Figures& figures, const Snapshot& snapshot, bool patterns) {
    for (const PortGroup& group : ports(snapshot).groups) {
        std::string key(snapshot.text(group.kind));
        if (!group.driver.empty()) key += (key.empty() ? "" : " ") + group.driver;
        figures.add(GrowthOf::port_driver, key, "ports", false, Count(group.count));
        figures.add(GrowthOf::port_driver, key, "queue", true, group.queue_bytes);
    }
    for (const TimerGroup& group : timers(snapshot).groups) {
        Owner receiver = group.receiver;
        if (group.receiver_name != TextId::none) receiver.name = group.receiver_name;
        figures.add(GrowthOf::timer_receiver, name_or_kind(snapshot, receiver, patterns) + " " + group.shape, "timers",
                    false, Count(group.count));
    }
}

void add_memory(Figures& figures, const Snapshot& snapshot) {
    for (const NamedBytes& kind : snapshot.memory)
        figures.add(GrowthOf::memory, std::string(snapshot.text(kind.name)), "memory", true, kind.bytes);
}

// What allocators have got from the system, what of that no block uses, and what the memory of persistent terms and of
// everything that has no kind of its own is.
void add_followed_memory(Figures& figures, const Snapshot& snapshot) {
    const AllocatorReport report = allocators(snapshot);
    const auto add = [&figures](std::string key, std::string_view measure, const Count& bytes) {
        figures.add(GrowthOf::memory, std::move(key), measure, true, bytes);
    };
    add("carriers_used", "carriers", report.total.block_bytes);
    add("carriers_held", "carriers", report.total.carrier_bytes);
    for (const AllocatorUse& type : report.types) {
        const std::string name(snapshot.text(type.name));
        add(name, "held", type.carrier_bytes);
        add(name, "unused", type.lost_bytes);
        if (name == literal_allocator)
            figures.add(GrowthOf::total, "persistent_terms", "memory", true, type.block_bytes);
    }
    figures.add(GrowthOf::total, "persistent_terms", "persistent_terms", false, snapshot.node.persistent_terms);
    const Count system = snapshot.memory_bytes("system");
    if (!system.has()) return;
    std::uint64_t known = 0;
    for (const std::string_view kind : {"atom", "binary", "code", "ets"})
        known += snapshot.memory_bytes(kind).value_or(0);
    add("other", "memory", Count(*system - std::min(*system, known)));
}

void add_totals(Figures& figures, const Snapshot& snapshot, bool families) {
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
    if (families)
        for (const AtomFamily& family : atom_families(snapshot).families)
            figures.add(GrowthOf::atom_family, family.pattern, "atoms", false, Count(family.count));
    figures.has_atoms = !snapshot.atoms.empty();
    figures.has_processes = snapshot.source.process_table_complete;
}

}  // namespace

Figures figures_of(const Snapshot& snapshot, const FigureWish& wish) {
    Figures figures;
    if (wish.followed) add_followed_processes(figures, snapshot);
    else add_processes(figures, snapshot);
    if (wish.by_pid) add_by_pid(figures, snapshot);
    if (wish.stacks) add_stacks(figures, snapshot);
    add_ets_tables(figures, snapshot, wish.followed);
    add_ports_and_timers(figures, snapshot, wish.followed);
    add_memory(figures, snapshot);
    if (wish.followed) add_followed_memory(figures, snapshot);
    add_totals(figures, snapshot, wish.families);
    return figures;
}

Count Figures::figure(const Key& key) const {
    if (const auto found = sums.find(key); found != sums.end()) return found->second.value();
    switch (key.what) {
        case GrowthOf::memory:
        case GrowthOf::total: return {};
        case GrowthOf::atom_family: return has_atoms ? Count(0) : Count();
        case GrowthOf::process:
        case GrowthOf::process_group:
        case GrowthOf::stack: return has_processes ? Count(0) : Count();
        default: return Count(0);
    }
}

}  // namespace beamheap::analyses
