// SPDX-License-Identifier: Apache-2.0
// The node's other tables, each with what a reader asks of it: ports, ETS, timers, modules, peers, schedulers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/base/sum.hpp"
#include "analyses/processes/groups.hpp"
#include "analyses/processes/senders.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// The owner of a port, table or timer.
struct Owner {
    Pid pid;
    ProcId process = ProcId::none;  ///< none: not in the process table
    TextId name = TextId::none;     ///< registered name
    bool alive() const { return process != ProcId::none; }
};
Owner owner_of(const Snapshot& snapshot, const Pid& pid);

/// The driver or program of Port::driver, without the folder and the arguments of a program.
std::string program_name(std::string_view command);

/// Ports of one driver or program whose owners belong to one group.
struct PortGroup {
    TextId kind = TextId::none;  ///< Port::kind
    std::string driver;          ///< driver's or program's name without its arguments and folder
    GroupKey owner;              ///< of the connected process; none where that is gone
    std::uint64_t count = 0;
    Sum input_bytes, output_bytes, queue_bytes;
    std::uint64_t suspended = 0;  ///< processes that wait because the port is busy
    std::size_t example = 0;      ///< index into Snapshot::ports
};
struct BusyPort {
    std::size_t port = 0;           ///< index into Snapshot::ports
    std::vector<ProcId> suspended;  ///< processes in the process table that wait for it
};
struct PortReport {
    std::vector<PortGroup> groups;  ///< most ports first
    std::vector<BusyPort> busy;     ///< most waiting processes first, then longest queue
    std::uint64_t dead_owners = 0;  ///< ports whose connected process is not in the process table
    Sum queue_bytes;
};
/// With `senders` (held_senders()), also those who wait without being in a port's own list.
PortReport ports(const Snapshot& snapshot, std::span<const HeldSender> senders = {});

struct EtsUse {
    std::size_t table = 0;  ///< index into Snapshot::ets
    Owner owner;
    Count bytes;                    ///< words times the word size, as ets:info(memory) in words says
    std::optional<double> percent;  ///< of all tables' bytes
};
struct EtsOwner {
    Owner owner;
    std::uint64_t tables = 0;
    Sum bytes, objects;
};
struct EtsReport {
    std::vector<EtsUse> tables;    ///< most bytes first
    std::vector<EtsOwner> owners;  ///< most bytes first
    Sum bytes, objects;
    std::uint64_t dead_owners = 0;  ///< tables whose owner is not in the process table
};
EtsReport ets_tables(const Snapshot& snapshot);

/// Timers with one receiver and one shape of message.
struct TimerGroup {
    Owner receiver;
    TextId receiver_name = TextId::none;  ///< where the timer was set for a name
    std::string shape;                    ///< term_shape of the message
    std::uint64_t count = 0;
    Count soonest_ms, latest_ms;
};
struct TimerReport {
    std::vector<TimerGroup> groups;    ///< most timers first
    std::uint64_t dead_receivers = 0;  ///< timers whose receiver is neither in the process table nor registered
};
TimerReport timers(const Snapshot& snapshot);

/// The shape of a printed term: atoms stay, numbers become _, strings "", binaries <<>>, pids, ports, references and
/// funs <pid> #Port #Ref #Fun, what lies deeper than `depth` ... At most 160 bytes.
std::string term_shape(std::string_view printed, unsigned depth = 3);

struct ModuleReport {
    std::uint64_t modules = 0;
    std::uint64_t with_old_code = 0;
    std::size_t most_old_code = 0;  ///< the module with most of it, where there is one
    Sum current_bytes, old_bytes;
    std::vector<std::size_t> largest;  ///< indexes into Snapshot::modules, most bytes (current and old) first
};
ModuleReport modules(const Snapshot& snapshot);

struct NodeReport {
    std::uint64_t visible = 0, hidden = 0, not_connected = 0;
    std::uint64_t remote_links = 0, remote_monitors = 0, remote_monitored_by = 0;
};
NodeReport nodes(const Snapshot& snapshot);

struct SchedulerReport {
    std::uint64_t normal = 0, dirty_cpu = 0, dirty_io = 0;
    std::uint64_t busy_normal = 0, busy_dirty_cpu = 0, busy_dirty_io = 0;  ///< with a current process
    Sum queued;  ///< processes and port tasks in all run queues
    std::uint64_t longest_queue = 0;
    std::optional<std::size_t> longest;  ///< index into Snapshot::schedulers
    std::uint64_t crashed = 0;           ///< sections that the VM could not finish
    std::vector<std::size_t> busy;       ///< all but dirty ones that run nothing, and empty queues of these
    std::uint64_t idle_dirty = 0;        ///< these dirty ones
};
SchedulerReport schedulers(const Snapshot& snapshot);
/// Processes of all priorities and port tasks in its run queue; missing where the input has none of these lengths.
Count queued(const Scheduler& scheduler);

}  // namespace beamheap::analyses
