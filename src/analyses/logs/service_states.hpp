// SPDX-License-Identifier: Apache-2.0
// What OTP's own servers keep of the node's troubles: how loaded a log handler is, which alarms are set.
//
// A handler of logger runs behind an overload protection (logger_olp.erl, OTP 21 and later), whose state is a map with
// the limits of its queue and the mode that it was in: async, sync (callers wait), drop. An alarm handler is a handler
// of a gen_event manager, whose list of {handler, Module, Id, State, Supervised} (gen_event.erl) lies on the manager's
// stack while it waits. sasl's alarm_handler has the alarms themselves as its state, {Id, Description}, newest first;
// RabbitMQ's rabbit_alarm a record with a dict of the limits that were passed on each node, and a list of others.
//
// What came of the last write is kept by who writes a log: logger_std_h's process in a map (write_res, sync_res beside
// file_name), logger_disk_log_h in what its protection keeps for it (prev_log_result, prev_sync_result), disk_log
// itself at the end of its record, each as {error, Reason} or {error, {file_error, File, Reason}}. Nobody else of the
// node may be told: the handlers print it to the standard output. A table of dets has a process in
// dets:open_file_loop2/2, whose record (head) keeps as its update_mode {error, {file_error, File, Reason}} since a
// write failed; it is not written from then on.
//
// RabbitMQ's processes send to each other on credit (credit_flow.erl of rabbit_common): who has used up what a process
// has granted stops until that has worked it off, and keeps the pids of those who owe it credit in its process
// dictionary, under credit_blocked. So a queue that can't keep up stops its channels, and they the connections that
// publish.
//
// A queue of RabbitMQ keeps of each channel that has consumers of it the tags of what it has delivered and nobody has
// acknowledged yet, under {ch, Channel} (rabbit_queue_consumers.erl): these messages stay in memory until then.
//
// What a member of a Ra cluster knows of the others, raft_member.hpp.
//
// A connection to another node has a process in dist_util:con_loop, to which net_kernel's ticker sends {net_kernel,
// tick} several times in net_ticktime. At each it looks whether something has come, and keeps {tick, Read, Write, Tick,
// Ticked}: the number of this tick, and of the one that found something last (the record of dist_util.erl; numbers go
// around at net_tickintensity). net_kernel's state has how often that is: {tick, Ticker, Time, Intensity}, Time in
// milliseconds for all of them (OTP 24 and later), or {tick, Ticker, Time}, Time for one of four.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyses/logs/raft_member.hpp"
#include "beamheap/artifact.hpp"
#include "erlang/owned_term.hpp"

namespace beamheap::analyses {

/// A log handler's overload protection.
struct HandlerLoad {
    ProcId process = ProcId::none;
    std::string mode;                        ///< "async", "sync", "drop" when it last handled an event
    Count sync_qlen, drop_qlen, flush_qlen;  ///< queue lengths from which callers wait, events are dropped, all are
};

/// An alarm that is set.
struct SetAlarm {
    ProcId holder = ProcId::none;     ///< the process that keeps it
    std::shared_ptr<OwnedTerm> term;  ///< where `id` lives
    Element id;                       ///< {disk_almost_full, "/"}, system_memory_high_watermark, memory
    std::string node;                 ///< the node that it is about, where it says so
    bool blocks_publishers = false;   ///< RabbitMQ's limits on memory and disk
};

/// A log, or a table of dets, whose last write failed for the sake of its disk (full, failed, read-only), as the
/// process says that writes it.
struct UnwrittenLog {
    ProcId process = ProcId::none;
    std::shared_ptr<OwnedTerm> file;  ///< its path
    std::string reason;               ///< of the operating system: enospc
    bool table = false;               ///< of dets
};

/// A process that may not send until others grant it credit again.
struct CreditBlock {
    ProcId process = ProcId::none;
    std::vector<Pid> by;  ///< at most 100
};

/// Messages that a queue of RabbitMQ has delivered to a channel and that nobody has acknowledged.
struct Unacknowledged {
    ProcId queue = ProcId::none;
    Pid channel;
    std::uint64_t count = 0;
    std::shared_ptr<OwnedTerm> consumer;  ///< the tag of one consumer; nullptr: not found
};

/// What the process of a connection to another node knows of that one's silence.
struct ConnectionTick {
    ProcId process = ProcId::none;
    std::uint64_t tick = 0, ticked = 0;  ///< this tick; the last one that found something
};

/// How long net_kernel waits for a sign of life.
struct TickTime {
    std::uint64_t milliseconds = 0;  ///< after which a node is given up; 0: not known
    std::uint64_t intensity = 0;     ///< ticks in that time

    /// How long nothing has come by a connection, at least: whole ticks that found nothing; nothing where it is not
    /// known.
    std::optional<std::uint64_t> silent_ms(const ConnectionTick& connection) const;
};

struct ServiceStates {
    std::vector<HandlerLoad> handlers;    ///< in the process table's order
    std::vector<SetAlarm> alarms;         ///< at most 100 of one process
    std::vector<UnwrittenLog> unwritten;  ///< one of each file
    std::vector<CreditBlock> blocked;     ///< of RabbitMQ's processes, until their heaps come to 30 million words
    std::uint64_t credit_unread = 0;  ///< RabbitMQ's processes behind that bound: whether they have credit was not read
    std::vector<Unacknowledged> unacknowledged;  ///< 1,000 and more each; within the same bound
    std::vector<RaftMember> raft;                ///< members of Ra clusters that this node has, within such a bound
    std::uint64_t raft_unread = 0;               ///< members behind it
    std::vector<ConnectionTick> ticks;           ///< of connections to other nodes
    TickTime tick_time;
};

/// Reads them. Needs LoadPlan::terms with ServiceKeepers among terms_of, and stacks.
ServiceStates service_states(Artifact& artifact);

}  // namespace beamheap::analyses
