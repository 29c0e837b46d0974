// SPDX-License-Identifier: Apache-2.0
#include "analyses/causes/what_ran.hpp"

namespace beamheap::analyses {

Ours what_ran(const std::function<bool(erlang::FunctionRole)>& has) {
    using erlang::FunctionRole;
    if (has(FunctionRole::runs_mix)) return "What mix ran";
    if (has(FunctionRole::configures)) return "The configuration in Elixir";
    if (has(FunctionRole::runs_elixir)) return "What elixir ran";
    if (has(FunctionRole::evaluates_line)) return "What was typed into the shell";
    if (has(FunctionRole::runs_escript)) return "The escript";
    const bool by_init = has(FunctionRole::of_command_line);
    // A slogan has the youngest eight frames; the command elixir ends without one.
    if (!by_init && has(FunctionRole::evaluates_elixir)) return by_elixir;
    if (has(FunctionRole::evaluates_text)) return by_init ? by_eval : by_somebody;
    return by_init ? by_name : Ours("");
}

}  // namespace beamheap::analyses
