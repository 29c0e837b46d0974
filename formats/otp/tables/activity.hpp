// SPDX-License-Identifier: Apache-2.0
// The schedulers of a running VM over an interval: counters at its beginning and its end, and polls in between.
//
// A scheduler's current process, and the length of its run queue, are one word each, read for all schedulers by one
// system call at times left to chance, every 1 to 4 ms on average. Reductions and switches are counters of the run
// queue. What the operating system gave the threads is in /proc/PID/task/TID/schedstat: its second figure, ready to run
// and without a CPU, is what explains a slow node on a machine or in a container that has too few of them.
// Facts: erl_process.h (ErtsRunQueue, ErtsSchedWallTime), OTP 23 to 29; erl_process.c: working.start is ~0 while idle;
// times are CLOCK_MONOTONIC's nanoseconds. The kernel's id of a thread stands in glibc's and musl's thread structure,
// whose address is ErtsSchedulerData.tid; where, is found by looking for the ids that the process has.
#pragma once

#include <chrono>

#include "beamheap/activity.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// Watches the VM, which must be one that runs, for as long as asked. Ends early where the VM does.
Activity measure_activity(const Vm& vm, std::chrono::milliseconds interval);

}  // namespace beamheap::otp
