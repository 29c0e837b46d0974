// SPDX-License-Identifier: Apache-2.0
#include "formats/crashdump/losses.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

namespace beamheap::crashdump {

void UnresolvedAddresses::add(const HeapGraph& graph, ProcId process) {
    for (std::size_t i = 0; i < graph.unresolved_size(); ++i) take(graph.unresolved(i), process);
    if (graph.mode() == HeapGraph::Mode::sizes) return;
    for (std::size_t i = 0; i < graph.foreign_size(); ++i)
        if (const HeapGraph::ForeignEdge edge = graph.foreign(i); graph.kind(edge.from) != TermKind::sub_binary)
            take(edge.address, process);
    for (std::size_t i = 0; i < graph.missing_roots(); ++i) take(graph.missing_root_address(i), process);
}

void UnresolvedAddresses::add_binaries(const HeapGraph& graph, ProcId process) {
    for (const BinaryUse& use : graph.binaries())
        if (use.base == BinaryUse::Base::binary && use.named) take(use.address, process);
}

void UnresolvedAddresses::merge(const UnresolvedAddresses& other) {
    for (const auto& [address, process] : other.first_) {
        if (first_.size() >= most_addresses) return;
        const auto [found, added] = first_.try_emplace(address, process);
        if (!added && index_of(process) < index_of(found->second)) found->second = process;
    }
}

void Losses::entry(std::uint32_t fields, bool torn) { fields_.push_back(torn ? fields | torn_entry : fields); }

void Losses::judge_entries(Snapshot& snapshot, std::uint32_t constant) {
    const std::size_t count = std::min(fields_.size(), snapshot.processes.size());
    // Of a process that is being made or taken down the VM writes its state alone.
    const auto counts = [&](std::size_t i) { return snapshot.processes[i].state != ProcessState::free; };
    std::array<std::size_t, torn_bit> having{};
    std::size_t whole = 0, alike = 0;
    std::uint32_t fields = 0;  // of the last `alike` entries: neighbours mostly have the same
    const auto add_alike = [&] {
        for (std::uint32_t rest = fields & ~torn_entry; rest != 0; rest &= rest - 1)
            having[static_cast<std::size_t>(std::countr_zero(rest))] += alike;
    };
    for (std::size_t i = 0; i < count; ++i) {
        if (!counts(i)) continue;
        ++whole;
        if (fields_[i] != fields) {
            add_alike();
            alike = 0;
            fields = fields_[i];
        }
        ++alike;
    }
    add_alike();
    std::uint32_t usual = 0;
    for (std::uint32_t bit = 0; bit < having.size(); ++bit)
        if (having[bit] * 3 + 1 >= whole * 2) usual |= 1u << bit;  // two in three, and one of two
    usual &= constant;
    const bool cut = !snapshot.source.process_table_complete;
    for (std::size_t i = 0; i < count; ++i) {
        const bool last = i + 1 == count && cut;  // told by cut_in_process_table
        const bool lacks = counts(i) && !last && (fields_[i] & usual) != usual;
        if (!lacks && (fields_[i] & torn_entry) == 0) continue;
        damaged_.insert(static_cast<std::uint32_t>(i));
        table_torn_ = true;
        snapshot.anomalies.add(Anomaly::torn_process, snapshot.processes[i].offset);
    }
}

// A process that no signal waits for has handled all that others have done to its links and monitors, so that both
// sides of each have it. Who is exiting takes them down one by one.
std::vector<bool> Losses::settled(const Snapshot& snapshot) {
    std::vector<bool> settled(snapshot.processes.size());
    TextId last = TextId::none;
    bool quiet = false;
    for (std::size_t i = 0; i < settled.size(); ++i) {
        const Process& process = snapshot.processes[i];
        if (process.internal_state != last || last == TextId::none) {
            last = process.internal_state;
            const std::string_view flags = snapshot.text(last);
            quiet = last != TextId::none && flags.find("SIG") == flags.npos && flags.find("EXIT") == flags.npos &&
                    flags.find("FREE") == flags.npos;
        }
        settled[i] = quiet && process.state != ProcessState::exiting && process.state != ProcessState::free;
    }
    return settled;
}

void Losses::judge_links(Snapshot& snapshot, bool ports_known) {
    if (!snapshot.source.process_table_complete) return;
    const std::vector<bool> quiet = settled(snapshot);
    std::unordered_set<std::uint64_t> ports;
    for (const Port& port : snapshot.ports) ports.insert(port.port.number);
    // What each of two has of the other is added once with each sign: nothing is left where both have it.
    std::uint64_t links = 0, monitors = 0, port_links = 0;
    std::unordered_set<std::uint64_t> by_name;  // monitors of whoever had a name: where they point is not said
    const auto mixed = [](std::uint64_t value) {
        value = (value ^ value >> 32) * 0x9E3779B97F4A7C15ull;
        return (value ^ value >> 29) * 0xBF58476D1CE4E5B9ull;
    };
    const auto reference = [&](const Link& link) {
        return mixed(mixed(std::uint64_t{link.ref[0]} << 32 | link.ref[1]) + link.ref[2]);
    };
    for (const Link& link : snapshot.links)
        if (link.kind == LinkKind::monitors && !link.pid.has()) by_name.insert(reference(link));
    std::uint64_t one_sided = 0, offset = 0;
    const auto lost = [&](const Process& process) {
        if (one_sided++ == 0) offset = process.offset;
    };
    for (std::size_t at = 0; at < snapshot.processes.size(); ++at) {
        const Process& process = snapshot.processes[at];
        for (std::uint32_t i = 0; i < process.link_range.count; ++i) {
            const Link& link = snapshot.links[process.link_range.first + i];
            if (link.port.has() && link.port.node == 0 && ports_known && quiet[at] && !ports.contains(link.port.number))
                lost(process);
            if (link.port.has() && link.port.node == 0 && quiet[at] && link.kind == LinkKind::link)
                port_links += mixed(mixed(link.port.number) + key(process.pid));
            if (!link.pid.has() || link.pid.node != 0) continue;
            const ProcId other = snapshot.find(link.pid);
            if (other == ProcId::none) {
                if (linked_.insert(key(link.pid)).second)
                    snapshot.anomalies.add(Anomaly::linked_to_nobody, process.offset);
                if (quiet[at]) lost(process);
                continue;
            }
            if (!quiet[at] || !quiet[index_of(other)]) continue;
            if (link.kind == LinkKind::link) {
                const std::uint64_t mine = key(process.pid), theirs = key(link.pid);
                const std::uint64_t pair = mixed(mixed(std::min(mine, theirs)) + std::max(mine, theirs));
                links += mine < theirs ? pair : mine > theirs ? 0 - pair : 0;
            } else if (link.kind == LinkKind::monitors || link.kind == LinkKind::monitored_by) {
                const std::uint64_t number = reference(link);
                if (!by_name.contains(number)) monitors += link.kind == LinkKind::monitors ? number : 0 - number;
            }
        }
    }
    for (const Port& port : snapshot.ports)
        for (const Pid pid : port.links)
            if (const ProcId other = snapshot.find(pid); other != ProcId::none && quiet[index_of(other)])
                port_links -= mixed(mixed(port.port.number) + key(pid));
    if (links != 0 || monitors != 0 || (ports_known && port_links != 0)) ++one_sided;
    if (one_sided != 0)
        snapshot.anomalies.add(Anomaly::torn_process, offset, "links or monitors that the other side does not have");
}

void Losses::judge_sections(Snapshot& snapshot, std::uint64_t cut) const {
    for (const auto& [offset, detail] : torn_sections_)
        if (offset != cut) snapshot.anomalies.add(Anomaly::torn_section, offset, detail);
}

void Losses::judge_references(Snapshot& snapshot, const UnresolvedAddresses& addresses, Anomaly kind) {
    std::uint64_t count = 0;
    ProcId first = ProcId::none;
    for (const auto& [address, process] : addresses.all()) {
        if (kind == Anomaly::dangling_reference) damaged(process);
        if (first == ProcId::none || index_of(process) < index_of(first)) first = process;
        ++count;
    }
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, 1'000'000); ++i)
        snapshot.anomalies.add(kind, snapshot[first].offset);
}

void Losses::sum_up(Snapshot& snapshot) const {
    std::uint64_t missing = missing_.size();
    // Links to nobody alone prove nothing: processes end at any moment. Where the table is known to be torn they do.
    if (table_torn_ || missing != 0)
        for (const std::uint64_t pid : linked_) missing += missing_.contains(pid) ? 0 : 1;
    snapshot.source.loss.processes += std::max(missing, lost_entries_) + damaged_.size();
}

}  // namespace beamheap::crashdump
