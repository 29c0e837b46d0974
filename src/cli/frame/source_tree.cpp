// SPDX-License-Identifier: Apache-2.0
#include "cli/frame/source_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <tuple>
#include <vector>

namespace beamheap::cli {
namespace {

bool after(const timespec& a, const timespec& b) {
    return std::tuple(a.tv_sec, a.tv_nsec) > std::tuple(b.tv_sec, b.tv_nsec);
}

}  // namespace

bool sources_changed(const std::string& root) {
    struct stat built {};
    if (stat((root + "/build/release/.stamp").c_str(), &built) != 0) return true;
    std::vector<std::string> pending;
    for (const char* name : {"/src", "/formats", "/include", "/cmake", "/CMakeLists.txt"})
        pending.push_back(root + name);
    while (!pending.empty()) {
        const std::string path = std::move(pending.back());
        pending.pop_back();
        struct stat here {};
        if (lstat(path.c_str(), &here) != 0) continue;
        if (after(here.st_ctim, built.st_mtim)) return true;
        if (!S_ISDIR(here.st_mode)) continue;
        DIR* folder = opendir(path.c_str());
        if (folder == nullptr) continue;
        bool changed = false;
        for (const dirent* entry = readdir(folder); entry != nullptr && !changed; entry = readdir(folder)) {
            const std::string_view name = entry->d_name;
            if (name == "." || name == "..") continue;
            struct stat each {};
            if (fstatat(dirfd(folder), entry->d_name, &each, AT_SYMLINK_NOFOLLOW) != 0) continue;
            if (S_ISDIR(each.st_mode)) pending.push_back(path + '/' + std::string(name));
            else changed = after(each.st_ctim, built.st_mtim);
        }
        closedir(folder);
        if (changed) return true;
    }
    return false;
}

void rebuild_if_stale(char** arguments) {
    const char* tree = std::getenv("BEAMHEAP_TREE");
    if (tree == nullptr) return;
    const std::string root = tree;
    unsetenv("BEAMHEAP_TREE");
    if (!sources_changed(root)) return;
    setenv("BEAMHEAP_STALE", "1", 1);
    execv((root + "/beamheap").c_str(), arguments);
    unsetenv("BEAMHEAP_STALE");  // no launcher there: the program answers as it is
}

}  // namespace beamheap::cli
