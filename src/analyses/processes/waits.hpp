// SPDX-License-Identifier: Apache-2.0
// Who waits for whom: an edge for every call that is blocked.
//
// Theory. A blocked call is a receive for one answer. Which code receives is seen from the function that a process
// waits in (waiting_functions() lists them); whom it asked is proved where the call monitors the one that it asked,
// as gen:do_call/4 and most others do: the monitor's reference stands in the caller's frame, because the receive
// matches on it, and with the monitored process in the caller's link list. Compilers drop what a frame does not need
// any more, so the pid or name itself is often gone. Where there is no such reference, the frame's pid, a name that is
// registered, or the only monitor that the process holds tells the target; that is an estimate and says so.
// A process that is suspended because a port is busy stands in the port's own list.
//
// Calls that programs and libraries write by hand (a message with one's own pid, then a receive) stand in no list of
// ours. Where such a receive was called by a function that goes on behind it, and its frame holds the reference of a
// monitor, the process waits for whom that monitor watches: the receive matches on it, as that of gen does. It is an
// estimate: what is awaited may be the end of that process. A frame that holds only the pid is also that of a process
// which just knows somebody. What tells them apart is the other side: requests that were not taken lie in its queue,
// about as many as there are callers. Where it has so many, they wait for it, as an estimate; where only one process is
// named, that may do as well (named_waits.hpp). References that are no monitor's are looked for in the terms of others
// (heaps/tagged_requests.hpp).
//
// Who has started a program, and names its port in the frame in which it waits, waits for what the program says; not
// where that frame is the process's first, which is how a loop looks that is there for the program.
//
// A process waits in one call at most, so the edges are a function: following them ends at somebody who waits for
// nobody, leaves the node, or goes round a cycle, which is a deadlock unless a timeout ends it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/base/confidence.hpp"
#include "beamheap/artifact.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// Whom a process waits for: a process of this node or of another, a name on another node, or a port.
struct WaitTarget {
    ProcId process = ProcId::none;  ///< in the process table
    Pid pid;                        ///< none where only a name or a port is known
    PortName port;
    TextId name = TextId::none;  ///< monitored by name
    TextId node = TextId::none;  ///< of that name; alone: some process of that node, or the connection to it
    bool remote() const { return (pid.has() && pid.node != 0) || node != TextId::none; }
    friend bool operator==(const WaitTarget&, const WaitTarget&) = default;
};

struct WaitEdge {
    ProcId waiter = ProcId::none;
    WaitTarget target;
    FunctionId function = FunctionId::none;  ///< the call: gen_server:call/3, gen_event:rpc/2, prim_inet:send/4
    /// How it was seen: "monitor", "pid", "name", "port", "only_monitor", "distribution", "terminal",
    /// "on_load", "by_hand", "tag", "child".
    std::string_view via;
    Confidence confidence = Confidence::exact;
    bool infinite = false;  ///< the frames hold the atom `infinity`: the call has no timeout
};

struct WaitFanIn {
    WaitTarget target;
    std::uint32_t first = 0;     ///< its edges are Waits::by_target[first .. first + waiters)
    std::uint64_t waiters = 0;   ///< that wait for it themselves
    std::uint64_t reaching = 0;  ///< that wait for it or for somebody who does, and so on; of a process on a cycle,
                                 ///< also those on it
};

/// Who keeps the pids of nearly all that wait in a function, and is not who started them; for what is not known.
struct Keeper {
    FunctionId function = FunctionId::none;
    ProcId process = ProcId::none;
};

struct Waits {
    std::vector<WaitEdge> edges;              ///< by waiter, in the process table's order
    std::vector<std::uint32_t> by_target;     ///< indexes into edges, by target
    std::vector<WaitFanIn> fan_in;            ///< most waiters first, then most reaching
    std::vector<std::vector<ProcId>> cycles;  ///< each from its smallest pid on, longest first
    std::vector<std::vector<ProcId>>
        chains;                          ///< of three or more processes, from one whom nobody waits for to
                                         ///< one that waits for nobody; one for each end, its longest; longest first
    std::vector<std::uint32_t> edge_of;  ///< by ProcId: index into edges, no_edge: waits for nobody
    std::vector<Keeper> keepers;         ///< of those who have no edge; found with the terms (heaps/unanswered.hpp)
    static constexpr std::uint32_t no_edge = 0xFFFFFFFFu;

    const WaitEdge* edge(ProcId process) const {
        if (index_of(process) >= edge_of.size() || edge_of[index_of(process)] == no_edge) return nullptr;
        return &edges[edge_of[index_of(process)]];
    }
    std::span<const std::uint32_t> waiters_of(const WaitFanIn& fan) const {
        return std::span(by_target).subspan(fan.first, static_cast<std::size_t>(fan.waiters));
    }
    /// The entry of a process in fan_in; nullptr if nobody waits for it.
    const WaitFanIn* fan_in_of(ProcId process) const;
};

/// Edges of all processes. The snapshot was loaded with links, stacks, tables and slots_of = slots_for_waits.
/// O(processes + links + slots).
Waits waits(const Snapshot& snapshot);
/// That `from`, where it is, waits for `to`, by what is known of both: an estimate. `via` is a literal.
WaitEdge estimated_edge(const Snapshot& snapshot, ProcId from, ProcId to, std::string_view via);
/// Adds edges of processes that had none, and all that follows from them.
void add_edges(const Snapshot& snapshot, std::span<const WaitEdge> edges, Waits& waits);

/// The name of the node that a target is on; none for this one, or where it is not known.
TextId node_of(const Snapshot& snapshot, const WaitTarget& target);
/// Whom somebody waits for in the end: the last of the chain that begins with `process`, itself if it waits for nobody;
/// none if the chain leads around, leaves the process table, or ends at a port. Steps: at most as many as there are
/// edges.
ProcId end_of_chain(const Waits& waits, ProcId process);

/// Whether processes wait for an answer in this function of a library.
bool is_waiting_function(const Snapshot& snapshot, FunctionId function);
/// The function that has called the one that a process waits in, and goes on when that returns; none where that is the
/// first of all, as loops of processes are.
FunctionId waits_on_behalf(const Snapshot& snapshot, const Process& process);
/// Whether processes wait in this function of OTP for whatever comes next: the loops of its servers, hibernation.
bool is_idle_function(const Snapshot& snapshot, FunctionId function);
/// Whether the VM suspends processes in this function until a connection to another node takes more.
bool sends_to_nodes(const Snapshot& snapshot, FunctionId function);
/// What waits() needs of stacks: LoadPlan::slots_of.
SlotsWanted slots_for_waits(const Snapshot& snapshot, FunctionId function);

}  // namespace beamheap::analyses
