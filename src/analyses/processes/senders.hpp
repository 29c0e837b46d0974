// SPDX-License-Identifier: Apache-2.0
// Processes that are held up because what they send to takes nothing more.
//
// Theory. A port queues what its other side does not take; above a limit it is busy. The driver of sockets then leaves
// the one whose data filled the queue without an answer, so that one process with a connection of its own waits in
// prim_inet:send and stands in no list; whoever comes next is suspended by the VM and stands in the port's. Sockets of
// the module `socket` are no ports: their sender waits for a message of the socket in a function of that module.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyses/processes/waits.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// A process that waits until it may send on.
struct HeldSender {
    ProcId process = ProcId::none;
    std::optional<std::size_t> port;         ///< index into Snapshot::ports; none: a socket that is no port
    FunctionId function = FunctionId::none;  ///< it waits in: prim_inet:send/4, erlang:port_command/3, socket:send/4
    FunctionId caller = FunctionId::none;    ///< the youngest function that is not of the libraries in between
};

/// All of them but those to other nodes, in the process table's order. Needs what waits() needs. A port whose flags say
/// that it is not busy, and that nobody is suspended for, holds nobody up: a send to it has just begun.
std::vector<HeldSender> held_senders(const Snapshot& snapshot, const Waits& waits);

/// For whom a library works that stands between a program and a port: the youngest function on a stack that is of none;
/// none where there is no such.
FunctionId caller_of(const Snapshot& snapshot, const Process& process);
/// Whether a port takes no more: somebody is suspended for it, or its flags are BUSY_PORT or BUSY_Q (erl_port_task.h).
bool is_busy(const Snapshot& snapshot, const Port& port);
/// Whether a port is a connection to another node.
bool is_connection(const Snapshot& snapshot, const Port& port);
/// The port that carries the connection to a node (DistNode::controller); null where a process does, or there is none.
const Port* connection_to(const Snapshot& snapshot, const DistNode& node);

}  // namespace beamheap::analyses
