// SPDX-License-Identifier: Apache-2.0
// What the library has in the place of what only a program has: the verbs that talk to somebody at a terminal, with the
// libraries of terminals behind them.
#include <sys/single_threaded.h>

#include "cli/frame/commands.hpp"

// Whether the process has one thread, by which the C++ library spares itself atomic counting. Code that was compiled
// for programs looks for it in the program itself, where a library can't put it: here nobody is spared anything.
extern "C" {
char __libc_single_threaded = 0;
}

namespace beamheap::cli {

static Status talk(const Context& context) {
    return Error{ErrorCode::usage, context.options().verb + " talks to people at a terminal", {}};
}

// The options of a session are read as this verb's.
BH_DEFINE_VERB(shell){
    .name = "shell",
    .arguments = {argument::input},
    .summary = "loads an input once and answers many questions about it",
    .alone = true,
    .session = true,
    .divided = true,
    .run = &talk,
};

BH_DEFINE_VERB(ui){
    .name = "ui",
    .arguments = {argument::input},
    .summary = "an input on the terminal's screen",
    .alone = true,
    .session = true,
    .divided = true,
    .run = &talk,
};

}  // namespace beamheap::cli
