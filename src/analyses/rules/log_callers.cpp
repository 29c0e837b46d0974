// SPDX-License-Identifier: Apache-2.0
#include "analyses/rules/log_callers.hpp"

#include <algorithm>
#include <vector>

#include "analyses/processes/frame_marks.hpp"
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
    const std::vector<std::uint8_t> logs =
        marks_of_stacks(s, [&](FunctionId id) { return has_role(s, id, erlang::FunctionRole::logs); });
    std::vector<LogCallers> counts;  // few functions log at one moment
    for (std::uint32_t i = 0; i < s.processes.size(); ++i) {
        if (mark_of(logs, s.processes[i]) == 0) continue;
        const FunctionId function = who_logs(s, s.processes[i].stack);
        if (function == FunctionId::none) continue;
        const auto known = std::ranges::find(counts, function, &LogCallers::function);
        if (known == counts.end()) counts.push_back({function, 1, ProcId{i}});
        else ++known->processes;
    }
    LogCallers most;
    for (const LogCallers& of : counts)
        if (of.processes > most.processes || (of.processes == most.processes && of.function < most.function)) most = of;
    return most;
}

}  // namespace beamheap::analyses::rule
