// SPDX-License-Identifier: Apache-2.0
// How `catch` comes to stand where nodes die: what sets it up, as text, and what is missing on this machine.
#pragma once

#include <string>

#include "cli/frame/context.hpp"

namespace beamheap::cli {

/// Prints the files that set it up. Errors: usage (no such way).
Status print_setup(const Context& context);
/// Prints what there is and what is missing. Errors: findings, where something is.
Status check_setup(const Context& context);

}  // namespace beamheap::cli
