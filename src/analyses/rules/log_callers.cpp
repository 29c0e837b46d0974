// SPDX-License-Identifier: Apache-2.0
#include "analyses/rules/log_callers.hpp"

#include <map>

#include "erlang/functions.hpp"

namespace beamheap::analyses::rule {
namespace {

// The youngest function below those of logging that is none of them; none: nobody of logging is on the stack. Above
// them there may be what formats an event (re, io_lib).
FunctionId who_logs(const Snapshot& s, StackId stack) {
    bool logs = false;
    for (const Frame& frame : s.stacks[stack]) {
        if (frame.function == FunctionId::none) break;
        const std::string_view module = s.text(s.functions[frame.function].module);
        const bool of_logging = has_role(module, erlang::FunctionRole::of_logging);
        if (!of_logging && logs) return frame.function;
        logs = logs || (of_logging && has_role(module, erlang::FunctionRole::logs));
    }
    return FunctionId::none;
}

}  // namespace

LogCallers log_callers(const Snapshot& s) {
    std::map<FunctionId, LogCallers> counts;
    std::map<StackId, FunctionId> of_stacks;  // many processes have one
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        const StackId stack = s.processes[i].stack;
        if (stack == StackId::none) continue;
        const auto [known, is_new] = of_stacks.try_emplace(stack, FunctionId::none);
        if (is_new) known->second = who_logs(s, stack);
        const FunctionId function = known->second;
        if (function == FunctionId::none) continue;
        LogCallers& of = counts[function];
        if (of.processes++ == 0) of = {function, 1, ProcId{i}};
    }
    LogCallers most;
    for (const auto& [function, of] : counts)
        if (of.processes > most.processes) most = of;
    return most;
}

}  // namespace beamheap::analyses::rule
