// SPDX-License-Identifier: Apache-2.0
// What grows in a running VM that is looked at again and again: round after round of the figures of moment_figures.hpp,
// kept as series of bounded length, and judged by trend.hpp.
//
// What is followed says round_series.hpp; of processes without a name those that are among the largest, the others are
// told by the figures of their group.
//
// What a heap has in use goes up until it is collected, which can take longer than any window; what it has allocated
// goes up only where collections did not free enough. So the memory of a process grows where both do, at the rate of
// what is in use (allocations come in steps). In the same way it is what binaries it keeps where the node's binaries
// grow, too.
//
// Of a thing that grows in several ways the cause is told, and the memory that it takes with it: a group's processes, a
// queue's messages, a table's objects. Sums of the node (kinds of memory, totals) are told where nothing that is part
// of them explains half of their growth; the memory of the node always is, behind its causes.
//
// Fragmentation is what an allocator holds without using it, where that is most of what it has come to hold.
//
// The wall is what stops the growth: the limit of processes, ports, atoms or descriptors, or the memory of the control
// group or of the machine, whichever comes first; one that is more than half a year away is none. What has no wall is
// told where it is fast for what it is part of: memory that doubles the node within a month, numbers that double within
// half a year, as those of a queue do that nobody empties.
//
// What fills up to its bound grows until it is full, and nobody sees the bound: in a VM that is younger than an hour
// what grows is told with its age, but what has no bound: queues and atoms.
//
// Time is that of the VM's work: while it stands still (a signal, a debugger, a frozen control group) none goes by, so
// that neither rates nor windows are made of standing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyses/diagnosis/round_series.hpp"
#include "analyses/diagnosis/trend.hpp"

namespace beamheap::analyses {

/// What the operating system says of the VM, in bytes and numbers; missing: not told.
struct SystemFigures {
    Count resident_bytes, swapped_bytes, descriptors, descriptor_limit;
    Count memory_limit_bytes, memory_left_bytes;  ///< of the nearest limit: a control group's, or the machine's memory
    bool limit_of_group = false;
    std::optional<double> age_seconds;  ///< since it was started
};

enum class WallKind : std::uint8_t {
    group_memory,
    machine_memory,
    process_limit,
    port_limit,
    atom_limit,
    descriptor_limit
};
/// "group_memory", "machine_memory", "process_limit", ...
std::string_view name_of(WallKind kind);

struct Wall {
    WallKind kind = WallKind::machine_memory;
    std::uint64_t limit = 0, left = 0;  ///< bytes or numbers
    double seconds = 0;                 ///< until it is reached
};

/// A thing that grows steadily.
struct Growing {
    Figures::Key key;
    double per_second = 0;
    double confidence = 0;      ///< 0 to 1, as Trend::confidence
    std::int64_t since_ms = 0;  ///< of 1970, UTC
    bool since_before = false;  ///< it grew already when the watch began
    std::uint64_t from = 0, now = 0;
    std::optional<double> bytes_per_second;  ///< memory that goes with it, where that is known
    std::optional<Wall> wall;
    Pid pid;           ///< of a process
    bool sum = false;  ///< of the node
    /// How long the VM has run, where that is so short that what fills up to a bound has hardly done so.
    std::optional<double> young;
};

/// What is more than it was, steadily or not.
struct Risen {
    const Figures::Key* key;
    double seconds = 0;  ///< of work since it was `from`
    double from = 0, now = 0;
};

class GrowthWatch {
public:
    /// A round, later than those before: a snapshot of a running VM with tables and labels. O(n).
    void add(const Snapshot& snapshot, const SystemFigures& system);
    /// The VM was found standing still: until the next round it hardly works.
    void stand_still() { stands_ = rounds() != 0; }
    /// How long it has stood so far, up to the last round.
    double stood_seconds() const { return pauses_.empty() ? 0 : pauses_.back().stood; }
    /// What grows, what matters most first: things before sums, the nearest wall first.
    std::vector<Growing> growing() const;
    /// Of what growing() gave in an earlier round: `now` and the wall as they are in this one, at that rate.
    void renew(Growing& growing) const;
    /// Whether the last quarter of the time of such a growth still rises at half its rate, steadily or not.
    bool still_rises(const Growing& growing) const;
    /// Of the last hour, as far as it is known, or since the round before where that is longer ago: the node's memory,
    /// and the things that have more of it, or are more, than they had been, what has risen most first.
    std::vector<Risen> risen(std::size_t most) const;
    std::uint64_t rounds() const { return series_.rounds(); }
    /// Figures of the last round: all that are followed and known.
    struct Now {
        const Figures::Key* key;
        double value;
        bool single;  ///< of a process without a name
    };
    std::vector<Now> now() const;
    /// Of the node, as the last round told them.
    Count process_limit() const { return process_limit_; }
    Count port_limit() const { return port_limit_; }
    Count atom_limit() const { return atom_limit_; }
    /// Figures that are followed, and things of the last round that are not: there are too many of their kind.
    std::size_t series() const { return series_.all().size(); }
    std::uint64_t left_out() const { return series_.left_out(); }

private:
    using Key = Figures::Key;
    void add_single(const Snapshot& snapshot, Round& round) const;
    std::optional<Trend> trend(const Key& key) const;
    std::optional<Trend> proven(const Key& key) const;
    std::optional<double> slope_of(const Key& key, const Trend& window) const;
    std::optional<Trend> rising(const Key& key) const;
    Growing found(const Key& key, const RoundSeries::Series& series, const Trend& trend) const;
    double now_of(const Key& key) const;
    std::optional<double> node_rate() const;
    void find_wall(Growing& growing, const std::optional<double>& node_rate) const;
    bool matters(const Growing& growing) const;
    RoundSeries series_;
    double work_seconds(std::int64_t ms) const;
    std::int64_t time_of(double work_seconds) const;
    /// Where in its work it stood still, and how long by then in all.
    struct Pause {
        double at = 0, stood = 0;
    };
    std::vector<Pause> pauses_;
    bool stands_ = false;
    std::int64_t first_ms_ = 0;
    SystemFigures system_;
    Count process_limit_, port_limit_, atom_limit_;
};

}  // namespace beamheap::analyses
