// SPDX-License-Identifier: Apache-2.0
// What a member of a Ra cluster (quorum queues of RabbitMQ, Khepri) knows of the others.
//
// Theory. Raft commits an entry of its log when a majority of the members have it. Where fewer can be reached, nothing
// is committed any more: whoever publishes gets no confirm, and the log grows. The process of a member, a gen_statem of
// ra_server_proc.erl, has the state of ra_server.erl, a map, within its own record: its own id {Name, Node}, all
// members with the last entry that each is known to have (match_index), the last one that is committed, the leader as
// far as one is known, and the log (ra_log.erl) with the number of its last entry. Seen in ra 2.0 (RabbitMQ 3.10); the
// forms of later releases are from their source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "beamheap/artifact.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

struct RaftMember {
    struct Peer {
        std::string node;
        std::uint64_t match = 0;  ///< the last entry that it is known to have; only the leader keeps count
    };
    ProcId process = ProcId::none;
    std::string machine;  ///< the module whose state it is: rabbit_fifo; empty: not told
    std::string own_node;
    std::vector<Peer> others;     ///< at most 100
    std::uint64_t commit = 0;     ///< the last entry that is committed
    std::uint64_t last = 0;       ///< the last entry of its log; not below commit
    bool leads = false;           ///< it is the leader
    bool knows_a_leader = false;  ///< it, or another one
};

/// What the state on a process's stack tells; nothing: it is not there. Looks at 2,000 terms at most. `process` is left
/// to the caller.
std::optional<RaftMember> raft_member(TermSource& terms);

}  // namespace beamheap::analyses
