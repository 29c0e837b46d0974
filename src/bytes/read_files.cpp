// SPDX-License-Identifier: Apache-2.0
#include "bytes/read_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace beamheap::bytes {
namespace {

// Device and inode, and when it was born, in nanoseconds: a file that is removed leaves its inode to another one. 0
// where that can't be told, which may be any file with the inode.
using Place = std::pair<std::uint64_t, std::uint64_t>;
struct Identity {
    Place place;
    std::int64_t born_ns = 0;
};

struct Noted {
    std::int64_t born_ns;
    std::string_view role;
    bool is(const Identity& file) const { return born_ns == 0 || file.born_ns == 0 || born_ns == file.born_ns; }
};

struct ReadFiles {
    std::mutex lock;
    std::multimap<Place, Noted> files;
    const Noted* find(const Identity& file) const {
        for (auto [at, end] = files.equal_range(file.place); at != end; ++at)
            if (at->second.is(file)) return &at->second;
        return nullptr;
    }
};
ReadFiles& read_files() {
    static ReadFiles files;
    return files;
}

Place place_of(std::uint64_t major, std::uint64_t minor, std::uint64_t inode) { return {major << 32 | minor, inode}; }

std::optional<Identity> identity(int folder, const char* path, int flags) {
    struct statx file {};
    if (statx(folder, path, flags, STATX_TYPE | STATX_INO | STATX_BTIME, &file) == 0) {
        if (!S_ISREG(file.stx_mode)) return std::nullopt;
        const bool tells = (file.stx_mask & STATX_BTIME) != 0;
        return Identity{place_of(file.stx_dev_major, file.stx_dev_minor, file.stx_ino),
                        tells ? file.stx_btime.tv_sec * 1'000'000'000 + file.stx_btime.tv_nsec : 0};
    }
    struct stat other {};  // a kernel, or what stands before it, may not know the call
    if (fstatat(folder, path, &other, flags) != 0 || !S_ISREG(other.st_mode)) return std::nullopt;
    return Identity{place_of(major(other.st_dev), minor(other.st_dev), other.st_ino), 0};
}
std::optional<Identity> identity(const std::string& path) { return identity(AT_FDCWD, path.c_str(), 0); }
std::optional<Identity> identity(int descriptor) { return identity(descriptor, "", AT_EMPTY_PATH); }

void note(const std::optional<Identity>& file, std::string_view role) {
    if (!file) return;
    ReadFiles& read = read_files();
    const std::lock_guard guard(read.lock);
    if (read.find(*file) == nullptr) read.files.emplace(file->place, Noted{file->born_ns, role});
}

std::string_view role_of(const std::optional<Identity>& file) {
    if (!file) return {};
    const ReadFiles& read = read_files();
    const std::lock_guard guard(read_files().lock);
    const Noted* const found = read.find(*file);
    return found == nullptr ? std::string_view{} : found->role;
}

}  // namespace

void note_read(const std::string& path, std::string_view role) { note(identity(path), role); }
void note_read(int descriptor, std::string_view role) { note(identity(descriptor), role); }
std::string_view read_as(const std::string& path) { return role_of(identity(path)); }
std::string_view read_as(int descriptor) { return role_of(identity(descriptor)); }

}  // namespace beamheap::bytes
