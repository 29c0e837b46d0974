// SPDX-License-Identifier: Apache-2.0
// What grows in a running VM that is looked at again and again: round after round of the figures of moment_figures.hpp,
// kept as series of bounded length, and judged by trend.hpp.
//
// Series. Of each thing the last 180 rounds are kept one by one, and all rounds as at most 180 spans of equal length,
// of each of which the least figure stands: spans are made twice as long when there are too many. Single processes
// without a name are followed where they are among those that have most; the others are told by the figures of their
// group. So what is kept does not grow with time, and hardly with the node.
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
// The wall is what stops the growth: the limit of processes, ports, atoms or descriptors, or the memory of the control
// group or of the machine, whichever comes first. What grows so slowly that the wall is more than half a year away is
// no finding.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyses/diagnosis/moment_figures.hpp"
#include "analyses/diagnosis/trend.hpp"

namespace beamheap::analyses {

/// What the operating system says of the VM, in bytes and numbers; missing: not told.
struct SystemFigures {
    Count resident_bytes, swapped_bytes, descriptors, descriptor_limit;
    Count memory_limit_bytes, memory_left_bytes;  ///< of the nearest limit: a control group's, or the machine's memory
    bool limit_of_group = false;
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
};

class GrowthWatch {
public:
    /// A round, later than those before: a snapshot of a running VM with tables and labels. O(n).
    void add(const Snapshot& snapshot, const SystemFigures& system);
    /// What grows, what matters most first: things before sums, the nearest wall first.
    std::vector<Growing> growing() const;
    std::uint64_t rounds() const { return rounds_; }
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
    /// Things that are followed.
    std::size_t series() const { return series_.size(); }

    static constexpr std::size_t kept = 180;          ///< rounds, and spans
    static constexpr std::size_t most_series = 4096;  ///< of things; what comes later is not followed

private:
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();
    struct Series {
        std::array<double, kept> recent;  // by round, as a ring; none: not there
        std::vector<double> spans;
        Pid pid;
        std::uint64_t seen = 0;  // round
        bool optional = false;   // a process without a name
    };
    using AllSeries = std::unordered_map<Figures::Key, Series, Figures::Hash>;
    void put(const Figures::Key& key, double value, Pid pid, bool optional);
    void add_single(const Snapshot& snapshot);
    void close_round();
    std::vector<TrendPoint> points(const Series& series) const;
    std::optional<Trend> trend(const Figures::Key& key) const;
    std::optional<Trend> proven(const Figures::Key& key) const;
    std::optional<double> slope_of(Figures::Key key, std::string_view measure, bool bytes, const Trend& window) const;
    void find_wall(Growing& growing, const std::optional<double>& node_rate) const;
    AllSeries series_;
    std::array<double, kept> times_{};  // seconds, by round
    std::vector<double> span_times_;    // of the beginning of each
    std::uint64_t rounds_ = 0, span_rounds_ = 1;
    std::int64_t first_ms_ = 0;
    SystemFigures system_;
    Count process_limit_, port_limit_, atom_limit_;
};

}  // namespace beamheap::analyses
