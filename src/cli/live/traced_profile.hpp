// SPDX-License-Identifier: Apache-2.0
// profile --traced: the counters of traced functions, in the columns of OTP's own profilers.
#pragma once

#include "analyses/selectors/selectors.hpp"
#include "cli/frame/commands.hpp"

namespace beamheap::cli {

/// All functions that are traced, or with --pattern some of them; per process where that is asked for.
Status show_traced(const Context& context, const analyses::FunctionPattern& pattern);

}  // namespace beamheap::cli
