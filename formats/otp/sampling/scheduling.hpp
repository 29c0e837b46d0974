// SPDX-License-Identifier: Apache-2.0
// Which samples are of a scheduler's own work.
#pragma once

#include "beamheap/samples.hpp"

namespace beamheap::otp {

/// While a scheduler looks for work (erts_schedule: run queues, timers, polling, busy waiting), its registers still
/// name the process that it worked for last. Takes process and stack from samples of normal schedulers that were in it:
/// by its name, or, where the executable is stripped of names, as the function called by Erlang code in which, in some
/// sample, the system was polled (epoll_wait): nothing else that Erlang code calls does that.
void release_scheduling(CpuSamples& samples);

}  // namespace beamheap::otp
