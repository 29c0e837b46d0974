// SPDX-License-Identifier: Apache-2.0
// Inputs that are named by their nodes: `beamheap top shop@host`.
#pragma once

#include "cli/options/options.hpp"

namespace beamheap::cli {

struct Command;

/// Puts a pid in the place of each input that is the name of a node of a VM that runs here ("shop@host", and no file is
/// called so). Errors: no such VM runs, or several in different containers do.
Status find_named_nodes(Options& options, const Command& command);

/// The input that a node of this name is now: its pid. Errors: unreadable (none runs here), usage (several do).
Result<std::string> pid_of_node(const std::string& node);

}  // namespace beamheap::cli
