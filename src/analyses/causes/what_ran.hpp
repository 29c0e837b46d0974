// SPDX-License-Identifier: Apache-2.0
// What a stack was run by: the command line, a script, a shell.
#pragma once

#include <functional>

#include "analyses/base/sentence.hpp"
#include "erlang/functions.hpp"

namespace beamheap::analyses {

/// What -eval called something, as the subject of a sentence.
inline constexpr Ours by_eval = "What -eval called";
/// The same of -s and -run.
inline constexpr Ours by_name = "What -s or -run called";

/// What a release evaluates before its applications start.
inline constexpr Ours by_elixir = "What Elixir evaluated (most likely the release's runtime.exs)";
/// Where nobody tells who had it evaluated.
inline constexpr Ours by_somebody = "What was evaluated";

/// "What mix ran", "What -s or -run called", "The escript": told by which roles the functions on a stack have. Empty:
/// none of these.
Ours what_ran(const std::function<bool(erlang::FunctionRole)>& has);

}  // namespace beamheap::analyses
