// SPDX-License-Identifier: Apache-2.0
// What damage took out of the process table and out of the heaps, told by what is left of it.
//
// A VM writes the fields of a process in one order, each once, and all but a few of them for every process. So where
// bytes are missing in the middle of the table, the entry that is left of two has a field twice, or out of its place,
// or lacks one that the others have, or a piece of a line stands in it. Processes whose entries are gone altogether are
// known by their stacks and heaps, which come later, and by those who are linked to them. A heap that lost a line still
// refers to the object that stood there. Held against 58 dumps of R10B to 27 and those of resting and busy nodes of 23
// to 29, whole ones: nothing of this is met in any of them, but for links to processes that had just ended.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "beamheap/heap_graph.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::crashdump {

/// Addresses that heaps refer to and that lie in none of them: literals, or objects that were lost.
class UnresolvedAddresses {
public:
    /// Takes those of one heap. Beyond most_addresses further ones are not looked at: a dump has fewer literals.
    void add(const HeapGraph& graph, ProcId process);
    /// Takes those of the binaries outside of the heap that it names.
    void add_binaries(const HeapGraph& graph, ProcId process);
    void merge(const UnresolvedAddresses& other);
    /// Takes out what is a literal.
    void resolve(std::uint64_t address) { first_.erase(address); }
    bool empty() const { return first_.empty(); }
    /// By address, the first process that refers to it.
    const std::unordered_map<std::uint64_t, ProcId>& all() const { return first_; }

private:
    void take(std::uint64_t address, ProcId process) {
        std::uint64_t& recent = recent_[(address >> 3) % recent_.size()];
        if (recent == address || first_.size() >= most_addresses) return;
        recent = address;
        first_.try_emplace(address, process);
    }
    static constexpr std::size_t most_addresses = 2'000'000;
    std::unordered_map<std::uint64_t, ProcId> first_;
    std::array<std::uint64_t, 1024> recent_{};  // most references are to few literals
};

class Losses {
public:
    /// The fields that an entry of the process table has, as bits by their rows; `torn`: something in it is out of
    /// order.
    void entry(std::uint32_t fields, bool torn);
    /// A section of terms whose process is not in the table.
    void orphan(Pid pid) { missing_.insert(key(pid)); }
    /// A piece of the process table is gone that no entry tells of.
    void table_torn() { table_torn_ = true, ++lost_entries_; }
    /// A section of a table lacks a line, or has one twice or out of place: `detail` says which.
    void torn_section(std::uint64_t offset, std::string detail) {
        if (torn_sections_.size() < most_torn_sections) torn_sections_.emplace_back(offset, std::move(detail));
    }
    /// Counts them (torn_section), but for the section at `cut`, where the input ends.
    void judge_sections(Snapshot& snapshot, std::uint64_t cut) const;
    /// Something of this process's terms is lost.
    void damaged(ProcId process) { damaged_.insert(index_of(process)); }

    /// The process table is complete: entries that lack one of the fields `constant` (bits), which most have, are
    /// damaged. Counts torn_process.
    void judge_entries(Snapshot& snapshot, std::uint32_t constant);
    /// Counts those that others are linked to and that nobody is (linked_to_nobody), and torn_process where one of two
    /// that have no signal left to handle has a link or monitor that the other has not. `ports_known`: all were read.
    void judge_links(Snapshot& snapshot, bool ports_known);
    /// Counts the objects that are nowhere (`kind`: dangling_reference, binary_lost). Call when those that were found
    /// later (literals, the binaries' sections) were taken out.
    void judge_references(Snapshot& snapshot, const UnresolvedAddresses& addresses, Anomaly kind);
    /// The sums, into Source::loss.
    void sum_up(Snapshot& snapshot) const;

private:
    static std::vector<bool> settled(const Snapshot& snapshot);
    static std::uint64_t key(Pid pid) { return static_cast<std::uint64_t>(pid.serial) << 32 | pid.number; }
    static constexpr std::uint32_t torn_bit = 31;
    static constexpr std::uint32_t torn_entry = 1u << torn_bit;
    std::vector<std::uint32_t> fields_;  // by ProcId; and torn_entry
    std::unordered_set<std::uint64_t> missing_;
    std::unordered_set<std::uint64_t> linked_;  // to nobody
    std::unordered_set<std::uint32_t> damaged_;
    static constexpr std::size_t most_torn_sections = 1000;
    std::vector<std::pair<std::uint64_t, std::string>> torn_sections_;
    std::uint64_t lost_entries_ = 0;
    bool table_torn_ = false;
};

}  // namespace beamheap::crashdump
