// SPDX-License-Identifier: Apache-2.0
#include "bytes/running_process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace beamheap::bytes {
namespace {

constexpr std::size_t most_pieces = 1024;   // IOV_MAX
constexpr unsigned capability_ptrace = 19;  // CAP_SYS_PTRACE

std::string proc_folder(std::uint32_t pid) { return fmt::format("/proc/{}", pid); }

template <class T>
T number_in(std::string_view text, int base = 10) {
    T value{};
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

// The next field of a line: up to a blank, which is taken away with it.
std::string_view take_field(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view field = line.substr(0, line.find(' '));
    line.remove_prefix(field.size());
    return field;
}

// The value of a line "Name:\tvalue" of /proc/PID/status.
std::string_view status_value(std::string_view status, std::string_view name) {
    for (std::size_t at = 0; at < status.size();) {
        std::string_view line = status.substr(at, status.find('\n', at) - at);
        at += line.size() + 1;
        if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
        line.remove_prefix(name.size() + 1);
        line.remove_prefix(std::min(line.find_first_not_of("\t "), line.size()));
        return line;
    }
    return {};
}

}  // namespace

// The name of a user by /etc/passwd alone: a static program can't ask the services that the system may have beside it.
std::string user_name(std::uint32_t uid) {
    const std::string text = read_small_file("/etc/passwd", 1u << 20), number = fmt::format(":{}:", uid);
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view line = std::string_view{text}.substr(at, text.find('\n', at) - at);
        at += line.size() + 1;
        const std::size_t name = line.find(':'), password = name == line.npos ? name : line.find(':', name + 1);
        if (password != line.npos && line.substr(password).starts_with(number))
            return std::string{line.substr(0, name)};
    }
    return std::to_string(uid);
}

std::string read_small_file(const std::string& path, std::size_t limit) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    std::string text;
    if (file < 0) return text;
    constexpr std::size_t step = 65536;
    for (ssize_t got = 1; got > 0 && text.size() < limit;) {
        const std::size_t had = text.size();
        text.resize(had + std::min(step, limit - had));
        do got = ::read(file, text.data() + had, text.size() - had);
        while (got < 0 && errno == EINTR);
        text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    ::close(file);
    return text;
}

std::vector<Mapping> parse_mappings(std::string_view text) {
    std::vector<Mapping> all;
    for (std::size_t at = 0; at < text.size();) {
        std::string_view line = text.substr(at, text.find('\n', at) - at);
        at += line.size() + 1;
        const std::string_view range = take_field(line), rights = take_field(line), offset = take_field(line),
                               device = take_field(line), inode = take_field(line);
        const std::size_t dash = range.find('-'), colon = device.find(':');
        if (dash == range.npos || colon == device.npos || rights.size() < 4) continue;
        Mapping mapping;
        mapping.start = number_in<std::uint64_t>(range.substr(0, dash), 16);
        mapping.end = number_in<std::uint64_t>(range.substr(dash + 1), 16);
        if (mapping.end <= mapping.start) continue;
        mapping.readable = rights[0] == 'r';
        mapping.writable = rights[1] == 'w';
        mapping.executable = rights[2] == 'x';
        mapping.shared = rights[3] == 's';
        mapping.file_offset = number_in<std::uint64_t>(offset, 16);
        mapping.device = number_in<std::uint64_t>(device.substr(0, colon), 16) << 32 |
                         number_in<std::uint64_t>(device.substr(colon + 1), 16);
        mapping.inode = number_in<std::uint64_t>(inode);
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        mapping.path = line;
        all.push_back(std::move(mapping));
    }
    return all;
}

// proc(5), stat: "12 (any ) name) S ..."; the name ends with the last parenthesis. Fields are counted from 1.
TaskTimes task_times(const std::string& folder) {
    TaskTimes times;
    const std::string stat = read_small_file(folder + "/stat", 4096);
    const std::size_t open = stat.find('('), close = stat.rfind(')');
    if (open == stat.npos || close == stat.npos || close < open) return times;
    times.name = stat.substr(open + 1, close - open - 1);
    std::string_view rest = std::string_view{stat}.substr(close + 1);
    for (unsigned field = 3; field <= 22; ++field) {
        const std::string_view text = take_field(rest);
        if (text.empty()) break;
        if (field == 3) times.state = text.front();
        if (field == 14) times.user_ticks = number_in<std::uint64_t>(text);
        if (field == 15) times.system_ticks = number_in<std::uint64_t>(text);
        if (field == 22) times.start_ticks = number_in<std::uint64_t>(text);
    }
    const std::string schedstat = read_small_file(folder + "/schedstat", 256);
    if (!schedstat.empty()) {
        std::string_view fields = std::string_view{schedstat}.substr(0, schedstat.find('\n'));
        times.on_cpu_ns = number_in<std::uint64_t>(take_field(fields));
        times.waited_ns = number_in<std::uint64_t>(take_field(fields));
        times.has_schedstat = true;
    }
    return times;
}

namespace {

// The names of a folder that are numbers, in order.
std::vector<std::uint32_t> numbers_in(const std::string& folder) {
    std::vector<std::uint32_t> all;
    DIR* const list = ::opendir(folder.c_str());
    if (list == nullptr) return all;
    while (const dirent* entry = ::readdir(list)) {
        const std::string_view name = entry->d_name;
        if (!name.empty() && name.find_first_not_of("0123456789") == name.npos)
            all.push_back(number_in<std::uint32_t>(name));
    }
    ::closedir(list);
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

std::vector<std::uint32_t> all_pids() { return numbers_in("/proc"); }

// In the order in which the kernel refuses: another user's process, one with more capabilities, a security module.
Error no_right_to_attach(std::uint32_t pid, std::string_view tried) {
    const std::string theirs = read_small_file(proc_folder(pid) + "/status", 65536),
                      ours = read_small_file("/proc/self/status", 65536);
    const auto value = [](const std::string& status, std::string_view name) {
        return std::string{status_value(status, name)};
    };
    const auto mask = [&](const std::string& status, std::string_view name) {
        return number_in<std::uint64_t>(value(status, name), 16);
    };
    const auto start = fmt::format("{}: {}: ", pid, tried);
    const std::string uids = value(theirs, "Uid");
    const auto uid = number_in<std::uint32_t>(std::string_view{uids}.substr(0, uids.find('\t')));
    const bool capable = (mask(ours, "CapEff") >> capability_ptrace & 1) != 0;
    const std::string container = "; in a container it takes --cap-add=SYS_PTRACE";
    if (uids.empty())
        return {ErrorCode::unreadable, start + "what the system tells of it can't be read",
                "Run as root, or inside of its container."};
    if (!capable && uid != ::geteuid())
        return {ErrorCode::unreadable,
                start + fmt::format("it runs as the user {}, and this program as {} without the capability SYS_PTRACE",
                                    user_name(uid), user_name(::geteuid())),
                fmt::format("Run as the user {}, or as root{}.", user_name(uid), container)};
    const std::string tracer = value(theirs, "TracerPid");
    if (!capable && (mask(theirs, "CapPrm") & ~mask(ours, "CapPrm")) != 0)
        return {
            ErrorCode::unreadable,
            start + "it has capabilities that this program has not, and this program lacks the capability SYS_PTRACE",
            "Run where it has been given: --cap-add=SYS_PTRACE, or as root of the machine."};
    const auto yama = number_in<unsigned>(read_small_file("/proc/sys/kernel/yama/ptrace_scope", 16));
    if (yama == 3)
        return {ErrorCode::unreadable,
                start + "kernel.yama.ptrace_scope is 3: nobody may look into processes until the machine starts anew",
                {}};
    if (!capable && yama != 0)
        return {ErrorCode::unreadable,
                start + fmt::format("kernel.yama.ptrace_scope is {}: only with the capability SYS_PTRACE may a program "
                                    "look into another that it has not started",
                                    yama),
                fmt::format("Run as root{}, or set it to 0: sysctl kernel.yama.ptrace_scope=0", container)};
    if (!tracer.empty() && tracer != "0")
        return {ErrorCode::unreadable, start + fmt::format("another program traces it (pid {})", tracer),
                "Let it go first."};
    if (!capable && read_small_file(proc_folder(pid) + "/maps", 1).empty())
        return {ErrorCode::unreadable,
                start +
                    "it does not let itself be looked into (prctl PR_SET_DUMPABLE, or a program with capabilities of "
                    "its own)",
                fmt::format("Run as root{}.", container)};
    return {ErrorCode::unreadable,
            start + "the system forbids process_vm_readv (a seccomp filter, AppArmor or SELinux)",
            "Run outside of the container, as root, or give it --cap-add=SYS_PTRACE or a profile that allows it."};
}

Result<RunningProcess> RunningProcess::attach(std::uint32_t pid) {
    if (pid == static_cast<std::uint32_t>(::getpid()))
        return Error{ErrorCode::usage, fmt::format("{}: is this program itself", pid), {}};
    const std::string folder = proc_folder(pid);
    const TaskTimes times = task_times(folder);
    if (times.start_ticks == 0)
        return Error{ErrorCode::unreadable, fmt::format("{}: there is no process with this id", pid),
                     "One in a container has another id inside than outside: beamheap ps lists those that can be seen "
                     "from here."};
    const std::string status = read_small_file(folder + "/status", 65536);
    if (const auto leader = number_in<std::uint32_t>(status_value(status, "Tgid")); leader != 0 && leader != pid)
        return Error{ErrorCode::usage, fmt::format("{}: is a thread of process {}", pid, leader),
                     fmt::format("Name that: {}", leader)};
    RunningProcess process(pid, times.start_ticks);
    if (times.state == 'Z' || times.state == 'X')
        return Error{ErrorCode::unreadable, fmt::format("{}: has ended; nobody has taken note of it yet", pid), {}};
    errno = 0;
    const std::vector<Mapping> all = process.mappings();
    if (all.empty()) {
        if (process.gone())
            return Error{ErrorCode::unreadable, fmt::format("{}: ended while it was looked at", pid), {}};
        if (errno == 0)
            return Error{
                ErrorCode::unreadable,
                fmt::format("{}: has no memory of its own: a thread of the kernel, or one that is ending", pid),
                {}};
        return no_right_to_attach(pid, "its list of mappings can't be read");
    }
    for (const Mapping& mapping : all) {
        if (!mapping.readable || mapping.path == "[vvar]" || mapping.path.starts_with("[vsyscall")) continue;
        std::byte first{};
        iovec local{&first, 1}, remote{reinterpret_cast<void*>(mapping.start), 1};
        if (::process_vm_readv(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0) == 1) return process;
        if (errno == ENOSYS)
            return Error{
                ErrorCode::unreadable, fmt::format("{}: this system has no process_vm_readv (Linux 3.2)", pid), {}};
        if (errno != EFAULT) break;
    }
    if (process.gone()) return Error{ErrorCode::unreadable, fmt::format("{}: ended while it was looked at", pid), {}};
    return no_right_to_attach(pid, "its memory can't be read");
}

// The kernel fills the local pieces in order and ends at the first address that is not there; it goes on behind the
// piece in which that was. Ranges that wrap around are no ranges.
void RunningProcess::read(std::span<MemoryPiece> pieces) const {
    std::array<iovec, most_pieces> local, remote;
    for (std::size_t done = 0; done < pieces.size();) {
        const std::size_t count = std::min(pieces.size() - done, most_pieces);
        std::size_t asked = 0, bytes = 0;
        for (; asked < count; ++asked) {
            MemoryPiece& piece = pieces[done + asked];
            piece.got = 0;
            const std::size_t size = std::min(piece.into.size(), largest_read);
            if (asked != 0 && bytes + size > largest_read) break;
            local[asked] = {piece.into.data(), size};
            remote[asked] = {reinterpret_cast<void*>(piece.address), size};
            bytes += size;
        }
        ++counts_->calls;
        ssize_t got = 0;
        do got = ::process_vm_readv(static_cast<pid_t>(pid_), local.data(), asked, remote.data(), asked, 0);
        while (got < 0 && errno == EINTR);
        auto left = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
        counts_->bytes += left;
        std::size_t filled = 0;
        for (; filled < asked && left >= local[filled].iov_len; ++filled) {
            pieces[done + filled].got = local[filled].iov_len;
            left -= local[filled].iov_len;
        }
        if (filled < asked) {  // the rest of this one is not there
            pieces[done + filled].got = left;
            ++filled;
            ++counts_->faults;
        }
        done += filled;
    }
}

std::vector<Mapping> RunningProcess::mappings() const {
    const std::string text = read_small_file(proc_folder(pid_) + "/maps", 256u << 20);
    return parse_mappings(text);
}

bool RunningProcess::gone() const {
    const TaskTimes now = task_times(proc_folder(pid_));
    return now.start_ticks != start_ticks_ || now.state == 'Z' || now.state == 'X';
}

std::string RunningProcess::executable_link() const { return proc_folder(pid_) + "/exe"; }

std::string RunningProcess::executable_name() const {
    std::string name(4096, '\0');
    const ssize_t length = ::readlink(executable_link().c_str(), name.data(), name.size());
    name.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    return name;
}

std::string RunningProcess::path_from_here(std::string_view path) const {
    return fmt::format("{}/root{}", proc_folder(pid_), path);
}

std::string RunningProcess::proc_file(std::string_view name) const {
    return read_small_file(fmt::format("{}/{}", proc_folder(pid_), name));
}

namespace {

// The last of the ids that a process or thread has, from this pid namespace to its own (proc(5), NSpid); 0 where it is
// gone.
std::uint32_t innermost_id(const std::string& status_file) {
    const std::string status = read_small_file(status_file, 65536);
    const std::size_t at = status.find("\nNSpid:");
    if (at == status.npos) return 0;
    const std::size_t end = std::min(status.find('\n', at + 1), status.size());
    return static_cast<std::uint32_t>(
        std::strtoul(status.c_str() + status.find_last_of(" \t", end - 1) + 1, nullptr, 10));
}

}  // namespace

std::vector<TaskOfProcess> RunningProcess::threads() const {
    std::vector<TaskOfProcess> all;
    const std::string folder = proc_folder(pid_) + "/task";
    const bool contained = innermost_id(proc_folder(pid_) + "/status") != pid_;
    for (const std::uint32_t id : numbers_in(folder)) {
        TaskTimes times = task_times(fmt::format("{}/{}", folder, id));
        if (times.start_ticks == 0) continue;
        all.push_back({id, contained ? innermost_id(fmt::format("{}/{}/status", folder, id)) : id, std::move(times)});
    }
    return all;
}

}  // namespace beamheap::bytes
