// SPDX-License-Identifier: Apache-2.0
#include "cli/console/output_file.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/help.hpp"

namespace beamheap::cli {

static Status cmd_completion(const Context& context) {
    const std::string script = completion_script(context.argument(0));
    if (script.empty())
        return Error{ErrorCode::usage, "there is no completion for this shell", "choose one of: bash zsh fish"};
    return write_file("-", script, false);
}

BH_DEFINE_VERB(completion){
    .name = "completion",
    .arguments = {Argument{"bash|zsh|fish", ArgumentKind::shell}},
    .summary = "a completion script for a shell",
    .examples = "completion bash > /etc/bash_completion.d/beamheap",
    .alone = true,
    .writes = true,
    .run = &cmd_completion,
};

}  // namespace beamheap::cli
