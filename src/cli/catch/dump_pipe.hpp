// SPDX-License-Identifier: Apache-2.0
// The pipe that ERL_CRASH_DUMP names: who dies writes its dump into it, and is answered about.
//
// Three kinds of processes. The one that waits holds the pipe and reads no byte of a dump that it keeps; one for a
// death records what the VM writes and has it answered (death_answers.hpp); each answer is made by one more. When a VM
// has begun to write, the pipe's name goes to a new pipe at once: each death has a pipe of its own, its end is its
// writer's end, and two that die at the same time are not mixed.
//
// One death is answered at a time. What others write meanwhile is read and thrown away, so that no VM waits for an
// answer about another one; they are counted. Nobody is read from for longer than the deadline: then the pipe is
// closed, and the VM goes on without it (a write that fails does not hold a VM up: seen with 23 and 25).
//
// Facts: pipe(7), fifo(7); erts/emulator/beam/break.c (a dump is written to whatever ERL_CRASH_DUMP opens; SIGALRM ends
// it after ERL_CRASH_DUMP_SECONDS); dumps of 23, 25, 27 and 29 came through pipes.
#pragma once

#include "cli/frame/context.hpp"

namespace beamheap::cli {

/// Makes the pipe and waits; ends with --once, SIGINT or SIGTERM, and takes the pipe away then, so that a VM that dies
/// later makes a file there. Errors: usage (another file is there, somebody reads it, options); unreadable,
/// resource_limit (the system's reason; with --once that death was not answered about).
Status catch_dumps(const Context& context);

/// The folder of -o with the bounds that --disk and --free say. Errors: usage; those of DeathFolder::open().
Result<class DeathFolder> death_folder(const Options& options);

}  // namespace beamheap::cli
