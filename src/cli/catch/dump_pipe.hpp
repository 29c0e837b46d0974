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

#include <sys/types.h>

#include <utility>

#include "cli/catch/last_words.hpp"
#include "cli/catch/running_node.hpp"
#include "cli/frame/context.hpp"

namespace beamheap::cli {

/// Makes the pipe and waits; ends with --once, SIGINT or SIGTERM, and takes the pipe away then, so that a VM that dies
/// later makes a file there. Errors: usage (another file is there, somebody reads it, options); unreadable,
/// resource_limit (the system's reason; with --once that death was not answered about).
Status catch_dumps(const Context& context);

/// Who waits for the death of one VM, for who watches it: a process that holds the pipe at the place where that VM
/// writes its dump, answers about one death, adds what `words` has, and ends. It ends with its parent, too.
class CatcherBeside {
public:
    /// `options`: those of catch; `pipe` and `output` as there. Errors: those of catch_dumps(), and of the system.
    static Result<CatcherBeside> start(Options options, const RunningNode& node, const LastWords& words);
    CatcherBeside(CatcherBeside&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
    CatcherBeside& operator=(CatcherBeside&&) = delete;
    ~CatcherBeside() { (void)end(); }
    /// Takes the pipe away, after what is begun is done. Whether a death was answered about; once.
    bool end();

private:
    explicit CatcherBeside(pid_t pid) : pid_(pid) {}
    pid_t pid_;
};

/// The folder of -o with the bounds that --disk and --free say. Errors: usage; those of DeathFolder::open().
Result<class DeathFolder> death_folder(const Options& options);

}  // namespace beamheap::cli
