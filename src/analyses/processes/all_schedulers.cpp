// SPDX-License-Identifier: Apache-2.0
#include "analyses/processes/all_schedulers.hpp"

#include <algorithm>
#include <vector>

#include "erlang/modules.hpp"

namespace beamheap::analyses {
namespace {

bool says_nothing(const Snapshot& s, FunctionId function) {
    return erlang::has_role(s.text(s.functions[function].module), erlang::ModuleRole::everywhere);
}

}  // namespace

bool is_tool(const Snapshot& s, FunctionId function) {
    return erlang::has_role(s.text(s.functions[function].module), erlang::ModuleRole::tool);
}

AllSchedulers all_schedulers(const Snapshot& s) {
    AllSchedulers found;
    std::vector<std::vector<FunctionId>> at;  // of each: what it runs, youngest first
    for (const Scheduler& scheduler : s.schedulers) {
        if (scheduler.kind != Scheduler::Kind::normal) continue;
        ++found.schedulers;
        const ProcId id = s.find(scheduler.current_process);
        if (id == ProcId::none) continue;
        std::vector<FunctionId>& here = at.emplace_back();
        if (s[id].current_function != FunctionId::none) here.push_back(s[id].current_function);
        for (const Frame& frame : s.stacks[scheduler.stack == StackId::none ? s[id].stack : scheduler.stack])
            if (frame.function != FunctionId::none) here.push_back(frame.function);
    }
    if (at.empty() || at.size() < found.schedulers) return found;
    for (const FunctionId function : at.front()) {
        const auto is_in = [&](const std::vector<FunctionId>& here) {
            return std::ranges::find(here, function) != here.end();
        };
        if (!std::ranges::all_of(at, is_in)) continue;
        // What works for others tells nothing, nor what all processes begin in; in a core image the youngest may also
        // be older than what is called now, where that is in C: a sleep that has ended.
        if (is_tool(s, function) || says_nothing(s, function)) continue;
        found.function = function;
        break;
    }
    return found;
}

}  // namespace beamheap::analyses
