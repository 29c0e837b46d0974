// SPDX-License-Identifier: Apache-2.0
#include "bytes/thread_wait.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace beamheap::bytes {
namespace {

constexpr std::size_t longest_path = 4096;
constexpr std::size_t most_groups = 64;

// What of its arguments says what a call is on.
enum class On : std::uint8_t { nothing, descriptor, path, path_at };

struct Call {
    long number;
    std::string_view name;
    On on;
};

// Calls in which a thread may sleep for long. Numbers are this machine's: a running process is of the same one.
constexpr Call calls[] = {
    {SYS_read, "read", On::descriptor},
    {SYS_write, "write", On::descriptor},
    {SYS_readv, "readv", On::descriptor},
    {SYS_writev, "writev", On::descriptor},
    {SYS_pread64, "pread", On::descriptor},
    {SYS_pwrite64, "pwrite", On::descriptor},
    {SYS_preadv, "preadv", On::descriptor},
    {SYS_pwritev, "pwritev", On::descriptor},
    {SYS_fsync, "fsync", On::descriptor},
    {SYS_fdatasync, "fdatasync", On::descriptor},
    {SYS_ftruncate, "ftruncate", On::descriptor},
    {SYS_fallocate, "fallocate", On::descriptor},
    {SYS_sendfile, "sendfile", On::descriptor},
    {SYS_splice, "splice", On::descriptor},
    {SYS_close, "close", On::descriptor},
    {SYS_flock, "flock", On::descriptor},
    {SYS_fcntl, "fcntl", On::descriptor},
    {SYS_ioctl, "ioctl", On::descriptor},
    {SYS_fstat, "fstat", On::descriptor},
    {SYS_getdents64, "getdents", On::descriptor},
    {SYS_connect, "connect", On::descriptor},
    {SYS_accept, "accept", On::descriptor},
    {SYS_accept4, "accept", On::descriptor},
    {SYS_sendto, "send", On::descriptor},
    {SYS_sendmsg, "sendmsg", On::descriptor},
    {SYS_recvfrom, "recv", On::descriptor},
    {SYS_recvmsg, "recvmsg", On::descriptor},
    {SYS_syncfs, "syncfs", On::descriptor},
    {SYS_openat, "openat", On::path_at},
    {SYS_newfstatat, "stat", On::path_at},
    {SYS_statx, "statx", On::path_at},
    {SYS_mkdirat, "mkdir", On::path_at},
    {SYS_unlinkat, "unlink", On::path_at},
    {SYS_faccessat, "access", On::path_at},
    {SYS_readlinkat, "readlink", On::path_at},
    {SYS_statfs, "statfs", On::path},
    {SYS_truncate, "truncate", On::path},
    {SYS_chdir, "chdir", On::path},
    {SYS_execve, "execve", On::path},
    {SYS_futex, "futex", On::nothing},
    {SYS_nanosleep, "nanosleep", On::nothing},
    {SYS_clock_nanosleep, "clock_nanosleep", On::nothing},
    {SYS_ppoll, "ppoll", On::nothing},
    {SYS_pselect6, "pselect", On::nothing},
    {SYS_wait4, "wait4", On::nothing},
    {SYS_waitid, "waitid", On::nothing},
    {SYS_sync, "sync", On::nothing},
    {SYS_msync, "msync", On::nothing},
    {SYS_munmap, "munmap", On::nothing},
    {SYS_madvise, "madvise", On::nothing},
    {SYS_renameat2, "rename", On::nothing},
    {SYS_epoll_pwait, "epoll_wait", On::descriptor},
#if defined(__x86_64__)
    {SYS_open, "open", On::path},
    {SYS_stat, "stat", On::path},
    {SYS_lstat, "lstat", On::path},
    {SYS_access, "access", On::path},
    {SYS_mkdir, "mkdir", On::path},
    {SYS_rmdir, "rmdir", On::path},
    {SYS_unlink, "unlink", On::path},
    {SYS_rename, "rename", On::path},
    {SYS_readlink, "readlink", On::path},
    {SYS_creat, "creat", On::path},
    {SYS_poll, "poll", On::nothing},
    {SYS_select, "select", On::nothing},
    {SYS_epoll_wait, "epoll_wait", On::descriptor},
#endif
};

const Call* call_of(std::int64_t number) {
    const auto* at = std::ranges::find(calls, number, &Call::number);
    return at == std::end(calls) ? nullptr : at;
}

// "standard output, a pipe", "descriptor 14, a socket", "/var/log/app.log"
std::string words_of_descriptor(const RunningProcess& process, std::uint64_t descriptor) {
    if (descriptor > 0x7FFFFFFF) return {};
    constexpr std::array<std::string_view, 3> standard{"standard input", "standard output", "standard error"};
    std::string name(longest_path, '\0');
    const ssize_t length =
        ::readlink(fmt::format("/proc/{}/fd/{}", process.pid(), descriptor).c_str(), name.data(), name.size());
    name.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    const std::string which =
        descriptor < standard.size() ? std::string(standard[descriptor]) : fmt::format("descriptor {}", descriptor);
    if (name.starts_with("pipe:")) return which + ", a pipe";
    if (name.starts_with("socket:")) return which + ", a socket";
    if (name.starts_with("anon_inode:")) return which;
    if (name.starts_with('/')) return descriptor < standard.size() ? fmt::format("{}, {}", which, name) : name;
    return which;
}

// The text at an address, up to its zero.
std::string path_at(const RunningProcess& process, std::uint64_t address) {
    std::string text(longest_path, '\0');
    // A page at a time: what follows the text may not be mapped.
    std::size_t got = 0;
    while (got < text.size()) {
        const std::size_t wanted = std::min<std::size_t>(text.size() - got, 4096 - (address + got) % 4096);
        const std::size_t read = process.read(address + got, {reinterpret_cast<std::byte*>(text.data() + got), wanted});
        const std::size_t end = text.find('\0', got);
        if (read != 0 && end < got + read) return text.substr(0, end);
        if (read < wanted) return {};
        got += read;
    }
    return {};
}

// A number of /proc, in hexadecimal or not; false where none begins there.
bool take_number(std::string_view& line, std::uint64_t& value) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string word(line.substr(0, line.find_first_of(" \n")));
    line.remove_prefix(word.size());
    char* end = nullptr;
    value = std::strtoull(word.c_str(), &end, 0);
    return !word.empty() && *end == '\0';
}

bool says_frozen(const std::string& folder) {
    const std::string events = read_small_file(folder + "/cgroup.events", 4096);
    return events.find("frozen 1") != events.npos;
}

}  // namespace

std::optional<CallLine> parse_call_line(std::string_view line) {
    CallLine parsed;
    std::array<std::uint64_t, 9> words{};  // number, six arguments, stack pointer, program counter
    if (line.starts_with('-') || line.starts_with('r')) return std::nullopt;
    for (std::uint64_t& word : words)
        if (!take_number(line, word)) return std::nullopt;
    if (words[0] > 0xFFFF) return std::nullopt;
    parsed.number = static_cast<std::int64_t>(words[0]);
    parsed.first = words[1];
    parsed.second = words[2];
    parsed.stack_pointer = words[7];
    parsed.program_counter = words[8];
    return parsed;
}

std::string ThreadWait::words() const {
    const std::string what = call.empty() ? "a call of the system" : call + "()";
    return on.empty() ? what : what + " on " + on;
}

std::optional<ThreadWait> thread_wait(const RunningProcess& process, std::uint32_t thread) {
    const std::string folder = fmt::format("/proc/{}/task/{}", process.pid(), thread);
    const TaskTimes times = task_times(folder);
    if (times.start_ticks == 0 || (times.state != 'S' && times.state != 'D')) return std::nullopt;
    const auto line = parse_call_line(read_small_file(folder + "/syscall", 1024));
    if (!line) return std::nullopt;
    ThreadWait wait;
    wait.state = times.state;
    wait.on_cpu_ns = times.on_cpu_ns;
    wait.number = line->number;
    wait.stack_pointer = line->stack_pointer;
    wait.program_counter = line->program_counter;
    if (const Call* call = call_of(line->number)) {
        wait.call = call->name;
        if (call->on == On::descriptor) wait.on = words_of_descriptor(process, line->first);
        if (call->on == On::path) wait.on = path_at(process, line->first);
        if (call->on == On::path_at) wait.on = path_at(process, line->second);
    }
    return wait;
}

// cgroups(7): "0::/system.slice/x.service" of version 2, "7:freezer:/docker/..." of version 1. What is frozen is frozen
// by a group above it, too.
bool is_frozen(std::string_view cgroups, const std::string& mounted) {
    std::size_t groups = 0;
    while (!cgroups.empty() && groups++ < most_groups) {
        const std::string_view line = cgroups.substr(0, cgroups.find('\n'));
        cgroups.remove_prefix(std::min(line.size() + 1, cgroups.size()));
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == line.npos || second == line.npos) continue;
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        const std::string path(line.substr(second + 1));
        if (path.find("..") != path.npos) continue;
        if (controllers.empty() && (says_frozen(mounted + path) || says_frozen(mounted + "/unified" + path)))
            return true;
        if (controllers == "freezer" &&
            read_small_file(fmt::format("{}/freezer{}/freezer.state", mounted, path), 64).starts_with("FROZEN"))
            return true;
    }
    return false;
}

Halt halt_of(const RunningProcess& process) {
    const char state = task_times(fmt::format("/proc/{}", process.pid())).state;
    if (state == 'T') return Halt::stopped;
    if (state == 't') return Halt::traced;
    return is_frozen(process.proc_file("cgroup"), "/sys/fs/cgroup") ? Halt::frozen : Halt::none;
}

}  // namespace beamheap::bytes
