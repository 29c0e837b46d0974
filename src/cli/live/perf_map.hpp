// SPDX-License-Identifier: Apache-2.0
// Names of a running VM's Erlang functions for perf, which looks for them in /tmp/perf-PID.map.
#pragma once

#include "cli/frame/context.hpp"

namespace beamheap::cli {

/// Writes them, "START SIZE NAME" a line in hexadecimal (tools/perf/Documentation/jit-interface.txt of Linux), to that
/// file or to -o, whole or not at all and never through a link; -f replaces one that is there. What was written is told
/// on standard error. Errors: those of Context::open, loaded_functions() and OutputFile.
Status write_perf_map(const Context& context);

}  // namespace beamheap::cli
