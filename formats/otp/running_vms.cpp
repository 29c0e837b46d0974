// SPDX-License-Identifier: Apache-2.0
#include "formats/otp/running_vms.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "bytes/running_process.hpp"
#include "formats/otp/core_artifact.hpp"

namespace beamheap::otp {
namespace {

// The id of a container in the path of a control group: 64 hexadecimal digits that stand alone or behind a prefix such
// as "docker-" or "cri-containerd-".
std::string container_in(std::string_view cgroup) {
    constexpr std::size_t digits = 64, shown = 12;
    std::size_t run = 0;
    for (std::size_t i = 0; i <= cgroup.size(); ++i) {
        const char c = i < cgroup.size() ? cgroup[i] : '/';
        if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) {
            ++run;
            continue;
        }
        if (run == digits) return std::string{cgroup.substr(i - digits, shown)};
        run = 0;
    }
    return {};
}

std::string_view line_of(std::string_view status, std::string_view name) {
    const std::size_t at = status.find(fmt::format("\n{}:", name));
    if (at == status.npos) return {};
    std::string_view line = status.substr(at + name.size() + 2);
    line = line.substr(0, line.find('\n'));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return line;
}

void look_inside(VmOnMachine& row) {
    auto running = attach(row.pid, std::to_string(row.pid), {});
    if (!running) {
        row.problem = running.error();
        return;
    }
    const Vm& vm = *running->vm;
    const Build& build = running->image->build();
    row.otp_release = std::to_string(build.release);
    row.erts_version = build.erts_version;
    row.processes = vm.processes.count;
    Decoder reader(vm);
    if (const auto name =
            vm.roots.this_node == 0 ? std::nullopt : reader.memory.word(vm.roots.this_node + reader.at.node_name))
        if (const auto text = is_atom(*name) ? vm.atoms.text(reader.memory, atom_index(*name)) : std::nullopt)
            row.node = *text;
}

}  // namespace

bool named_as_vm(std::string_view program) { return program == "beam" || program.starts_with("beam."); }

std::vector<VmOnMachine> running_vms() {
    std::vector<VmOnMachine> all;
    const double ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    const double up = std::strtod(bytes::read_small_file("/proc/uptime", 64).c_str(), nullptr);
    for (const std::uint32_t pid : bytes::all_pids()) {
        const std::string folder = fmt::format("/proc/{}", pid);
        const bytes::TaskTimes times = bytes::task_times(folder);
        if (!named_as_vm(times.name) || times.state == 'Z') continue;
        VmOnMachine row;
        row.pid = pid;
        row.uptime_seconds = std::max(0.0, up - static_cast<double>(times.start_ticks) / ticks);
        const std::string status = bytes::read_small_file(folder + "/status", 65536);
        const auto number = [&](std::string_view name) {
            return std::strtoull(std::string{line_of(status, name)}.c_str(), nullptr, 10);
        };
        row.user = bytes::user_name(static_cast<std::uint32_t>(number("Uid")));
        if (!line_of(status, "VmRSS").empty()) row.resident_bytes = 1024 * number("VmRSS");
        const std::string_view pids = line_of(status, "NSpid");
        if (const std::size_t tab = pids.rfind('\t'); tab != pids.npos)
            row.pid_inside =
                static_cast<std::uint32_t>(std::strtoul(std::string{pids.substr(tab + 1)}.c_str(), nullptr, 10));
        row.container = container_in(bytes::read_small_file(folder + "/cgroup", 65536));
        look_inside(row);
        if (row.problem && bytes::task_times(folder).start_ticks != times.start_ticks) continue;  // it ended meanwhile
        all.push_back(std::move(row));
    }
    return all;
}

}  // namespace beamheap::otp
