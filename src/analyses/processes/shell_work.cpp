// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/shell_work.hpp"

#include <span>

#include "erlang/erlang_syntax.hpp"
#include "erlang/functions.hpp"

namespace beamheap::analyses {

ShellWork shell_work(const Snapshot& s, const Process& process) {
    const std::span<const Frame> stack = s.stacks[process.stack];
    ShellWork found;
    bool evaluates = false;
    for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
        const std::string_view module = module_of(s, frame->function);
        if (has_role(module, erlang::FunctionRole::of_shell)) found.in_shell = true;
        if (!found.in_shell) continue;
        if (has_role(module, erlang::FunctionRole::evaluates)) {
            evaluates = true;
        } else if (evaluates) {
            found.called = frame->function;
            break;
        }
    }
    return found;
}

}  // namespace beamheap::analyses
