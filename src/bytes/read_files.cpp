#include "bytes/read_files.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace beamheap::bytes {
namespace {

struct ReadFiles {
    std::mutex lock;
    std::map<std::pair<dev_t, ino_t>, std::string_view> roles;
};
ReadFiles& read_files() {
    static ReadFiles files;
    return files;
}

void note(const struct stat& file, std::string_view role) {
    if (!S_ISREG(file.st_mode)) return;
    ReadFiles& files = read_files();
    const std::lock_guard guard(files.lock);
    files.roles.try_emplace({file.st_dev, file.st_ino}, role);
}

}  // namespace

void note_read(const std::string& path, std::string_view role) {
    struct stat file {};
    if (stat(path.c_str(), &file) == 0) note(file, role);
}

void note_read(int descriptor, std::string_view role) {
    struct stat file {};
    if (fstat(descriptor, &file) == 0) note(file, role);
}

std::string_view read_as(const struct stat& file) {
    if (!S_ISREG(file.st_mode)) return {};
    ReadFiles& files = read_files();
    const std::lock_guard guard(files.lock);
    const auto found = files.roles.find({file.st_dev, file.st_ino});
    return found == files.roles.end() ? std::string_view{} : found->second;
}

std::string_view read_as(const std::string& path) {
    struct stat file {};
    return stat(path.c_str(), &file) == 0 ? read_as(file) : std::string_view{};
}

std::string_view read_as(int descriptor) {
    struct stat file {};
    return fstat(descriptor, &file) == 0 ? read_as(file) : std::string_view{};
}

}  // namespace beamheap::bytes
