// SPDX-License-Identifier: Apache-2.0
#include "analyses/memory/beside_heaps.hpp"

#include <algorithm>
#include <map>

#include "analyses/base/sum.hpp"
#include "erlang/printed_words.hpp"

namespace beamheap::analyses {
namespace {

constexpr std::uint64_t most_of_structure = 4096;             // bytes
constexpr std::uint64_t usual_half = 8, timer_words = 19;     // words
constexpr std::uint64_t least_half = 5, most_half = 20;       // words
constexpr std::uint64_t enough_to_measure = 512;              // of one process
constexpr std::uint64_t fragment_words = 5, header_word = 1;  // ErlHeapFragment without its terms; of its block

/// The parts that a process has in links and monitors.
struct Halves {
    std::uint64_t links = 0, monitors = 0, monitored = 0;
    std::uint64_t sum() const { return links + monitors + monitored; }
};

Halves halves_of(const Snapshot& s, const Process& process) {
    Halves halves;
    for (std::uint32_t i = 0; i < process.link_range.count; ++i) switch (s.links[process.link_range.first + i].kind) {
            case LinkKind::link: ++halves.links; break;
            case LinkKind::monitors:
            case LinkKind::node_monitor: ++halves.monitors; break;
            default: ++halves.monitored;
        }
    // Where they are counted and not listed.
    halves.links = std::max<std::uint64_t>(halves.links, process.links);
    halves.monitors = std::max<std::uint64_t>(halves.monitors, process.monitors);
    return halves;
}

// Of who has most: the structure is a small part of that, and less than a word of each.
std::uint64_t half_bytes(const Snapshot& s, const std::vector<std::uint64_t>& bytes,
                         const std::vector<Halves>& halves) {
    const std::uint64_t word = s.source.word_size;
    std::uint64_t most = enough_to_measure - 1, half = usual_half * word;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (halves[i].sum() <= most || s.processes[i].msgq_len.value_or(1) != 0) continue;
        most = halves[i].sum();
        half = std::clamp(bytes[i] / most / word, least_half, most_half) * word;
    }
    return half;
}

ProcId receiver_of(const Snapshot& s, const Timer& timer) {
    if (timer.receiver.has()) return s.find(timer.receiver);
    return timer.receiver_name == TextId::none ? ProcId::none : s.find_registered(s.text(timer.receiver_name));
}

}  // namespace

std::vector<BesideHeaps> beside_heaps(const Snapshot& s, const std::vector<std::uint64_t>& bytes) {
    std::vector<Halves> halves;
    halves.reserve(s.processes.size());
    for (const Process& process : s.processes) halves.push_back(halves_of(s, process));
    const std::uint64_t half = half_bytes(s, bytes, halves);
    std::vector<BesideHeaps> parts(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const Process& process = s.processes[i];
        std::uint64_t left = bytes[i];
        const auto take = [&left](std::uint64_t part) {
            const std::uint64_t taken = std::min(part, left);
            left -= taken;
            return taken;
        };
        BesideHeaps& of = parts[i];
        of.link_count = halves[i].links;
        of.monitor_count = halves[i].monitors;
        of.links = saturating_add(of.links, take(saturating_multiply(halves[i].links, half)));
        of.monitors = saturating_add(of.monitors, take(saturating_multiply(halves[i].monitors, half)));
        for (std::uint32_t k = 0; k < process.link_range.count; ++k) {
            const Link& link = s.links[process.link_range.first + k];
            if (link.kind == LinkKind::link || link.kind == LinkKind::monitors || link.kind == LinkKind::node_monitor)
                continue;
            const ProcId by = link.kind == LinkKind::monitored_by ? s.find(link.pid) : ProcId::none;
            BesideHeaps& whose = by == ProcId::none ? of : parts[index_of(by)];
            whose.monitors = saturating_add(whose.monitors, take(half));
        }
        of.structure = take(most_of_structure);
        of.other = left;
    }
    return parts;
}

std::vector<TimersOf> timer_bytes(const Snapshot& s) {
    const std::uint64_t word = s.source.word_size;
    std::map<ProcId, TimersOf> by_receiver;
    for (const Timer& timer : s.timers) {
        const ProcId receiver = receiver_of(s, timer);
        TimersOf& of = by_receiver[receiver];
        of.receiver = receiver;
        ++of.count;
        of.structures = saturating_add(of.structures, timer_words * word);
        if (timer.message == TextId::none) continue;
        const std::uint64_t terms = erlang::printed_words(s.text(timer.message), s.source.word_size);
        if (terms != 0) of.messages = saturating_add(of.messages, (terms + fragment_words + header_word) * word);
    }
    std::vector<TimersOf> all;
    for (const auto& [receiver, of] : by_receiver) all.push_back(of);
    std::ranges::stable_sort(all, std::ranges::greater(),
                             [](const TimersOf& of) { return saturating_add(of.structures, of.messages); });
    return all;
}

}  // namespace beamheap::analyses
