// Applications whose start has not ended, as the application controller's state tells.
//
// Theory. The application controller starts an application in a process of the application's master and goes on serving;
// it answers whoever asked when the start has returned. So a start that hangs leaves everybody waiting for an idle
// controller, whose state lists the applications that are starting and who asked for them. The record is #state{} of
// lib/kernel/src/application_controller.erl, whose first members are the same from OTP R13 to 29.
#pragma once

#include <string>
#include <vector>

#include "beamheap/snapshot.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

struct ApplicationStarts {
    std::vector<std::string> starting;  ///< applications' names, the one asked for last first
    std::uint64_t running = 0;          ///< applications that run here
    bool known = false;                 ///< the state was found
};

/// Reads a term; not `known` where it is no state of an application controller.
ApplicationStarts application_starts(TermSource& terms, const Element& state);
/// Reads the state from the terms of the process application_controller.
ApplicationStarts application_starts(TermSource& terms);

/// Processes in which an application's start function runs, in the process table's order. Needs stacks.
std::vector<ProcId> starting_processes(const Snapshot& snapshot);

}  // namespace beamheap::analyses
