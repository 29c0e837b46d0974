// SPDX-License-Identifier: Apache-2.0
#include "bytes/process_figures.hpp"

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "bytes/running_process.hpp"

namespace beamheap::bytes {
namespace {

using Figure = std::optional<std::uint64_t>;
constexpr std::uint64_t unlimited = 1ull << 60;  // version 1 writes the largest multiple of a page

// The number behind a line's first word, or behind its beginning: "VmRSS:   1234 kB".
Figure number_behind(std::string_view text, std::string_view begin) {
    std::size_t at = text.starts_with(begin) ? 0 : text.find(std::string("\n").append(begin));
    if (at == text.npos) return {};
    at += begin.size() + (at == 0 ? 0 : 1);
    at = std::min(text.find_first_not_of(" \t", at), text.size());
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    return error == std::errc{} ? Figure(value) : Figure();
}

Figure kibibytes_behind(std::string_view text, std::string_view begin) {
    const Figure figure = number_behind(text, begin);
    return figure ? Figure(*figure * 1024) : figure;
}

Figure entries(const std::string& folder) {
    struct Close {
        void operator()(DIR* open) const { closedir(open); }
    };
    const std::unique_ptr<DIR, Close> open(opendir(folder.c_str()));
    if (open == nullptr) return {};
    std::uint64_t count = 0;
    while (const dirent* entry = readdir(open.get())) count += entry->d_name[0] != '.';
    return count;
}

void nearer(ProcessFigures& figures, std::uint64_t limit, std::uint64_t left, bool of_group) {
    if (figures.left_bytes && *figures.left_bytes <= left) return;
    figures.limit_bytes = limit;
    figures.left_bytes = left;
    figures.of_group = of_group;
}

struct GroupFiles {
    std::string_view folder, limit, usage, cache;
};
constexpr GroupFiles version_2{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
constexpr GroupFiles version_1{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file"};

// Of a group and of those above it.
void add_groups(ProcessFigures& figures, const std::string& root, const GroupFiles& files, std::string_view group) {
    constexpr unsigned deepest = 32;
    const std::string mounted = root + std::string(files.folder);
    for (unsigned depth = 0; depth < deepest; ++depth) {
        const std::string folder = mounted + (group == "/" ? "" : std::string(group)) + "/";
        const Figure limit = number_behind(read_small_file(folder + std::string(files.limit)), "");
        const Figure usage = number_behind(read_small_file(folder + std::string(files.usage)), "");
        if (limit && usage && *limit < unlimited) {
            const std::uint64_t cache = number_behind(read_small_file(folder + "memory.stat"), files.cache).value_or(0);
            const std::uint64_t used = *usage - std::min(*usage, cache);
            nearer(figures, *limit, *limit - std::min(*limit, used), true);
        }
        if (group.empty() || group == "/") return;
        group = group.substr(0, group.rfind('/'));
    }
}

}  // namespace

std::optional<std::uint64_t> share_of_memory(std::uint32_t pid, const std::string& root) {
    const std::string folder = root + "/proc/" + std::to_string(pid);
    if (const Figure share = kibibytes_behind(read_small_file(folder + "/smaps_rollup"), "Pss:")) return share;
    return kibibytes_behind(read_small_file(folder + "/status"), "VmRSS:");
}

std::optional<std::uint64_t> own_memory(std::uint32_t pid, const std::string& root) {
    const std::string folder = root + "/proc/" + std::to_string(pid), all = read_small_file(folder + "/smaps_rollup");
    const Figure clean = kibibytes_behind(all, "Private_Clean:"), dirty = kibibytes_behind(all, "Private_Dirty:");
    if (clean && dirty) return *clean + *dirty;
    return kibibytes_behind(read_small_file(folder + "/status"), "VmRSS:");
}

ProcessFigures process_figures(std::uint32_t pid, const std::string& root) {
    ProcessFigures figures;
    const std::string folder = root + "/proc/" + std::to_string(pid);
    const std::string status = read_small_file(folder + "/status");
    figures.resident_bytes = kibibytes_behind(status, "VmRSS:");
    figures.swapped_bytes = kibibytes_behind(status, "VmSwap:");
    figures.descriptors = entries(folder + "/fd");
    figures.descriptor_limit = number_behind(read_small_file(folder + "/limits"), "Max open files");
    const std::string machine = read_small_file(root + "/proc/meminfo");
    const Figure total = kibibytes_behind(machine, "MemTotal:"), left = kibibytes_behind(machine, "MemAvailable:");
    if (total && left) nearer(figures, *total, *left, false);
    const std::string groups = read_small_file(folder + "/cgroup");
    for (std::string_view rest = groups; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == line.npos || second == line.npos) continue;
        const std::string_view controllers = line.substr(first + 1, second - first - 1),
                               group = line.substr(second + 1);
        if (controllers.empty()) add_groups(figures, root, version_2, group);
        else if (controllers == "memory") add_groups(figures, root, version_1, group);
    }
    return figures;
}

}  // namespace beamheap::bytes
