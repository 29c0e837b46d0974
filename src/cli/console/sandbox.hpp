// SPDX-License-Identifier: Apache-2.0
// What a run that only reads gives up before it reads: whoever finds a hole in a reader by a made-up input has a
// program that can't change a file, connect to anything, or start a program.
//
// Two of the kernel's means, each used where it is there. Landlock (Linux 5.13) refuses to write, make or remove files,
// to start programs, and from 6.7 on to use TCP, whatever call that is tried by. A seccomp filter refuses the calls by
// which any of that is asked for, also on kernels without Landlock: open() for writing, names of files, sockets,
// io_uring, tracing, keys typed into the terminal (TIOCSTI). What is refused fails with EPERM, as a right that is
// missing. Reading stays allowed: executables and debug information are looked for as the input names them.
//
// Who makes a file has it open before (output_file.hpp: prepare_output()), so that no file is opened for writing any
// more: what is left is to give it its name, in its own folder. Who fills a folder may make files below that one alone.
//
// Of a running VM Landlock is not used, which would hide other processes. Neither is used in builds with sanitizers or
// coverage, and in runs under valgrind, which write files of their own.
//
// Facts: landlock(7), seccomp(2), Documentation/userspace-api/{landlock,seccomp_filter}.rst of Linux.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace beamheap::cli {

/// What this process has given up.
struct Sandbox {
    int landlock = 0;      ///< the version of Landlock's interface that is used; 0: none
    bool seccomp = false;  ///< the filter is set
    std::string why_not;   ///< where one of the two is missing: why, as a clause; empty where both are there
    bool active() const { return landlock != 0 || seccomp; }
};

/// What is yet to be done by a process that gives up the rest.
struct StillNeeded {
    bool other_processes = false;  ///< reads the memory of another process
    /// Folders in which files that are open already are given names; with `replaces` also those of other files there
    /// and below. Without Landlock: names anywhere.
    std::vector<std::string> named_in = {};
    bool replaces = false;
    /// Folders below which files and folders are made and written. Without Landlock: anywhere.
    std::vector<std::string> filled = {};
    bool files_anywhere = false;  ///< files are made wherever the user may
    bool answers = false;         ///< takes connections to a socket that listens already
    bool pairs = false;           ///< makes pairs of sockets, to talk to processes of its own: they lead nowhere else
};

/// Says that this process is for one run alone, and may give up what that has no need of. Not so where tests call run()
/// many times in one process.
void allow_sandbox();
bool sandbox_allowed();
/// Gives up the rest, once and for all threads that are started from now on; and says what came of it.
Sandbox enter_sandbox(const StillNeeded& needed);
/// What enter_sandbox() has done; nothing where it was not called: `why_not` says for what reason.
const Sandbox& sandbox();
/// For sandbox(), where it is not entered.
void stay_outside(std::string why_not);

}  // namespace beamheap::cli
