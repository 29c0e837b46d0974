// SPDX-License-Identifier: Apache-2.0
#include "cli/code/node_paths.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <vector>

namespace beamheap::cli {
namespace {

constexpr unsigned most_links = 40;      // of a path, as the kernel's own MAXSYMLINKS
constexpr std::size_t most_steps = 400;  // of a path: its parts, and those of its links

// Puts the parts of a path on the way, the first one last.
void put_on(std::vector<std::string>& way, std::string_view path) {
    while (!path.empty()) {
        const std::size_t slash = path.rfind('/');
        const std::string_view part = slash == path.npos ? path : path.substr(slash + 1);
        if (!part.empty() && part != ".") way.emplace_back(part);
        path = slash == path.npos ? std::string_view() : path.substr(0, slash);
    }
}

}  // namespace

std::string root_of_node(const Snapshot& snapshot) {
    return snapshot.source.live ? fmt::format("/proc/{}/root", snapshot.source.live->pid) : std::string();
}

bool may_be_looked_at(std::string_view path) {
    if (!path.starts_with('/') || path.find('\0') != path.npos || path.find("/../") != path.npos) return false;
    for (const std::string_view begin : {"/proc/", "/sys/", "/dev/", "/net/", "/misc/", "/run/user/"})
        if (path.starts_with(begin)) return false;
    return true;
}

std::optional<NodePlace> find_of_node(const std::string& root, std::string_view path) {
    if (!path.starts_with('/') || path.find('\0') != path.npos) return std::nullopt;
    std::vector<std::string> way;
    put_on(way, path);
    std::string inside;  // what has been gone, without links; empty: the root
    unsigned links = 0;
    for (std::size_t steps = 0; !way.empty(); ++steps) {
        const std::string part = std::move(way.back());
        way.pop_back();
        if (steps == most_steps) return std::nullopt;
        if (part == "..") {
            inside.resize(inside.empty() ? 0 : inside.rfind('/'));
            continue;
        }
        const std::string next = inside + '/' + part;
        struct stat info {};
        if (!may_be_looked_at(next) || ::lstat((root + next).c_str(), &info) != 0) return std::nullopt;
        if (S_ISLNK(info.st_mode)) {
            std::error_code error;
            const std::string target = std::filesystem::read_symlink(root + next, error).string();
            if (error || ++links > most_links) return std::nullopt;
            if (target.starts_with('/')) inside.clear();
            put_on(way, target);
        } else if (S_ISREG(info.st_mode)) {
            return NodePlace{root + next, false};
        } else if (S_ISDIR(info.st_mode)) {
            inside = next;
        } else {
            return std::nullopt;
        }
    }
    if (inside.empty()) return std::nullopt;
    return NodePlace{root + inside, true};
}

}  // namespace beamheap::cli
