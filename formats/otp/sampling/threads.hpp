// SPDX-License-Identifier: Apache-2.0
// Which of a process's threads are the VM's schedulers.
//
// A scheduler knows its thread by pthread_t, the address of the C library's structure for it, and somewhere near that
// structure's start the library keeps the kernel's id of the thread. Where, differs between libraries and their
// releases, so it is found: the offset at which most schedulers have the id of a thread of this process, each another
// one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "beamheap/samples.hpp"
#include "bytes/running_process.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

struct SchedulerThread {
    SampledThread thread;
    std::uint64_t scheduler = 0;  ///< ErtsSchedulerData
};

/// Schedulers in the order of their numbers, dirty ones behind; `threads` are all that the process has.
std::vector<SchedulerThread> scheduler_threads(const Vm& vm, const bytes::LiveMemory& memory,
                                               std::span<const bytes::TaskOfProcess> threads);

/// The address of the process that a scheduler has in hand now; 0: none, or it can't be read.
std::uint64_t process_in_hand(const Vm& vm, const bytes::LiveMemory& memory, const SchedulerThread& thread);

}  // namespace beamheap::otp
