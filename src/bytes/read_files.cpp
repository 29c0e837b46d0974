// SPDX-License-Identifier: Apache-2.0
#include "bytes/read_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

namespace beamheap::bytes {
namespace {

// Device, inode, and when it was born, in nanoseconds: a file that is removed leaves its inode to another one. 0 where
// the file system does not tell.
using Identity = std::tuple<std::uint64_t, std::uint64_t, std::int64_t>;

struct ReadFiles {
    std::mutex lock;
    std::map<Identity, std::string_view> roles;
};
ReadFiles& read_files() {
    static ReadFiles files;
    return files;
}

std::optional<Identity> identity(int folder, const char* path, int flags) {
    struct statx file {};
    if (statx(folder, path, flags, STATX_TYPE | STATX_INO | STATX_BTIME, &file) != 0 || !S_ISREG(file.stx_mode))
        return std::nullopt;
    const bool tells = (file.stx_mask & STATX_BTIME) != 0;
    return Identity{std::uint64_t{file.stx_dev_major} << 32 | file.stx_dev_minor, file.stx_ino,
                    tells ? file.stx_btime.tv_sec * 1'000'000'000 + file.stx_btime.tv_nsec : 0};
}
std::optional<Identity> identity(const std::string& path) { return identity(AT_FDCWD, path.c_str(), 0); }
std::optional<Identity> identity(int descriptor) { return identity(descriptor, "", AT_EMPTY_PATH); }

void note(const std::optional<Identity>& file, std::string_view role) {
    if (!file) return;
    ReadFiles& files = read_files();
    const std::lock_guard guard(files.lock);
    files.roles.try_emplace(*file, role);
}

std::string_view role_of(const std::optional<Identity>& file) {
    if (!file) return {};
    ReadFiles& files = read_files();
    const std::lock_guard guard(files.lock);
    const auto found = files.roles.find(*file);
    return found == files.roles.end() ? std::string_view{} : found->second;
}

}  // namespace

void note_read(const std::string& path, std::string_view role) { note(identity(path), role); }
void note_read(int descriptor, std::string_view role) { note(identity(descriptor), role); }
std::string_view read_as(const std::string& path) { return role_of(identity(path)); }
std::string_view read_as(int descriptor) { return role_of(identity(descriptor)); }

}  // namespace beamheap::bytes
