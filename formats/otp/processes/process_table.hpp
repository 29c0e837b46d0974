// SPDX-License-Identifier: Apache-2.0
// The process table of an image, as rows of the Snapshot.
//
// Every element of the table becomes a row, and so does a process that only a scheduler still knows (one that exits
// leaves the table early). Fields have process_info's meaning. Queues are counted by walking them; stacks of processes
// that run are read from their thread's registers where the JIT keeps them there.
// Facts: erl_process.h, erl_bif_info.c (process_info), erl_process_dump.c of OTP 23 to 27; OTP 29 observed.
#pragma once

#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// Fills snapshot.processes (in order of pid), links, stacks as far as the plan asks, and counts what was damaged. Of a
/// VM that runs each row is proved by reading it again (live_row.hpp): Process::reading says what came of it, and a
/// process that ended meanwhile has no row.
void read_processes(Reader& reader, const LoadPlan& plan, const Progress& progress = {});

/// Of a VM that runs: reads rows again, one by one, so that a row and the terms that are read right after it are of one
/// instant.
class RowRefresher {
public:
    /// All must outlive it. `plan` is the one that the snapshot was loaded with.
    RowRefresher(Reader& reader, const LoadPlan& plan);
    ~RowRefresher();
    /// Replaces the row by what it is now, and gives how that was proved; nothing where the process has ended, whose
    /// row is then left as it was.
    std::optional<RowReading> refresh(ProcId id);
    /// Whether the process has stood still since: the row and what was read meanwhile are of one instant.
    bool still(ProcId id);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// The state that process_info(status) gives for the state bits (erts_process_state2status).
ProcessState state_of(std::uint32_t bits);
/// State bits as the VM prints them in a crash dump: "ACT_PRIO_NORMAL | USR_PRIO_NORMAL | ...".
std::string state_flags(const Layout& layout, std::uint32_t bits);

/// Bits of Process.state, the same since OTP 23.
namespace state {
inline constexpr std::uint32_t free = 1u << 10, exiting = 1u << 11, active = 1u << 13, running = 1u << 15,
                               suspended = 1u << 16, gc = 1u << 17, active_sys = 1u << 20, running_sys = 1u << 21,
                               off_heap_queue = 1u << 24, dirty_running = 1u << 29, dirty_running_sys = 1u << 30;
}

/// A thread that is inside a process's Erlang code: its registers hold what Process does not (JIT).
struct RunningThread {
    const bytes::CoreThread* thread = nullptr;
    std::uint64_t process = 0;  ///< Process*
    std::uint64_t stop = 0;     ///< top of the stack
    std::uint64_t heap_top = 0;
};
std::vector<RunningThread> running_threads(const Vm& vm, bytes::MemoryReader& memory);

}  // namespace beamheap::otp
