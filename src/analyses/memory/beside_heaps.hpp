// SPDX-License-Identifier: Apache-2.0
// What processes take beside heaps and messages, and what their timers take, part by part: estimates.
//
// Theory. A process' memory (erts_process_memory, erl_process_dump.c) is its structure, half of each link and monitor
// that it has a part in, heaps, messages, the table of its dictionary, and aliases. A monitor is one block of two
// halves, of which the other is counted for who is monitored: it is the cost of who monitors, and told as such where
// that is a process of this node. How large a half is differs by release (64 to 72 bytes from 21 to 29 on 64 bits), and
// shows where a process has many and little else.
//
// A timer of erlang:send_after/3 or start_timer/3 is a structure (ErtsBifTimer, erl_hl_timer.c: 19 words of 64 bits
// from 25 to 29, as measured) and a heap fragment with the message it will send; `processes` has both in it, and no
// process' memory does. Only the message's text is in a dump: its words follow from that (printed_words.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// Of a process; bytes, but for the numbers.
struct BesideHeaps {
    std::uint64_t structure = 0;
    std::uint64_t links = 0, link_count = 0;        ///< its halves of links
    std::uint64_t monitors = 0, monitor_count = 0;  ///< both halves of those that it holds on others of this node
    std::uint64_t other = 0;                        ///< aliases, the table of its dictionary
    std::uint64_t sum() const { return structure + links + monitors + other; }
};

/// Divides what each process has beside heaps and messages (`bytes`, in the order of Snapshot::processes) into parts,
/// whose sum over all processes is that of `bytes`. Needs links. O(processes + links).
std::vector<BesideHeaps> beside_heaps(const Snapshot& snapshot, const std::vector<std::uint64_t>& bytes);

/// Timers of one receiver.
struct TimersOf {
    ProcId receiver = ProcId::none;  ///< none: of whoever is neither in the process table nor registered
    std::uint64_t count = 0;
    std::uint64_t structures = 0, messages = 0;  ///< bytes
};
/// By receiver, most bytes first. O(timers + their texts).
std::vector<TimersOf> timer_bytes(const Snapshot& snapshot);

}  // namespace beamheap::analyses
