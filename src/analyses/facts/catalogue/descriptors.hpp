// SPDX-License-Identifier: Apache-2.0
// File descriptors of the node, and who was told that there are no more.
//
// Theory. The operating system bounds how many files, sockets and pipes a process may have (ulimit -n). Where they are
// used up, each accept/1, connect/3, open/2 and open_port/2 fails with emfile (enfile: those of the whole machine), and
// who gets that keeps it for a while: in a variable while it rests before it tries again, in its State, in its exit
// reason, in a report that is yet to be logged. The limit itself is not in the node; that atom, as a value in a live
// term of a node that has many descriptors, or as a word of the text that a program ended the node with, says that it
// was met. What stands in a module's literals is no value that somebody got.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/facts/facts.hpp"
#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct Descriptors {
    std::uint64_t connections = 0;  ///< ports of TCP, UDP, SCTP; sockets of the module `socket`
    std::uint64_t programs = 0;     ///< external programs
    std::uint64_t files = 0;        ///< open files that the node knows of
    std::vector<ProcId> told;       ///< who holds emfile or enfile; of many alike those that were looked at
    bool of_machine = false;        ///< enfile is held, or said: the machine's
    bool said = false;              ///< the node's last words say that there were no more
    std::uint64_t all() const { return connections + programs + files; }
};

/// Who opened the files of a process: the only one that a process of file_io_server monitors, else itself.
Pid opener_of(const Snapshot& s, const Process& process);

/// Nobody is looked for where there are fewer than 100 descriptors.
Result<Descriptors> find_fact(FactOf<Descriptors>, const Facts& facts);

}  // namespace beamheap::analyses
