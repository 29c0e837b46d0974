// SPDX-License-Identifier: Apache-2.0
// What a process can still do once it has given up its rights: a child that tries is asked.
#include "cli/console/sandbox.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/frame/commands.hpp"
#include "support/places.hpp"

using namespace beamheap;
using cli::enter_sandbox;
using cli::Sandbox;
using cli::sandbox;
using cli::stay_outside;
using cli::StillNeeded;

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

#ifndef BEAMHEAP_NO_SANDBOX
bool seccomp_is_there() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(enter_sandbox({}).seccomp ? 0 : 1);
    int status = 1;
    ::waitpid(child, &status, 0);
    return status == 0;
}
#endif

// What the child has seen of itself, on its way out.
struct Seen {
    bool entered = false, seccomp = false, can_read = false, can_write_what_is_open = false, has_threads = false,
         can_fork = false, looks_into_others = false;
    int landlock = 0;
    std::array<char, 64> got_through{};  // the first attempt that did
};

[[maybe_unused]] Seen child_sees(const StillNeeded& needed) {
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

// ---- within a verb
//
// A hook comes in the middle of a run, as what a made-up input has taken over would: a timer's signal, again and again
// until the process is in the sandbox, in each process that is forked off (the shell answers in one).

namespace {

struct Hooked {
    std::atomic<bool> came{false};
    bool entered = false;
    std::array<char, 96> got_through{};
};
Hooked* hooked = nullptr;
// Made before: what a signal has interrupted may be malloc().
struct HookedAttempt {
    Attempt attempt;
    std::string where;
};
std::vector<HookedAttempt>* hooked_attempts = nullptr;
bool hooked_writes = false;

void arm_hook() {
    const itimerval often{{0, 200}, {0, 200}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
}

extern "C" void hook(int) {
    if (!sandbox().seccomp || hooked->came.exchange(true)) return;
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    hooked->entered = true;
    for (const HookedAttempt& each : *hooked_attempts) {
        // Without Landlock nothing tells one place from another.
        if (hooked_writes && each.attempt.by_landlock && sandbox().landlock < 3) continue;
        if (refused(each.attempt)) continue;
        std::snprintf(hooked->got_through.data(), hooked->got_through.size(), "%s in %s", each.attempt.what,
                      each.where.c_str());
        return;
    }
}

struct VerbRun {
    int status = 0;
    bool came = false;
    std::string got_through;
};

// The verb in a child, with a hook that tries to harm folders, in some of which (true) a file is to be made; what goes
// to its standard output is lost.
VerbRun run_with_hook(std::vector<std::string> words, const std::string& typed,
                      const std::vector<std::pair<std::string, bool> >& folders, bool writes) {
    hooked = static_cast<Hooked*>(
        ::mmap(nullptr, sizeof(Hooked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    REQUIRE(hooked != MAP_FAILED);
    new (hooked) Hooked;
    std::vector<HookedAttempt> all;
    for (const auto& [folder, makes] : folders)  // a file may have one more name where a file is to be made
        for (Attempt& each : attempts(folder))
            if (!makes || std::string_view(each.what) != "link") all.push_back({std::move(each), folder});
    hooked_attempts = &all;
    hooked_writes = writes;
    int input[2];
    REQUIRE(::pipe(input) == 0);
    REQUIRE(::write(input[1], typed.data(), typed.size()) == static_cast<ssize_t>(typed.size()));
    ::close(input[1]);
    std::fflush(stdout);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::dup2(input[0], STDIN_FILENO);
        const int nowhere = ::open("/dev/null", O_WRONLY);
        ::dup2(nowhere, STDOUT_FILENO);
        ::dup2(nowhere, STDERR_FILENO);
        struct sigaction action {};
        action.sa_handler = &hook;
        action.sa_flags = SA_RESTART;
        sigemptyset(&action.sa_mask);
        ::sigaction(SIGALRM, &action, nullptr);
        ::pthread_atfork(nullptr, nullptr, &arm_hook);
        cli::allow_sandbox();
        (void)sandbox();  // its static object is made here, not by the first signal, which may interrupt malloc()
        arm_hook();
        words.insert(words.begin(), "beamheap");
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        ::_exit(cli::run(static_cast<int>(pointers.size()), pointers.data()));
    }
    ::close(input[0]);
    VerbRun result;
    REQUIRE(::waitpid(child, &result.status, 0) == child);
    result.came = hooked->entered;
    result.got_through = hooked->got_through.data();
    ::munmap(hooked, sizeof(Hooked));
    return result;
}

}  // namespace

TEST_CASE(
    "what takes a verb over can neither write, connect nor start anything, but make the file that was asked for") {
    std::array<char, 32> made{"/tmp/beamheap-box.XXXXXX"};
    REQUIRE(::mkdtemp(made.data()) != nullptr);
    const std::string folder = made.data(), elsewhere = folder + "/elsewhere", beside = folder + "/beside",
                      out = beside + "/out";
    for (const std::string& each : {elsewhere, beside}) {
        REQUIRE(::mkdir(each.c_str(), 0700) == 0);
        std::ofstream(each + "/mine") << "content";
    }
    const std::string dump = test::source_dir() + "/fixtures/convoy.dump";
    const std::string ask =
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"analyze","arguments":{}}})"
        "\n";
    struct Verb {
        std::vector<std::string> words;
        std::string typed;
        std::string made;  // empty: nothing is
        int code = 0;
        bool filled = false;
    };
    const std::vector<Verb> verbs{
        {{"analyze", dump, "--full"}, "", ""},
        {{"sql", dump, "SELECT count(*) FROM process"}, "", ""},
        {{"check", dump}, "", "", 1},
        {{"check", dump, "--out", "junit=" + out, "--out", "md=" + out + ".md"}, "", out, 1},
        {{"shell", dump}, "top\nquit\n", ""},
        {{"mcp", dump}, ask, ""},
        {{"mcp", "--root", std::filesystem::path(dump).parent_path().string()}, ask, ""},
        {{"html", dump, "-o", out}, "", out},
        {{"redact", dump, out}, "", out},
        {{"export", dump, out}, "", out},
        {{"export", dump, out, "--to", "heapsnapshot"}, "", out},
        {{"export", dump, out, "--to", "hprof"}, "", out},
        {{"export", dump, out + "/all", "--to", "csv"}, "", out + "/all/dump", 0, true},
    };
    for (const Verb& verb : verbs) {
        std::filesystem::remove_all(out), std::filesystem::remove(out + ".md");
        CAPTURE(verb.words);
        std::vector<std::pair<std::string, bool> > folders{{elsewhere, false}};
        folders.emplace_back(beside, !verb.made.empty() && !verb.filled);
        const VerbRun ran = run_with_hook(verb.words, verb.typed, folders, !verb.made.empty());
        CHECK((WIFEXITED(ran.status) && WEXITSTATUS(ran.status) == verb.code));
        CHECK((ran.came || !seccomp_is_there()));
        CHECK(ran.got_through == "");
        if (!verb.made.empty()) CHECK(std::filesystem::exists(verb.made));
        std::size_t left = 0;  // "mine", and what was made
        for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(beside)) ++left;
        CHECK(left == (verb.made.empty() ? 1u : std::filesystem::exists(out + ".md") ? 3u : 2u));
    }
    std::filesystem::remove_all(folder);
}

TEST_CASE("the file that was named is replaced by -f in the sandbox, too") {
    std::array<char, 32> made{"/tmp/beamheap-box.XXXXXX"};
    REQUIRE(::mkdtemp(made.data()) != nullptr);
    const std::string folder = made.data(), out = folder + "/out";
    std::ofstream(out) << "old";
    const VerbRun ran =
        run_with_hook({"html", test::source_dir() + "/fixtures/convoy.dump", "-f", "-o", out}, "", {}, true);
    CHECK((WIFEXITED(ran.status) && WEXITSTATUS(ran.status) == 0));
    CHECK(std::filesystem::file_size(out) > 1000);
    std::filesystem::remove_all(folder);
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
