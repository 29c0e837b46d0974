// SPDX-License-Identifier: Apache-2.0
#include "cli/catch/running_node.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "bytes/running_process.hpp"
#include "formats/otp/running_vms.hpp"

namespace beamheap::cli {
namespace {

// Value of a variable in what /proc/PID/environ has.
std::string variable(std::string_view environment, std::string_view name) {
    for (std::string_view rest = environment; !rest.empty();) {
        const std::string_view each = rest.substr(0, rest.find('\0'));
        if (each.size() > name.size() && each.starts_with(name) && each[name.size()] == '=')
            return std::string(each.substr(name.size() + 1));
        rest.remove_prefix(std::min(each.size() + 1, rest.size()));
    }
    return {};
}

// So it is where nobody tells.
bool is_our_root(std::uint32_t pid) {
    struct stat its {
    }, ours{};
    if (::stat(fmt::format("/proc/{}/root", pid).c_str(), &its) != 0 || ::stat("/", &ours) != 0) return true;
    return its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
}

}  // namespace

RunningNode running_node(std::uint32_t pid) {
    using namespace std::string_view_literals;
    const std::string process = fmt::format("/proc/{}", pid);
    const std::string environment = bytes::read_small_file(process + "/environ");
    struct stat status {};
    const bool there = ::stat(process.c_str(), &status) == 0;
    std::error_code unseen;
    return {.pid = pid,
            .told = !environment.empty(),
            .heart = ('\0' + bytes::read_small_file(process + "/cmdline")).find("\0-heart\0"sv) != std::string::npos,
            .user = there ? status.st_uid : 0,
            .group = there ? status.st_gid : 0,
            .dump = variable(environment, "ERL_CRASH_DUMP"),
            .seconds = variable(environment, "ERL_CRASH_DUMP_SECONDS"),
            .folder = std::filesystem::read_symlink(process + "/cwd", unseen).string()};
}

std::vector<RunningNode> running_nodes() {
    std::vector<RunningNode> nodes;
    for (const std::uint32_t pid : bytes::all_pids())
        if (otp::named_as_vm(bytes::task_times(fmt::format("/proc/{}", pid)).name)) nodes.push_back(running_node(pid));
    std::ranges::sort(nodes, {}, &RunningNode::pid);
    return nodes;
}

std::string dump_of(const RunningNode& node) {
    const std::string own = node.dump.empty() ? "erl_crash.dump" : node.dump;
    const std::string root = is_our_root(node.pid) ? "" : fmt::format("/proc/{}/root", node.pid);
    return own.starts_with('/') ? root + own : root + node.folder + '/' + own;
}

bool writes_dump(const RunningNode& node) { return node.seconds.empty() ? !node.heart : node.seconds != "0"; }

bool waits_for_good(const RunningNode& node) { return node.seconds.empty() || node.seconds.starts_with('-'); }

}  // namespace beamheap::cli
