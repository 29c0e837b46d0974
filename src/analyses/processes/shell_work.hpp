// SPDX-License-Identifier: Apache-2.0
// Whether a process works on what somebody typed into a shell, Erlang's or Elixir's.
//
// The evaluator of a shell is a process of its own; on its stack the oldest frames are the shell's, then those that
// evaluate expressions, then what they call (lib/stdlib/src/shell.erl, erl_eval.erl; IEx.Evaluator and Code of
// Elixir 1.14).
#pragma once

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct ShellWork {
    bool in_shell = false;  ///< it works for somebody who sits at a shell
    FunctionId called =
        FunctionId::none;  ///< the first function that the shell called; none: only its evaluator is seen
};

/// Needs stacks. O(frames of the process).
ShellWork shell_work(const Snapshot& snapshot, const Process& process);

}  // namespace beamheap::analyses
