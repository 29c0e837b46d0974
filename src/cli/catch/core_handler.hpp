// SPDX-License-Identifier: Apache-2.0
// The kernel's handler of core images (core(5), "Piping core dumps to a program"): standard input is the image, the
// words behind -o and the others are those of the pattern.
//
// While its image has not been taken, the kernel holds the process that dies, with all of its memory: so it is read as
// a running VM is, in place, without an image of gigabytes having been written anywhere. Its image is taken from
// standard input where --keep core wants it; in any case the process is let go by the deadline, as this one ends.
#pragma once

#include "cli/frame/context.hpp"

namespace beamheap::cli {

/// Words: PID SIGNAL, or those that systemd-coredump takes (PID UID GID SIGNAL TIME LIMIT HOST). Other programs than
/// VMs are handed to --else with standard input untouched. Errors: usage; unreadable, resource_limit (no answer; what
/// went wrong has been said).
Status catch_core(const Context& context);

}  // namespace beamheap::cli
