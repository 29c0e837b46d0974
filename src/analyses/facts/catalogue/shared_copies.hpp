// SPDX-License-Identifier: Apache-2.0
// Whether the processes that hold most of the heaps' memory hold the same: a copy each of one term.
//
// Theory: heaps/copies.hpp. Five processes stand for all, evenly by the words on their heaps, whatever they were
// started as: a configuration that each of five kinds of processes was given is one disease, not five. Those who have
// started them are looked at, too: a fun that was made in a server takes with it what it names of that server's State.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/facts/facts.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct SharedCopies {
    std::uint64_t words = 0;  ///< of one copy; 0: they have nothing in common
    Sentence what;            ///< "a map of 60 ...", "a #{routes, tls, db}"
    std::uint64_t looked = 0, same = 0;
    std::uint64_t processes = 0;     ///< started as those that have it, and large enough for it
    std::uint64_t bytes = 0;         ///< copies of all of these
    std::vector<FunctionId> kinds;   ///< what they were started as, the most copies first
    ProcId example = ProcId::none;   ///< one of those that have it
    ProcId original = ProcId::none;  ///< who has started them, and has it, too
};

/// By ProcId order of the table: whose terms stand for all. Empty where processes hold little, or few of them much.
std::vector<ProcId> copy_samples(const Snapshot& snapshot);

Result<SharedCopies> find_fact(FactOf<SharedCopies>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
