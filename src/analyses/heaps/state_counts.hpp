// SPDX-License-Identifier: Apache-2.0
// What the state of a process counts: its integers, and how many elements its collections have.
//
// Theory. A pool, a listener, a semaphore keep a limit and what is counted against it side by side: as an integer
// ({state, 64, 64}, #{max => 20, in_use => 20}), or as a collection of those who have something (#{busy => #{Worker =>
// Client}}). Both are fields of the same state, which is a server's State, or the variables of a loop that is
// somebody's own: there they are slots of its stack. So the state is gone through as records within records, and not
// through what collections hold. What an element of a collection names tells whether who has it still lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

struct StateCount {
    enum class Of : std::uint8_t { integer, collection } of = Of::integer;
    std::size_t record = 0;  ///< equal where two are fields of the same record
    Sentence in;            ///< that record: "its State", "its State > key pool", "its process dictionary", "my:loop/3"
    Sentence field;         ///< "key max", "element 4"; empty where the record itself is the collection
    bool has_name = false;  ///< a key of a map, a field of a record that is known
    bool limit_word = false;     ///< the key says that it is a limit: max_connections
    std::uint64_t value = 0;     ///< the integer, or how many elements
    std::uint64_t looked = 0;    ///< of a collection: elements that were looked at
    std::uint64_t named = 0;     ///< of these, those that name a process of this node but for its own, and the one
                                 ///< that has started it
    std::uint64_t ended = 0;     ///< of these, those that name one that has ended; 0 where that is not known
    std::uint64_t requests = 0;  ///< elements with a process beside a reference, as those who ask are kept
    std::vector<ProcId> alive;   ///< whom they name, each once
    Pid gone;                    ///< one that has ended
    std::string mark;  ///< of a map or dictionary: the atom that all that were looked at have as their value: "removed"
    Sentence place() const;  ///< "its State > key max"
};

struct StateCounts {
    std::vector<StateCount> counts;
    std::vector<StateCount> few;  ///< integers below those that can be a limit: 0 to 4
    std::vector<PortName> ports;  ///< that are fields of the state
};

/// Nothing of a supervisor and of several event handlers, and where only a part of the terms was read. Integers from 5
/// on, collections of any size. Looks at some hundred records, and at 64 elements of each collection.
std::optional<StateCounts> state_counts(const Snapshot& snapshot, ProcId process, TermSource& terms);

}  // namespace beamheap::analyses
