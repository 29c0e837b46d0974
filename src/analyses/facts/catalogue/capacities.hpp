// SPDX-License-Identifier: Apache-2.0
// Servers that have given away all that they may give, or that keep what they gave to processes that have ended.
//
// Theory. A limit in a state is reached where it is as large as a count in the same state, or as a collection, a table,
// the links or monitors of its owner (heaps/state_counts.hpp). Two equal numbers are no limit by themselves: times of
// five seconds are equal, too, and many states keep the length of a list beside it. What proves it is that somebody
// waits: callers that it has not answered although it is at rest, or a socket that it listens on and at which nobody
// accepts. Where nobody waits, it is thin: told only where the field itself says that it is a limit and the processes
// that have something are as many: how many children somebody has is no limit of theirs.
//
// Nor is a limit reached where all that is kept is marked as given back ("removed", "idle"): then nobody has a place,
// and whoever waits for one waits for being told so.
//
// What was given to a process is to be taken back when that ends. Where all that a collection of a server at rest names
// have ended, while others wait for it, nobody takes it back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/facts/facts.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct Capacity {
    ProcId server = ProcId::none;
    std::uint64_t limit = 0;              ///< that is reached; 0: none is known, and entries name who has ended
    std::uint64_t allowed = 0;            ///< where the count is a little above it, the limit itself; else as `limit`
    Sentence limit_in;                    ///< where it stands: "its State"
    std::vector<Sentence> fields;         ///< of that, the limit and what is as large: "key max", "key in_use"
    std::vector<Sentence> agrees;         ///< what else is as large: "the number of its monitors"
    bool thin = false;                    ///< nobody waits
    std::string given_back;               ///< the mark of all holders that says so: nobody has a place
    Sentence none_counted;                ///< then: what is counted there, too: "variable 3 of my:loop/3 is 0"
    Sentence holders_in;                  ///< the collection that names who has something: "its State > key lent"
    std::uint64_t holders = 0;            ///< its elements
    std::uint64_t looked = 0, ended = 0;  ///< of these, looked at, and those that name who has ended
    Pid gone;                             ///< one of those
    std::vector<ProcId> alive;            ///< whom it names, but for the server's own
    std::vector<ProcId> waiters;          ///< who waits for the server, and was not answered
    PortName listening;                   ///< its socket on which nobody accepts
    std::vector<ProcId> serving;          ///< of a listener: processes near it that have a connection
    bool all_ended() const { return ended != 0 && ended * 10 >= looked * 9; }
};

struct Capacities {
    std::vector<Capacity> all;  ///< most waiters first

    /// Of one server; nullptr: there is nothing to be said of it.
    const Capacity* of(ProcId server) const;
};

Result<Capacities> find_fact(FactOf<Capacities>, const Facts& facts, Artifact& artifact);

}  // namespace beamheap::analyses
