// SPDX-License-Identifier: Apache-2.0
#include "cli/console/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <list>
#include <random>
#include <utility>
#include <vector>

#include "bytes/descriptor.hpp"
#include "bytes/failed_reads.hpp"
#include "bytes/read_files.hpp"
#include "cli/console/terminal.hpp"

namespace beamheap::cli {
namespace {

constexpr std::string_view standard_output = "-";
constexpr std::size_t held_bytes = 256 * 1024;  // gathered before they are written

// The kernel's names of open files, by which one without a name is given one; a system may have none (chroot).
constexpr const char* open_files = "/proc/self/fd";

Error there_already(const std::string& path) {
    return {ErrorCode::usage, fmt::format("{}: there is such a file already", path), "-f overwrites it."};
}

Error unwritable(const std::string& path, int error) {
    const bool output = path == standard_output;
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return {output || full ? ErrorCode::resource_limit : ErrorCode::unreadable,
            fmt::format("{}: can't be written: {}", output ? "standard output" : path, std::strerror(error)),
            {}};
}

// Names of files that are being written, for a signal's handler: who ends the program takes them away.
struct PartialName {
    std::atomic<bool> there{false};
    std::array<char, 4096> name{};
};
std::array<PartialName, 32> partial_names;

void end_by(int signal) {
    remove_partial_files();
    ::signal(signal, SIG_DFL);
    ::raise(signal);  // when this returns
}

// Signals that are ignored stay as they are; SIGINT has a handler (terminal.cpp), which does the same.
void remove_when_ended(const std::string& name) {
    for (const int signal : {SIGTERM, SIGHUP, SIGQUIT}) {
        struct sigaction now {};
        if (::sigaction(signal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL)
            continue;
        now.sa_handler = &end_by;
        ::sigaction(signal, &now, nullptr);
    }
    for (PartialName& each : partial_names) {
        if (each.there.load() || name.size() >= each.name.size()) continue;
        std::ranges::copy(name, each.name.begin());
        each.name[name.size()] = '\0';
        each.there.store(true);
        return;
    }
}

void leave_when_ended(const std::string& name) {
    for (PartialName& each : partial_names)
        if (each.there.load() && name == each.name.data()) each.there.store(false);
}

std::string random_letters() {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static std::random_device device;
    std::string text;
    for (unsigned i = 0; i < 6; ++i) text += letters[device() % letters.size()];
    return text;
}

// A name beside `path` that does not exist yet, at which `make` makes a file: it returns a number from 0 on, or -1 with
// errno. The name begins with a dot: who reads all files of a folder (ls, Spark) leaves out what is not whole, and what
// an end by force left. A signal's handler knows the name before there is such a file, so that none is left whenever
// the signal comes.
template <class Make>
Result<int> make_beside(const std::string& path, std::string& name, Make make) {
    const std::size_t folder = path.rfind('/') + 1;  // 0: none is named
    for (unsigned tries = 0;; ++tries) {
        name = path.substr(0, folder) + '.' + path.substr(folder) + '.' + random_letters();
        remove_when_ended(name);
        const int made = make(name.c_str());
        if (made >= 0) return made;
        const int error = errno;
        leave_when_ended(name);
        if (error != EEXIST || tries == 100) return unwritable(path, error);
    }
}

Result<int> create_beside(const std::string& path, std::string& name) {
    return make_beside(path, name, [](const char* made) {
        return ::open(made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    });
}

// A file without a name in the folder of `path`, which goes with the program however that ends; -1 where the file
// system or the kernel has none.
int create_nameless(const std::string& path) {
    const std::size_t end = path.rfind('/');
    const std::string folder = end == path.npos ? "." : path.substr(0, end + 1);
    return ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

// What a folder's file system finds out at the end alone (a quota, NFS), before the file has a name.
int flush_to_system(int fd) {
    const int other = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return other < 0 || ::close(other) == 0 ? 0 : errno;
}

// Gives a nameless file its name. A link is never made over a file; where that is wanted, one beside is renamed.
Status name_file(int fd, const std::string& path, bool overwrite) {
    const std::string open_file = fmt::format("{}/{}", open_files, fd);
    const auto link = [&](const char* name) {
        return ::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
    };
    if (const int error = flush_to_system(fd); error != 0) return unwritable(path, error);
    if (link(path.c_str()) == 0) return ok();
    if (errno != EEXIST) return unwritable(path, errno);
    if (!overwrite) return there_already(path);
    std::string name;
    BH_TRY([[maybe_unused]] const int linked, make_beside(path, name, link));
    const int error = ::rename(name.c_str(), path.c_str()) == 0 ? 0 : errno;
    if (error != 0) ::unlink(name.c_str());
    leave_when_ended(name);
    if (error != 0) return unwritable(path, error);
    return ok();
}

// Gives a file that has a name of its own the one that it is to have.
Status rename_file(const std::string& partial, const std::string& path, bool overwrite) {
    int error = 0;
    bool renamed = overwrite;
    // A link, unlike a new name, is never made over a file that came in between; some file systems have none.
    if (!overwrite && ::link(partial.c_str(), path.c_str()) != 0) {
        if (errno != EPERM && errno != EOPNOTSUPP) error = errno;
        renamed = error == 0;
    }
    if (error == 0 && renamed && ::rename(partial.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0 || !renamed) ::unlink(partial.c_str());
    leave_when_ended(partial);
    if (error == EEXIST) return there_already(path);
    if (error != 0) return unwritable(path, error);
    return ok();
}

// What was made before it was asked for, by the output's path.
struct Prepared {
    std::string path;
    Result<OutputFile> file;
};
std::list<Prepared>& prepared_outputs() {
    static std::list<Prepared> files;
    return files;
}
std::list<std::pair<std::string, Aside>>& prepared_asides() {
    static std::list<std::pair<std::string, Aside>> files;
    return files;
}

template <class Files>
auto find_prepared(Files& files, const std::string& path) {
    return std::ranges::find_if(files, [&](const auto& each) {
        if constexpr (requires { each.path; }) return each.path == path;
        else return each.first == path;
    });
}

}  // namespace

PreparedOutput prepare_output(const std::string& path, bool overwrite, std::size_t asides) {
    const std::size_t end = path.rfind('/');
    PreparedOutput made{end == path.npos ? "." : path.substr(0, end + 1), overwrite};
    if (!may_write(path, overwrite)) return made;  // which create() says again
    auto file = OutputFile::create(path, overwrite);
    if (file && file->is_named()) made.removes = true;
    std::list<std::pair<std::string, Aside>> made_asides;  // create() would give the first one back
    for (; file && asides != 0; --asides)
        if (auto aside = Aside::create(path)) made_asides.emplace_back(path, std::move(*aside));
    prepared_asides().splice(prepared_asides().end(), made_asides);
    prepared_outputs().push_back({path, std::move(file)});
    return made;
}

namespace {

// The process that takes away what prepare_folder() made, once this end is closed. -1: there is none.
struct FolderKeeper {
    int end = -1;
    pid_t pid = -1;
};
FolderKeeper& folder_keeper() {
    static FolderKeeper keeper;
    return keeper;
}

// Waits until nobody holds the other end any more. Folders that have something in them stay.
[[noreturn]] void keep_folders(int end, const std::vector<std::string>& folders) {
    ::prctl(PR_SET_NAME, "beamheap-folder");
    ::signal(SIGINT, SIG_IGN);
    for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(each);
    bytes::close_all_but({end});
    char byte = 0;
    while (::read(end, &byte, 1) < 0 && errno == EINTR) {
    }
    for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) ::rmdir(folder->c_str());
    ::_exit(0);
}

}  // namespace

Status prepare_folder(const std::string& path) {
    std::vector<std::string> made;
    for (std::size_t end = 0; end != path.npos;) {
        end = path.find('/', end + 1);
        const std::string so_far = path.substr(0, end);
        if (!so_far.empty() && ::access(so_far.c_str(), F_OK) != 0) made.push_back(so_far);
    }
    BH_CHECK(make_folder(path));
    int ends[2];
    if (made.empty() || folder_keeper().pid > 0 || ::pipe2(ends, O_CLOEXEC) != 0) return ok();
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::close(ends[1]);
        keep_folders(ends[0], made);
    }
    ::close(ends[0]);
    if (pid < 0) ::close(ends[1]);
    else folder_keeper() = {ends[1], pid};
    return ok();
}

void forget_prepared_outputs() {
    prepared_outputs().clear();
    prepared_asides().clear();
    if (FolderKeeper& keeper = folder_keeper(); keeper.pid > 0) {
        ::close(keeper.end);
        while (::waitpid(keeper.pid, nullptr, 0) < 0 && errno == EINTR) {
        }
        keeper = {};
    }
}

void remove_partial_files() {
    for (const PartialName& each : partial_names)
        if (each.there.load()) ::unlink(each.name.data());
}

Status may_write(const std::string& path, bool overwrite) {
    const bool output = path == standard_output;
    const std::string_view role = output ? bytes::read_as(STDOUT_FILENO) : bytes::read_as(path);
    if (!role.empty())
        return Error{ErrorCode::usage,
                     fmt::format("{} is {}, which would be lost", output ? "standard output" : path + ":", role),
                     output ? "Name another file. What stands behind `>` is emptied by the shell itself, before this."
                            : "Name another file."};
    struct stat status {};
    if (output || lstat(path.c_str(), &status) != 0) return ok();
    if (!S_ISREG(status.st_mode)) return Error{ErrorCode::usage, fmt::format("{}: is no regular file", path), {}};
    if (!overwrite) return there_already(path);
    return ok();
}

Result<OutputFile> OutputFile::create(const std::string& path, bool overwrite) {
    BH_CHECK(may_write(path, overwrite));
    if (path == standard_output) return OutputFile(path, {}, overwrite, STDOUT_FILENO);
    if (const auto ready = find_prepared(prepared_outputs(), path); ready != prepared_outputs().end()) {
        Result<OutputFile> file = std::move(ready->file);
        prepared_outputs().erase(ready);
        return file;
    }
    if (::access(open_files, F_OK) == 0)
        if (const int fd = create_nameless(path); fd >= 0) return OutputFile(path, {}, overwrite, fd);
    return create_named(path, overwrite);
}

Result<OutputFile> OutputFile::create_named(const std::string& path, bool overwrite) {
    BH_CHECK(may_write(path, overwrite));
    std::string partial;
    BH_TRY(const int fd, create_beside(path, partial));
    return OutputFile(path, std::move(partial), overwrite, fd);
}

OutputFile::OutputFile(std::string path, std::string partial, bool overwrite, int fd)
    : path_(std::move(path)), partial_(std::move(partial)), overwrite_(overwrite), fd_(fd) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      partial_(std::move(other.partial_)),
      overwrite_(other.overwrite_),
      fd_(std::exchange(other.fd_, -1)),
      held_(std::move(other.held_)) {}

OutputFile::~OutputFile() {
    if (fd_ < 0 || path_ == standard_output) return;
    ::close(fd_);
    if (partial_.empty()) return;
    ::unlink(partial_.c_str());
    leave_when_ended(partial_);
}

Status OutputFile::flush() {
    // A pipe that nobody reads any more has what its reader wanted.
    const int error = write_all(fd_, held_);
    if (error != 0 && !(error == EPIPE && path_ == standard_output)) return unwritable(path_, error);
    held_.clear();
    return ok();
}

Status OutputFile::write(std::string_view piece) {
    held_ += piece;
    return held_.size() < held_bytes ? ok() : flush();
}

Status OutputFile::finish() {
    BH_CHECK(bytes::failed_read());  // what is written would be of a part of the input
    BH_CHECK(flush());
    if (path_ == standard_output) {
        fd_ = -1;
        return ok();
    }
    BH_CHECK(may_write(path_, overwrite_));  // what was read meanwhile is known now
    if (partial_.empty()) return name_file(fd_, path_, overwrite_);
    if (::close(std::exchange(fd_, -1)) == 0) return rename_file(partial_, path_, overwrite_);
    const int error = errno;
    ::unlink(partial_.c_str());
    leave_when_ended(partial_);
    return unwritable(path_, error);
}

Aside::Aside(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
Aside::Aside(Aside&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
Aside::~Aside() {
    if (fd_ >= 0) ::close(fd_);
}

Result<Aside> Aside::create(const std::string& beside) {
    if (const auto ready = find_prepared(prepared_asides(), beside); ready != prepared_asides().end()) {
        Aside file = std::move(ready->second);
        prepared_asides().erase(ready);
        return file;
    }
    if (const int fd = create_nameless(beside); fd >= 0) return Aside(fd, beside);
    std::string name;
    BH_TRY(const int fd, create_beside(beside, name));
    ::unlink(name.c_str());
    leave_when_ended(name);
    return Aside(fd, beside);
}

Status Aside::write(std::string_view bytes) const {
    if (const int error = write_all(fd_, bytes); error != 0) return unwritable(path_, error);
    return ok();
}

Status Aside::copy_to(OutputFile& file) const {
    std::string piece(std::size_t{1} << 20, '\0');
    for (off_t at = 0;;) {
        const ssize_t got = ::pread(fd_, piece.data(), piece.size(), at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return unwritable(path_, errno);
        if (got == 0) return ok();
        BH_CHECK(file.write(std::string_view(piece).substr(0, static_cast<std::size_t>(got))));
        at += got;
    }
}

Status make_folder(const std::string& path) {
    for (std::size_t end = 0; end != path.npos;) {
        end = path.find('/', end + 1);
        const std::string so_far = path.substr(0, end);
        if (!so_far.empty() && ::mkdir(so_far.c_str(), 0700) != 0 && errno != EEXIST)
            return Error{ErrorCode::unreadable, fmt::format("{}: can't be made: {}", so_far, std::strerror(errno)), {}};
    }
    return ok();
}

Status write_file(const std::string& path, std::string_view text, bool overwrite) {
    BH_TRY(OutputFile file, OutputFile::create(path, overwrite));
    BH_CHECK(file.write(text));
    return file.finish();
}

}  // namespace beamheap::cli
