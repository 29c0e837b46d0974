#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/terminal.hpp"

namespace beamheap::cli {

Status cmd_completion(const Context& context) {
    const std::string script = completion_script(context.argument(0));
    if (script.empty())
        return Error{ErrorCode::usage, "there is no completion for this shell", "choose one of: bash zsh fish"};
    FileSink(STDOUT_FILENO).write(script);
    return ok();
}

}  // namespace beamheap::cli
