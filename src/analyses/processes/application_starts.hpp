// SPDX-License-Identifier: Apache-2.0
// Applications whose start has not ended, as the application controller's state tells.
//
// Theory. The application controller starts an application in a process of the application's master and goes on
// serving; it answers whoever asked when the start has returned. So a start that hangs leaves everybody waiting for an
// idle controller, whose state lists the applications that are starting and who asked for them. The record is #state{}
// of lib/kernel/src/application_controller.erl, whose first members are the same from OTP R13 to 29.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// An application that runs, and its master: no pid where it is a library, which has no process, or runs on another
/// node.
struct RunningApplication {
    std::string name;
    Pid master;
};

struct ApplicationStarts {
    std::vector<std::string> starting;        ///< applications' names, the one asked for last first
    std::uint64_t running = 0;                ///< applications that run here
    std::vector<RunningApplication> masters;  ///< of these
    bool known = false;                       ///< the state was found
    /// Applications that the boot script starts after these; missing where the node does not go through it, or it was
    /// not read.
    std::optional<std::uint64_t> to_come;
};

/// Reads a term; not `known` where it is no state of an application controller.
ApplicationStarts application_starts(TermSource& terms, const Element& state);
/// Reads the state from the terms of the process application_controller.
ApplicationStarts application_starts(TermSource& terms);

/// The process that starts the node, while it does. init:do_boot/3 first goes through the boot script, then calls what
/// -s, -run and -eval name, one after the other, and ends (lib of erts, init.erl, R13 to 29); until then
/// init:get_status/0 is `starting`.
struct BootWork {
    ProcId process = ProcId::none;  ///< none: the node has started, or its stack is not known
    bool in_script = false;         ///< it goes through the boot script
    /// What it was told to run is a program that ends when its work is done, as escripts and Mix's tasks are.
    bool is_program = false;
};
/// Needs stacks.
BootWork boot_work(const Snapshot& snapshot);

/// How many applications the script still starts, from what is left of it in the frame of init:eval_script, among the
/// first roots of the process that starts the node; missing where there is none.
std::optional<std::uint64_t> applications_to_come(TermSource& terms);

/// Processes in which an application's start function runs, in the process table's order. Needs stacks.
std::vector<ProcId> starting_processes(const Snapshot& snapshot);

}  // namespace beamheap::analyses
