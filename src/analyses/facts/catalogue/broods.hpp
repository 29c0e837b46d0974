// SPDX-License-Identifier: Apache-2.0
// Many processes of one kind that one process has started, and what tells whether anybody still needs them.
//
// Theory. A server, or a supervisor, has as many children as it was asked for: ten thousand sessions are no disease by
// their number. One that is needed is known to whom it works for (who is linked to it, monitors it, calls it by its
// name), has a connection of its own, a timer or work. One that was left behind has none of that: it is idle, has done
// nothing since it began, and nobody knows it but those who have started it. So it is with the children that one has
// below it, and a supervisor that was left behind often has none.
//
// Those whose starters have all ended are one many as well, however many starters there were: each request that
// starts a server, and ends by itself without stopping it, leaves one more. Whether they have worked tells nothing
// then.
//
// Another many is each one's external program: a process of the machine for each, which no memory of the VM shows.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/facts/facts.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct Brood {
    ProcId parent = ProcId::none;        ///< who has started them; none: that one has, or those have, ended
    std::uint64_t starters = 1;          ///< those who have started them; more than one: all of these have ended
    std::vector<FunctionId> beside;      ///< kinds of as many processes that the same starters have left behind as well
    FunctionId kind = FunctionId::none;  ///< what they began with
    Pid first_starter;                   ///< the oldest of several
    ProcId example = ProcId::none;       ///< one of them that was left behind, or has a program
    std::uint64_t members = 0;           ///< of one kind
    std::uint64_t left = 0;      ///< of these, idle with all below them, without work since they began (where the one
                                 ///< who started them lives), known to nobody
    std::uint64_t below = 0;     ///< processes below those
    bool supervisors = false;    ///< they are supervisors
    std::uint64_t programs = 0;  ///< members that own an external program
    TextId program = TextId::none;  ///< its command, where all have the same
    std::uint64_t sockets = 0;      ///< members that own a socket
    std::uint64_t linked = 0;       ///< members that are linked to who has started them
    std::uint64_t tables = 0;       ///< members that own an ETS table
    TextId table = TextId::none;    ///< the name of one of those
    bool mostly_left() const { return left * 10 >= members * 9; }
};

struct Broods {
    std::vector<Brood> all;  ///< those of programs, and of sockets of one who is no supervisor, from 100 on, those
                             ///< of several starters from 300 on, others from 1,000 on; the most members first
};

Result<Broods> find_fact(FactOf<Broods>, const Facts& facts);

}  // namespace beamheap::analyses
