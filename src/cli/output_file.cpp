#include "cli/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/terminal.hpp"

namespace beamheap::cli {
namespace {

Error there_already(const std::string& path) {
    return {ErrorCode::usage, fmt::format("{}: there is such a file already", path), "-f overwrites it."};
}

Error unwritable(const std::string& path, int error) {
    return {ErrorCode::unreadable, fmt::format("{}: can't be written: {}", path, std::strerror(error)), {}};
}

// A new file with a name of its own in the same folder; gives its descriptor and its name.
Result<int> create_beside(const std::string& path, std::string& name) {
    name = path + ".XXXXXX";
    const int fd = ::mkostemp(name.data(), O_CLOEXEC);  // mode 0600
    if (fd < 0) return unwritable(path, errno);
    return fd;
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
    BH_CHECK(may_write(path, overwrite));
    std::string partial;
    BH_TRY(const int fd, create_beside(path, partial));
    FileSink sink(fd);
    sink.write(text);
    sink.flush();
    int error = sink.error();
    if (::close(fd) != 0 && error == 0) error = errno;
    bool renamed = overwrite;
    // A link, unlike a new name, is never made over a file that came in between; some file systems have none.
    if (error == 0 && !overwrite && ::link(partial.c_str(), path.c_str()) != 0) {
        if (errno != EPERM && errno != EOPNOTSUPP) error = errno;
        renamed = error == 0;
    }
    if (error == 0 && renamed && ::rename(partial.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0 || !renamed) ::unlink(partial.c_str());
    if (error == EEXIST) return there_already(path);
    if (error != 0) return unwritable(path, error);
    return ok();
}

}  // namespace beamheap::cli
