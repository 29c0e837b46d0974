// SPDX-License-Identifier: Apache-2.0
// Which application each process belongs to.
//
// Theory. An application's processes are those whose group leader is its application master
// (application:get_application/1). A crash dump does not hold group leaders; but the application controller's state
// lists the applications that run with their masters (#state.running of lib/kernel/src/application_controller.erl:
// {Name, Pid}, and {Name, undefined} of those that are libraries), and every process of a supervision tree has the
// master of its application above it. So a process belongs to the nearest master among its parents (supervision.hpp).
// What was spawned by others, the VM's own processes and those of a shell have none, and so have processes that outlive
// all who could tell whose they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/processes/application_starts.hpp"
#include "analyses/processes/supervision.hpp"
#include "beamheap/artifact.hpp"

namespace beamheap::analyses {

struct Applications {
    static constexpr std::uint32_t none = 0xFFFFFFFFu;
    std::vector<std::string> names;  ///< those that have a process
    std::vector<std::uint32_t> of;   ///< by ProcId: index into names, or none
    /// The name, as an atom's text; empty: none.
    std::string_view name_of(ProcId id) const {
        const std::uint32_t i = index_of(id) < of.size() ? of[index_of(id)] : none;
        return i == none ? std::string_view() : std::string_view(names[i]);
    }
};

/// By the masters that the controller names. O(processes).
Applications applications(const Snapshot& snapshot, const SupervisionTree& tree,
                          const std::vector<RunningApplication>& running);
/// Reads them of the input, which must be able to give the terms of the process application_controller; no application
/// is known where it can't.
Applications applications(Artifact& artifact, const SupervisionTree& tree);

}  // namespace beamheap::analyses
