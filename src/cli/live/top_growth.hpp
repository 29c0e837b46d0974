// SPDX-License-Identifier: Apache-2.0
// `top PID --every TIME`: what processes did and came to hold from one moment of a running VM to the next.
#pragma once

#include "cli/frame/context.hpp"

namespace beamheap::cli {

/// Rows of one interval after the other, until --for, SIGINT or the VM's end; formats other than text and JSON have
/// one. Errors: usage; not_held (no running VM); those of opening it.
Status top_growth(const Context& context);

}  // namespace beamheap::cli
