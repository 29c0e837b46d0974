// SPDX-License-Identifier: Apache-2.0
// Many processes of one kind, and what a typical one of them holds.
#pragma once

#include <optional>
#include <vector>

#include "analyses/facts/facts.hpp"
#include "analyses/rules/finding.hpp"

namespace beamheap::analyses::rule {

struct Alike {
    FunctionId function = FunctionId::none;  ///< what they were started as
    std::vector<ProcId> members;
    std::uint64_t bytes = 0;        ///< that they hold together
    ProcId typical = ProcId::none;  ///< whose terms were looked into (Suspects::alike)
    std::uint64_t compared = 0;     ///< how many were
    bool same = false;              ///< these hold the same term
    bool same_keys = false;         ///< not the same, but all that were compared have the same keys there
    bool of_ended = false;          ///< elements of it name processes, nearly all of which have ended
    bool fresh_keys = false;        ///< a dictionary, nearly all of whose keys hold a reference
    std::uint64_t count = 0;        ///< elements of what the typical one mostly holds; 0: it is no collection
    /// "each has the same in its State > key rows, a list of 1,150 {row, integer}, as many as table stock has objects",
    /// "a typical one has in its process dictionary > key '$ancestors' a list of 7,851 pids, nearly all of processes
    /// that have ended"
    Sentence what;
};

/// Those that hold most together, where what a typical one holds was found; nothing where there are no such.
std::optional<Alike> alike_processes(const Facts& facts);
/// Evidence of it, and what helps where all hold the same.
void add_alike(const Facts& facts, const Alike& alike, Finding& finding);

}  // namespace beamheap::analyses::rule
