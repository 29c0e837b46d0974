// SPDX-License-Identifier: Apache-2.0
// What a process can still do once it has given up its rights: a child that tries is asked.
#include "cli/sandbox.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace beamheap;
using namespace beamheap::cli;

namespace {

struct Attempt {
    const char* what;
    std::function<long()> call;  // -1, or what nobody may have
    bool by_landlock;            // refused by that, too, where there is no filter
};

bool refused(const Attempt& attempt) {
    errno = 0;
    return attempt.call() == -1 && (errno == EPERM || errno == EACCES || errno == ENOSYS);
}

std::vector<Attempt> attempts(const std::string& folder) {
    const std::string mine = folder + "/mine", other = folder + "/other";
    const auto open_as = [mine](int flags) {
        return [mine, flags] { return static_cast<long>(::open(mine.c_str(), flags, 0600)); };
    };
    std::vector<Attempt> all{
        {"open for writing", open_as(O_WRONLY), true},
        {"open for both", open_as(O_RDWR), true},
        {"empty a file by opening it for reading", open_as(O_RDONLY | O_TRUNC), true},
        {"make a file", [other] { return static_cast<long>(::open(other.c_str(), O_RDONLY | O_CREAT, 0600)); }, true},
        {"make one without a name",
         [folder] { return static_cast<long>(::open(folder.c_str(), O_TMPFILE | O_RDWR, 0600)); }, true},
        {"truncate", [mine] { return static_cast<long>(::truncate(mine.c_str(), 0)); }, true},
        {"unlink", [mine] { return static_cast<long>(::unlink(mine.c_str())); }, true},
        {"rename", [mine, other] { return static_cast<long>(::rename(mine.c_str(), other.c_str())); }, true},
        {"link", [mine, other] { return static_cast<long>(::link(mine.c_str(), other.c_str())); }, true},
        {"symlink", [mine, other] { return static_cast<long>(::symlink(mine.c_str(), other.c_str())); }, true},
        {"mkdir", [other] { return static_cast<long>(::mkdir(other.c_str(), 0700)); }, true},
        {"chmod", [mine] { return static_cast<long>(::chmod(mine.c_str(), 0777)); }, false},
        {"a program",
         [] {
             char name[] = "true";
             char* words[] = {name, nullptr};
             ::execv("/bin/true", words);
             return -1L;
         },
         true},
        {"a socket of the Internet", [] { return static_cast<long>(::socket(AF_INET, SOCK_STREAM, 0)); }, false},
        {"a datagram", [] { return static_cast<long>(::socket(AF_INET, SOCK_DGRAM, 0)); }, false},
        {"a socket of this machine", [] { return static_cast<long>(::socket(AF_UNIX, SOCK_STREAM, 0)); }, false},
        {"io_uring", [] { return syscall(SYS_io_uring_setup, 4, nullptr); }, false},
        {"openat2", [mine] { return syscall(437, AT_FDCWD, mine.c_str(), nullptr, 0); }, false},
        {"tracing its parent", [] { return ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr); }, true},
        {"letters typed into a terminal", [] { return static_cast<long>(::ioctl(0, TIOCSTI, "x")); }, false},
        {"a call that nobody knows", [] { return syscall(0x3FFFFFFF); }, false},
    };
    return all;
}

// What the child has seen of itself, on its way out.
struct Seen {
    bool entered = false, seccomp = false, can_read = false, can_write_what_is_open = false, has_threads = false,
         can_fork = false, looks_into_others = false;
    int landlock = 0;
    std::array<char, 64> got_through{};  // the first attempt that did
};

Seen child_sees(const StillNeeded& needed) {
    std::array<char, 32> made{"/tmp/beamheap-box.XXXXXX"};
    REQUIRE(::mkdtemp(made.data()) != nullptr);
    const std::string folder = made.data();
    std::ofstream(folder + "/mine") << "content";
    auto* seen =
        static_cast<Seen*>(::mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    REQUIRE(seen != MAP_FAILED);
    *seen = Seen{};
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const int open_before = ::open((folder + "/mine").c_str(), O_WRONLY | O_APPEND);
        const Sandbox box = enter_sandbox(needed);
        seen->entered = box.active();
        seen->seccomp = box.seccomp;
        seen->landlock = box.landlock;
        for (const Attempt& each : attempts(folder)) {
            const bool expected = box.seccomp || (box.landlock >= 3 && each.by_landlock);
            const bool traces = needed.other_processes && std::string(each.what) == "tracing its parent";
            if (!expected || traces || refused(each)) continue;
            std::snprintf(seen->got_through.data(), seen->got_through.size(), "%s", each.what);
            break;
        }
        std::ifstream file(folder + "/mine");
        std::string text;
        file >> text;
        seen->can_read = text == "content";
        seen->can_write_what_is_open = ::write(open_before, "!", 1) == 1;
        std::thread([seen] { seen->has_threads = true; }).join();
        const pid_t grandchild = ::fork();
        if (grandchild == 0) ::_exit(0);
        seen->can_fork = grandchild > 0 && ::waitpid(grandchild, nullptr, 0) == grandchild;
        char byte = 'x', copy = 0;
        const iovec to{&copy, 1}, from{&byte, 1};
        seen->looks_into_others = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) == 1;
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    const Seen result = *seen;
    ::munmap(seen, sizeof(Seen));
    std::filesystem::remove_all(folder);
    return result;
}

}  // namespace

#ifdef BEAMHEAP_NO_SANDBOX
TEST_CASE("a build that writes files of its own gives nothing up, and says so") {
    const Sandbox box = enter_sandbox({});
    CHECK_FALSE(box.active());
    CHECK(box.why_not == "this build writes files of its own");
}
#else
TEST_CASE("once rights are given up, nothing is written, connected to, or started") {
    const Seen seen = child_sees({});
    CHECK(std::string(seen.got_through.data()) == "");
    CHECK(seen.can_read);
    CHECK(seen.can_write_what_is_open);
    CHECK(seen.has_threads);
    CHECK(seen.can_fork);
    if (seen.seccomp) CHECK_FALSE(seen.looks_into_others);
}

TEST_CASE("of a running VM the memory can still be read, and no more") {
    const Seen seen = child_sees({.other_processes = true});
    CHECK(std::string(seen.got_through.data()) == "");
    CHECK(seen.landlock == 0);
    CHECK(seen.looks_into_others);
}
#endif

TEST_CASE("whoever does not give up rights says why") {
    CHECK_FALSE(sandbox().active());  // of this process
    stay_outside("a file is written");
    CHECK(sandbox().why_not == "a file is written");
}
