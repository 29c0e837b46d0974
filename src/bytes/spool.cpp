// SPDX-License-Identifier: Apache-2.0
#include "bytes/spool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "bytes/descriptor.hpp"

namespace beamheap::bytes {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t window = 1 << 20;

int temporary_file(const std::string& folder) {
    const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    std::string name = folder + "/beamheap-XXXXXX";
    const int named = mkostemp(name.data(), O_CLOEXEC);
    if (named >= 0) unlink(name.c_str());
    return named;
}

const std::string& temporary_folder() {
    static const std::string folder = [] {
        const char* chosen = std::getenv("TMPDIR");
        return std::string(chosen != nullptr && *chosen != '\0' ? chosen : "/tmp");
    }();
    return folder;
}

// Files that were opened before they are needed, and of those that could not be: why.
struct Reserved {
    std::mutex lock;
    std::vector<std::pair<int, int>> files;  // the descriptor, errno
};
Reserved& reserved() {
    static Reserved files;
    return files;
}

// Where lend_temporary_files() listens; -1: nowhere.
int lender = -1;

// A descriptor and a byte, or errno in place of both, to the other end of a socket. A message has room for one.
union Enclosed {
    cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
};

void send_temporary_file(int socket) {
    const int descriptor = temporary_file(temporary_folder());
    int error = descriptor < 0 ? errno : 0;
    iovec piece{&error, sizeof error};
    Enclosed enclosed{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        message.msg_control = enclosed.room;
        message.msg_controllen = sizeof enclosed.room;
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    (void)sendmsg(socket, &message, MSG_NOSIGNAL);
    if (descriptor >= 0) ::close(descriptor);
}

[[noreturn]] void lend(int socket) {
    ::prctl(PR_SET_NAME, "beamheap-files");
    ::signal(SIGINT, SIG_IGN);  // which may end a question alone
    for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(each);
    close_all_but({socket});
    char asked = 0;
    for (;;) {
        const ssize_t got = ::recv(socket, &asked, 1, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got != 1) ::_exit(0);
        send_temporary_file(socket);
    }
}

int borrow_temporary_file() {
    static std::mutex lock;
    const std::lock_guard guard(lock);
    if (::send(lender, "f", 1, MSG_NOSIGNAL) != 1) return -1;
    int error = EIO;
    iovec piece{&error, sizeof error};
    Enclosed enclosed{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = enclosed.room;
    message.msg_controllen = sizeof enclosed.room;
    ssize_t got = 0;
    do got = ::recvmsg(lender, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    const cmsghdr* const header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    int descriptor = -1;
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS)
        std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    errno = error;
    return descriptor;
}

// One that was reserved, else a new one; -1 with errno.
int take_temporary_file() {
    if (lender >= 0) return borrow_temporary_file();
    {
        const std::lock_guard guard(reserved().lock);
        if (auto& files = reserved().files; !files.empty()) {
            const auto [descriptor, error] = files.back();
            files.pop_back();
            errno = error;
            return descriptor;
        }
    }
    return temporary_file(temporary_folder());
}

bool is_zero(const char* data, std::size_t size) { return data[0] == 0 && std::memcmp(data, data + 1, size - 1) == 0; }

bool write_all(int fd, const char* data, std::size_t size, std::uint64_t at) {
    while (size != 0) {
        const ssize_t done = pwrite(fd, data, size, static_cast<off_t>(at));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        data += done;
        at += static_cast<std::uint64_t>(done);
        size -= static_cast<std::size_t>(done);
    }
    return true;
}

}  // namespace

void reserve_temporary_files(std::size_t count) {
    const std::lock_guard guard(reserved().lock);
    for (; count != 0; --count) {
        const int descriptor = temporary_file(temporary_folder());
        reserved().files.emplace_back(descriptor, descriptor < 0 ? errno : 0);
    }
}

void lend_temporary_files() {
    int ends[2];
    if (lender >= 0 || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::close(ends[0]);
        lend(ends[1]);
    }
    ::close(ends[1]);
    if (pid < 0) ::close(ends[0]);
    else lender = ends[0];
}

Result<MappedFile> spool(Source& source, const std::string& name,
                         const std::function<void(std::uint64_t, std::uint64_t)>& told) {
    const std::string& folder = temporary_folder();
    const Descriptor file(take_temporary_file());
    const auto fail = [&](std::uint64_t at) {
        const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
        return Error{full ? ErrorCode::resource_limit : ErrorCode::unreadable,
                     fmt::format("{}: {}, after {} bytes of it went to a temporary file in {}", name,
                                 std::strerror(errno), at, folder),
                     "Set TMPDIR to a folder with more space, or decompress it by hand."};
    };
    if (file.get() < 0) return fail(0);
    std::vector<char> buffer(window);
    std::uint64_t at = 0;
    for (;;) {
        std::size_t have = 0;
        while (have < buffer.size()) {
            BH_TRY(const std::size_t got, source.read(std::span(buffer).subspan(have)));
            if (got == 0) break;
            have += got;
        }
        if (have == 0) break;
        for (std::size_t from = 0; from < have;) {
            // Runs of pages of one kind: zeros are skipped, anything else is written in one go.
            std::size_t to = from;
            const bool zero = is_zero(buffer.data() + from, std::min(page, have - from));
            do to = std::min(have, to + page);
            while (to < have && is_zero(buffer.data() + to, std::min(page, have - to)) == zero);
            if (!zero && !write_all(file.get(), buffer.data() + from, to - from, at + from)) return fail(at + from);
            from = to;
        }
        at += have;
        if (told) told(source.stored_position(), source.stored_size());
    }
    if (ftruncate(file.get(), static_cast<off_t>(at)) != 0) return fail(at);
    return MappedFile::map(file.get(), name);
}

}  // namespace beamheap::bytes
