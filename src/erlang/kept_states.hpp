// SPDX-License-Identifier: Apache-2.0
// What OTP's and RabbitMQ's own code keeps of the node's troubles, as patterns with named fields: what the names mean
// stands beside each form. A row of kept_states.cpp is one form of some releases; of one term the first that fits
// counts. What is made of them, and which processes keep them, is analyses/logs/service_states.hpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "erlang/pattern.hpp"

namespace beamheap::erlang {

enum class KeptState : std::uint8_t {
    log_protection,   ///< Mode (async, sync, drop); Sync, Drop, Flush: lengths of the queue from which it changes
    log_results,      ///< Log, Sync: what came of the last write of a log and its sync; File where it tells
    table_file,       ///< of dets, one of whose elements is what came of the last update
    failed_write,     ///< of such results: Reason; File where it tells: its own
    connection,       ///< Read: 0 before the first tick; Tick, Ticked: this tick, the last one that found something
    tick_time,        ///< Time; with Intensity for so many ticks, without for one of four; in milliseconds
    credit_blocked,   ///< By: the pids that owe credit; an entry of the dictionary
    unacknowledged,   ///< Channel: a pid; Unacked: {Count, Newest, ...} of {Tag, Consumer}; an entry of the dictionary
    raft_member,      ///< Me: {Name, Node}; Members: a map of such; Commit; Machine: its module; Log
    raft_leader,      ///< Name, Node: whom such a member takes for the leader
    raft_log,         ///< Last: the number of the last entry of such a log
    raft_peer,        ///< Name, Node: of a key of such a map
    raft_progress,    ///< Match: the last entry that a member has, of a value of such a map
    event_handler,    ///< Module, State: of an entry of a manager's list
    alarms_of_nodes,  ///< Passed: a dict of the limits that were passed, by node; Others: a list of alarms
    node_alarms,      ///< Node, Limits: of such a dict
    alarm,            ///< Id: of one that has a description
    stop_reason,      ///< of the key of a persistent term: its value is {error, Reason}, why the node stops
};

/// The first form that fits, with its names; none: the term is no such state.
Match match_state(KeptState state, TermSource& terms, const Element& term);

/// Whether a handler of events of this module keeps alarms: alarm_handler, rabbit_alarm, and what calls itself so.
bool keeps_alarms(std::string_view module);

/// Whether the machine of a Ra cluster, by its module, is a quorum queue of RabbitMQ.
bool is_quorum_queue(std::string_view machine);

/// Whether a reason is that of a disk that is full, failed or can't be written: a pipe can't be synced either (einval).
bool is_of_disk(const Element& reason);

}  // namespace beamheap::erlang
