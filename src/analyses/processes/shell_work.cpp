// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/shell_work.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "erlang/erlang_syntax.hpp"

namespace beamheap::analyses {
namespace {

// Modules of the shells, between a prompt and what was typed.
bool of_shell(std::string_view module) {
    constexpr std::array<std::string_view, 7> modules{
        "shell", "erl_eval", "Elixir.IEx.Evaluator", "Elixir.IEx.Server", "elixir", "elixir_eval", "Elixir.Code"};
    return std::ranges::find(modules, module) != modules.end();
}

}  // namespace

ShellWork shell_work(const Snapshot& s, const Process& process) {
    const std::span<const Frame> stack = s.stacks[process.stack];
    ShellWork found;
    bool evaluates = false;
    for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
        const std::string_view module = module_of(s, frame->function);
        if (module == "shell" || module.starts_with("Elixir.IEx.")) found.in_shell = true;
        if (!found.in_shell) continue;
        if (of_shell(module)) {
            evaluates = true;
        } else if (evaluates) {
            found.called = frame->function;
            break;
        }
    }
    return found;
}

}  // namespace beamheap::analyses
