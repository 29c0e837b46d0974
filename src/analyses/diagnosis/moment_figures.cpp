// SPDX-License-Identifier: Apache-2.0
#include "analyses/diagnosis/moment_figures.hpp"

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

std::string name_or_kind(const Snapshot& snapshot, const Owner& owner) {
    if (owner.name != TextId::none) return std::string(snapshot.text(owner.name));
    return owner.alive() ? kind_key(snapshot, snapshot[owner.process]) : std::string("(gone)");
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

void add_processes(Figures& figures, const Snapshot& snapshot, bool followed) {
    for (const Process& p : snapshot.processes) {
        const bool named = p.name != TextId::none;
        const GrowthOf what = named ? GrowthOf::process : GrowthOf::process_group;
        const std::string key = named ? std::string(snapshot.text(p.name)) : kind_key(snapshot, p);
        if (!named) figures.add(what, key, "processes", false, Count(1));
        figures.add(what, key, "messages", false, p.msgq_len);
        if (p.memory_bytes.has()) figures.add(what, key, "memory", true, p.memory_bytes);
        else  // releases that do not say: what the heaps take
            figures.add(what, key, "heap", true,
                        words_to_bytes(p.heap_words + p.old_heap_words, snapshot.source.word_size));
        if (followed) add_followed(figures, snapshot, p, what, key);
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
    add_processes(figures, snapshot, wish.followed);
    if (wish.by_pid) add_by_pid(figures, snapshot);
    if (wish.stacks) add_stacks(figures, snapshot);
    add_tables(figures, snapshot);
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
