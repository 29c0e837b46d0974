// SPDX-License-Identifier: Apache-2.0
#include "cli/catch/death_folder.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>

#include "analyses/base/number_format.hpp"
#include "cli/console/output_file.hpp"
#include "cli/live/windows.hpp"

namespace beamheap::cli {
namespace {

// Of two that end in the same way, the longer one first.
constexpr std::array<std::string_view, 6> death_endings{".watch.json", ".json",     ".html",
                                                        ".sqlite",     ".dump.zst", ".core.zst"};
constexpr std::size_t most_least_deaths = 64;  // below what is to stay free
constexpr std::size_t letters_of_time = 20;    // of window_time()
constexpr std::int64_t millisecond_ns = 1'000'000;

struct CloseDeaths {
    void operator()(DIR* folder) const { closedir(folder); }
};

std::uint64_t size_of(const std::string& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size)
                                                                        : 0;
}

}  // namespace

std::string_view death_of(std::string_view name) {
    if (name.size() < letters_of_time + 2 || name[letters_of_time] != '-' || name[8] != 'T' || name[15] != '.' ||
        name[letters_of_time - 1] != 'Z')
        return {};
    if (std::ranges::count_if(name.substr(0, letters_of_time), [](char c) { return c >= '0' && c <= '9'; }) != 17)
        return {};
    for (const std::string_view ending : death_endings)
        if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
    return {};
}

Result<DeathFolder> DeathFolder::open(std::string folder, Bounds bounds) {
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    struct stat status {};
    if (stat(folder.c_str(), &status) == 0 && !S_ISDIR(status.st_mode))
        return Error{ErrorCode::usage, fmt::format("{}: is no folder", folder), {}};
    BH_CHECK(make_folder(folder));
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        return Error{ErrorCode::unreadable,
                     fmt::format("{}: nothing can be written there: {}", folder, std::strerror(errno)),
                     {}};
    return DeathFolder(std::move(folder), bounds);
}

std::vector<std::string> DeathFolder::names() const {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, CloseDeaths> open(opendir(folder_.c_str()));
    if (open == nullptr) return names;
    while (const dirent* entry = readdir(open.get()))
        if (!death_of(entry->d_name).empty()) names.emplace_back(entry->d_name);
    std::ranges::sort(names);
    return names;
}

std::string DeathFolder::free_time(std::int64_t unix_ns) const {
    const std::vector<std::string> taken = names();
    for (;; unix_ns += millisecond_ns) {
        std::string time = window_time(unix_ns);
        const auto at = std::ranges::lower_bound(taken, time);
        if (at == taken.end() || !at->starts_with(time)) return time;
    }
}

std::uint64_t DeathFolder::free_bytes() const {
    struct statvfs status {};
    if (statvfs(folder_.c_str(), &status) != 0) return std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

bool DeathFolder::make_room(std::uint64_t bytes, std::string_view but) {
    std::vector<std::string> held = names();
    std::uint64_t all = 0;
    std::uint64_t removable = 0;
    for (const std::string& name : held) {
        const std::uint64_t size = size_of(path(name));
        all += size;
        if (but.empty() || !name.starts_with(but)) removable += size;
    }
    // What would not be enough, whatever went, costs no death.
    if (free_bytes() + removable < bounds_.free || all - removable + bytes > bounds_.disk) return false;
    const auto fits = [&] { return all + bytes <= bounds_.disk && free_bytes() >= bounds_.free; };
    for (std::size_t i = 0; i < held.size() && !fits();) {
        const std::string death(death_of(held[i]));
        const bool kept = !but.empty() && death.starts_with(but);
        for (; i < held.size() && death_of(held[i]) == death; ++i) {
            if (kept) continue;
            all -= size_of(path(held[i]));
            unlink(path(held[i]).c_str());
        }
        if (!kept) ++removed_;
    }
    return fits();
}

bool DeathFolder::make_least_room(std::uint64_t bytes, std::string_view but) {
    std::uint64_t all = bytes;
    std::vector<std::string> deaths;
    for (const std::string& name : names()) {
        all += size_of(path(name));
        if (!but.empty() && name.starts_with(but)) continue;
        if (std::string death(death_of(name)); deaths.empty() || deaths.back() != death)
            deaths.push_back(std::move(death));
    }
    if (all > bounds_.disk || free_bytes() <= bytes) return false;
    if (deaths.size() >= most_least_deaths) deaths.resize(deaths.size() - most_least_deaths + 1);
    else deaths.clear();
    for (const std::string& death : deaths) {
        for (const std::string& name : names())
            if (death_of(name) == death) unlink(path(name).c_str());
        ++removed_;
    }
    return true;
}

NotWritten DeathFolder::not_written(int error) const {
    if (error == ENOSPC) return {"the disk is full", true};
    return {std::strerror(error), error == EDQUOT};
}

std::string DeathFolder::why_full() const {
    constexpr std::uint64_t nothing = 1 << 20;
    const std::uint64_t free = free_bytes();
    if (free < bounds_.free)
        return fmt::format("less than {} of the disk are free", analyses::human_bytes(bounds_.free));
    if (free < nothing) return "the disk is full";
    return fmt::format("--disk leaves no more than {} to all deaths", analyses::human_bytes(bounds_.disk));
}

}  // namespace beamheap::cli
