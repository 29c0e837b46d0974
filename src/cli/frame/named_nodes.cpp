// SPDX-License-Identifier: Apache-2.0
#include "cli/frame/named_nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

#include "cli/frame/commands.hpp"
#include "formats/format.hpp"
#include "formats/otp/running_vms.hpp"

namespace beamheap::cli {
namespace {

// "shop@host", and nothing that can be a path of a file that was misspelt.
bool may_be_node(const std::string& input) {
    const std::size_t at = input.find('@');
    if (at == 0 || at == input.npos || at + 1 == input.size() || input.find('/') != input.npos) return false;
    std::error_code ignored;
    return !std::filesystem::exists(input, ignored);
}

}  // namespace

Result<std::string> pid_of_node(const std::string& node) {
    std::vector<std::uint32_t> pids;
    std::vector<std::string> others;
    for (const otp::VmOnMachine& vm : otp::running_vms()) {
        if (vm.node == node) pids.push_back(vm.pid);
        else if (!vm.node.empty()) others.push_back(vm.node);
    }
    if (pids.size() > 1)
        return Error{ErrorCode::usage, fmt::format("{}: {} VMs that run here are called so", node, pids.size()),
                     fmt::format("Name one by its pid: {}", fmt::join(pids, ", "))};
    if (pids.empty())
        return Error{ErrorCode::unreadable, fmt::format("{}: no such file, and no node of that name runs here", node),
                     others.empty() ? "beamheap ps lists the VMs that run here."
                                    : fmt::format("Nodes that run here: {}", fmt::join(others, ", "))};
    // A file may be called as the pid is.
    std::error_code ignored;
    const std::string pid = std::to_string(pids.front());
    return std::filesystem::exists(pid, ignored) ? "pid:" + pid : pid;
}

Status find_named_nodes(Options& options, const Command& command) {
    for (std::size_t i = 0; i < options.inputs.size(); ++i) {
        if (command.argument_of(i, options.inputs.size()).kind != ArgumentKind::input ||
            !may_be_node(options.inputs[i]))
            continue;
        if (i == 0) options.node_name = options.inputs[i];
        BH_TRY(options.inputs[i], pid_of_node(options.inputs[i]));
    }
    return ok();
}

}  // namespace beamheap::cli
