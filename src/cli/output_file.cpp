#include "cli/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/terminal.hpp"

namespace beamheap::cli {
namespace {

Error there_already(const std::string& path) {
    return {ErrorCode::usage, fmt::format("{}: there is such a file already", path), "-f overwrites it."};
}

}  // namespace

Status may_write(const std::string& path, bool overwrite) {
    struct stat status {};
    if (path == "-" || lstat(path.c_str(), &status) != 0) return ok();
    if (!S_ISREG(status.st_mode)) return Error{ErrorCode::usage, fmt::format("{}: is no regular file", path), {}};
    if (!overwrite) return there_already(path);
    return ok();
}

Status write_file(const std::string& path, std::string_view text, bool overwrite) {
    if (path == "-") {
        FileSink out(STDOUT_FILENO);
        out.write(text);
        out.flush();
        if (out.error() != 0)
            return Error{ErrorCode::resource_limit, fmt::format("standard output: {}", std::strerror(out.error())), {}};
        return ok();
    }
    constexpr int how = O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    int fd = ::open(path.c_str(), how | O_CREAT | O_EXCL, 0600);
    if (fd < 0 && errno == EEXIST) {
        if (!overwrite) return there_already(path);
        fd = ::open(path.c_str(), how);
    }
    if (fd < 0)
        return Error{errno == ELOOP ? ErrorCode::usage : ErrorCode::unreadable,
                     fmt::format("{}: can't be written: {}", path, std::strerror(errno)),
                     {}};
    struct stat status {};
    Status result = ok();
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        result = Error{ErrorCode::usage, fmt::format("{}: is no regular file", path), {}};
    } else if (ftruncate(fd, 0) != 0) {
        result = Error{ErrorCode::unreadable, fmt::format("{}: can't be emptied: {}", path, std::strerror(errno)), {}};
    } else {
        FileSink sink(fd);
        sink.write(text);
        sink.flush();
        if (sink.error() != 0)
            result = Error{ErrorCode::unreadable, fmt::format("{}: {}", path, std::strerror(sink.error())), {}};
    }
    ::close(fd);
    return result;
}

}  // namespace beamheap::cli
