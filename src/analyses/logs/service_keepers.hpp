// SPDX-License-Identifier: Apache-2.0
// Which processes keep what OTP's own servers know of the node's troubles (service_states.hpp).
//
// Each process of a node is asked, so what its functions are part of is found out once for each function and each
// stack.
#pragma once

#include <cstdint>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

enum class Service : std::uint8_t {
    none,
    protection,
    alarm_manager,
    connection,
    net_kernel,
    rabbit,
    raft,
    log_writer,
    table_writer
};

/// Which processes may keep one of these: a handler's protection, a manager of events whose name speaks of alarms, a
/// process of RabbitMQ, a member of a Ra cluster, one of a connection to another node, net_kernel, one that writes a
/// log or a table of dets. Needs the process table and stacks. Asked about all processes of one snapshot, whose
/// functions it keeps in mind.
class ServiceKeepers {
public:
    /// What of a service's state a process keeps; none, where it is too large to be looked into.
    Service service_of(const Snapshot& snapshot, const Process& process);
    bool operator()(const Snapshot& snapshot, ProcId process) {
        return service_of(snapshot, snapshot[process]) != Service::none;
    }

private:
    unsigned parts_of(const Snapshot& snapshot, FunctionId function);
    unsigned parts_of(const Snapshot& snapshot, StackId stack);

    std::vector<std::uint8_t> functions_,
        stacks_;  // by their numbers: what services they are part of, as bits; 0: not asked yet
};

}  // namespace beamheap::analyses
