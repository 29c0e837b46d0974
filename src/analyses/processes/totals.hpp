// SPDX-License-Identifier: Apache-2.0
// What the node held in numbers, which processes stand out, and who was running when it died.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyses/base/sum.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// How full one of the VM's tables is.
struct Fill {
    Count used, limit;
    std::optional<double> percent;
};

struct Totals {
    std::uint64_t processes = 0;   ///< entries of the process table in the input
    std::uint64_t registered = 0;  ///< of them, with a name
    std::uint64_t ports = 0, ets_tables = 0, timers = 0;
    Count modules;  ///< missing where the input was not read, or not written, as far as that
    Fill process_fill, port_fill, atom_fill;
    Sum messages;      ///< in all queues
    Sum memory_bytes;  ///< of all processes, as process_info(memory)
    Sum heap_words, old_heap_words, fragment_words, stack_words;
    Sum reductions;
    Sum ets_objects, ets_bytes;
    Sum port_queue_bytes;
    static constexpr std::size_t states = static_cast<std::size_t>(ProcessState::free) + 1;
    std::array<std::uint64_t, states> by_state{};  ///< processes by ProcessState
    bool lower_bounds = false;  ///< the process table is cut or damaged: all of these are at least so much
};

Totals totals(const Snapshot& snapshot);

/// Limits, from the input itself. The process and port tables are allocated for their limit at start: with the table
/// of R16B01 and later (erl_ptab.c, seen by =allocated_areas having port_table) each slot takes a word and a 32-bit
/// number, 12 bytes on 64-bit machines; before, a word. Observed: 3,145,728 bytes are 262,144 processes.
/// The atom limit is that of =index_table:atom_tab. Node::*_limit go first where a format knows them.
Count process_limit(const Snapshot& snapshot);
Count port_limit(const Snapshot& snapshot);
Count atom_limit(const Snapshot& snapshot);
/// Atoms in the table: entries of =index_table:atom_tab, else the header's count.
Count atom_count(const Snapshot& snapshot);

/// How the process that the VM died in was found.
enum class DeathEvidence : std::uint8_t {
    none,             ///< nobody in particular: asked for, outside a scheduler, or the input doesn't say
    calling_thread,   ///< current process of the scheduler that called for the dump
    dirty_scheduler,  ///< the dump says "a dirty scheduler", and one of them alone had a process (in garbage
                      ///< collection)
    only_collecting,  ///< the only process in garbage collection
    only_running,     ///< the only process that was running
    one_of_several,   ///< one of Death::candidates, all of them on dirty schedulers; the input doesn't say which
};

struct Death {
    DeathEvidence evidence = DeathEvidence::none;
    Pid pid;  ///< may be no longer in the process table
    ProcId process = ProcId::none;
    ProcessState state = ProcessState::unknown;
    std::optional<std::size_t> scheduler;  ///< index into Snapshot::schedulers
    std::vector<std::size_t> candidates;   ///< of one_of_several: indexes into Snapshot::schedulers
    std::vector<ProcId> running;           ///< all that were running, in the input's order
    std::vector<ProcId> collecting;        ///< all in garbage collection
};

/// Who was running or collecting garbage at death. A process that was only asked for (halt, SIGUSR1) is also "running".
Death death(const Snapshot& snapshot);

}  // namespace beamheap::analyses
