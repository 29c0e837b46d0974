// SPDX-License-Identifier: Apache-2.0
// The Erlang VMs that run on this machine and in its containers, as far as this program may see them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "beamheap/ids.hpp"

namespace beamheap::otp {

struct VmOnMachine {
    std::uint32_t pid = 0;
    std::optional<std::uint32_t> pid_inside;  ///< in its own pid namespace, where that is another than ours
    std::string container;  ///< the first twelve digits of its container's id; empty: none that its control group names
    std::string user;       ///< by name, where this system has one
    double uptime_seconds = 0;
    Count resident_bytes;  ///< VmRSS
    std::string node;      ///< "rabbit@host"; this and what follows is empty or missing where `problem` is set
    std::string otp_release, erts_version;
    Count processes;
    std::optional<Error> problem;  ///< why it could not be looked into: a missing right, or a VM that no layout fits
};

/// Whether a program of this name is an Erlang VM: beam.smp; "beam", and beam.smp with another ending, are what builds
/// of other types are called.
bool named_as_vm(std::string_view program);

/// All of them, by pid. What the system tells of everybody (user, memory, time) is told of each, the rest of those that
/// may be read.
std::vector<VmOnMachine> running_vms();

}  // namespace beamheap::otp
