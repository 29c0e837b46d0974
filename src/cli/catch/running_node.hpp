// SPDX-License-Identifier: Apache-2.0
// What a VM that runs would do at its death, as far as the system tells.
//
// Facts: erts/emulator/beam/break.c, erl_crash_dump_v() (23 to 29): the dump goes to ERL_CRASH_DUMP, else to
// erl_crash.dump in the working folder; none is written where ERL_CRASH_DUMP_SECONDS is 0, or is not set and heart
// runs; a negative number, or none without heart, bounds nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace beamheap::cli {

struct RunningNode {
    std::uint32_t pid = 0;
    bool told = false;   ///< its environment may be read
    bool heart = false;  ///< it was started with -heart
    uid_t user = 0;      ///< who it runs as
    gid_t group = 0;
    std::string dump, seconds,
        folder;  ///< ERL_CRASH_DUMP, ERL_CRASH_DUMP_SECONDS as it was started with; where it stands
};

RunningNode running_node(std::uint32_t pid);
/// All of them that run here, by pid.
std::vector<RunningNode> running_nodes();
/// Where it writes its dump, as it is seen from here: of a container below /proc/PID/root, as long as it runs.
std::string dump_of(const RunningNode& node);
/// Whether it writes a dump at all.
bool writes_dump(const RunningNode& node);
/// Whether it would wait for good where nobody reads the pipe that it writes to.
bool waits_for_good(const RunningNode& node);

}  // namespace beamheap::cli
