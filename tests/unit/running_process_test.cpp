// SPDX-License-Identifier: Apache-2.0
// Reading a process that runs: ranges that are there, ranges that are not, and who may be read at all.
#include "bytes/running_process.hpp"

#include <linux/sched.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "bytes/thread_wait.hpp"
#include "formats/otp/running_vms.hpp"

using namespace beamheap;
using namespace beamheap::bytes;

namespace {

// A child that sleeps until it is ended, with all memory that this program had.
class Child {
public:
    Child() : pid_(::fork()) {
        if (pid_ == 0)
            for (;;) ::pause();
    }
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
    void kill() const { ::kill(pid_, SIGKILL); }
    void end() {
        if (pid_ <= 0) return;
        kill();
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

private:
    pid_t pid_;
};

constexpr std::size_t page_bytes = 4096;

// Four pages of which the third is not mapped.
struct Pages {
    std::byte* data = static_cast<std::byte*>(
        ::mmap(nullptr, 4 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    Pages() {
        for (std::size_t i = 0; i < 4 * page_bytes; ++i) data[i] = static_cast<std::byte>(i * 7 + i / page_bytes);
        ::munmap(data + 2 * page_bytes, page_bytes);
    }
    ~Pages() { ::munmap(data, 4 * page_bytes); }
    std::uint64_t address(std::size_t offset) const { return reinterpret_cast<std::uint64_t>(data + offset); }
};

}  // namespace

TEST_CASE("many ranges of a running process are read at once; what is not mapped makes a piece short", "[live]") {
    const Pages pages;
    const Child child;
    auto attached = RunningProcess::attach(child.pid());
    if (!attached) {  // a sandbox that forbids it: the reason is a sentence
        WARN(attached.error().message);
        REQUIRE_FALSE(attached.error().message.empty());
        return;
    }
    const RunningProcess& process = *attached;
    std::vector<std::vector<std::byte>> room;
    std::vector<MemoryPiece> pieces;
    constexpr std::size_t many = 3000;  // more than one call takes
    for (std::size_t i = 0; i < many; ++i) room.emplace_back(16);
    for (std::size_t i = 0; i < many; ++i) pieces.push_back({pages.address(i % 500 * 8), room[i]});
    std::vector<std::byte> across(2 * page_bytes), beyond(64), last(64), nowhere(8);
    pieces.insert(pieces.begin() + 10, {pages.address(page_bytes + 100), across});    // runs into the gap
    pieces.insert(pieces.begin() + 20, {pages.address(2 * page_bytes + 8), beyond});  // in it
    pieces.insert(pieces.begin() + 30, {8, nowhere});
    pieces.push_back({pages.address(3 * page_bytes), last});
    process.read(pieces);
    CHECK(pieces[10].got == page_bytes - 100);
    CHECK(std::memcmp(across.data(), pages.data + page_bytes + 100, pieces[10].got) == 0);
    CHECK(pieces[20].got == 0);
    CHECK(pieces[30].got == 0);
    CHECK(process.faults() == 3);
    std::size_t right = 0;
    for (const MemoryPiece& piece : pieces)
        right += piece.whole() &&
                 std::memcmp(piece.into.data(), reinterpret_cast<const void*>(piece.address), piece.got) == 0;
    CHECK(right == many + 1);
    CHECK_FALSE(process.gone());
    CHECK(process.executable_name().find("unit_tests") != std::string::npos);
    CHECK(process.threads().size() == 1);
}

TEST_CASE("a process that ends while it is read is told", "[live]") {
    const Pages pages;
    Child child;
    auto process = RunningProcess::attach(child.pid());
    if (!process) return;
    std::vector<std::byte> bytes(8);
    CHECK(process->read(pages.address(0), bytes) == 8);
    child.kill();
    while (!process->gone()) ::usleep(1000);  // nobody has waited for it: its pid is still its own
    CHECK(process->read(pages.address(0), bytes) == 0);
    const auto again = RunningProcess::attach(child.pid());
    REQUIRE_FALSE(again);
    CHECK(again.error().message.find("has ended") != std::string::npos);
    child.end();
    CHECK(process->gone());
}

TEST_CASE("another process that has got the pid of one that ended is not that one", "[live]") {
    const Pages pages;
    Child first;
    auto process = RunningProcess::attach(first.pid());
    if (!process) return;
    auto pid = static_cast<pid_t>(first.pid());
    first.end();
    ::usleep(30000);  // processes are told apart by when they began, in hundredths of a second
    clone_args arguments{};
    arguments.exit_signal = SIGCHLD;
    arguments.set_tid = reinterpret_cast<std::uint64_t>(&pid);
    arguments.set_tid_size = 1;
    const long second = ::syscall(SYS_clone3, &arguments, sizeof arguments);
    if (second == 0)
        for (;;) ::pause();
    if (second < 0) return;  // it takes a right, and that nobody else was given the pid meanwhile
    CHECK(second == pid);
    CHECK(process->gone());
    CHECK(RunningProcess::attach(static_cast<std::uint32_t>(pid)));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
}

TEST_CASE("this program itself, nobody, and a thread of the kernel are no processes to be read", "[live]") {
    const auto self = RunningProcess::attach(static_cast<std::uint32_t>(::getpid()));
    REQUIRE_FALSE(self);
    CHECK(self.error().code == ErrorCode::usage);
    const auto nobody = RunningProcess::attach(0x7ffffff0);
    REQUIRE_FALSE(nobody);
    CHECK(nobody.error().code == ErrorCode::unreadable);
    CHECK(nobody.error().message.find("no process") != std::string::npos);
}

TEST_CASE("lines of /proc/PID/maps", "[live]") {
    const auto all = parse_mappings(
        "55d0c0000000-55d0c0001000 r--p 00002000 fd:01 1234                       /usr/lib/a b (deleted)\n"
        "7f0000000000-7f0000004000 r-xs 00000000 00:01 77 /memfd:vmem (deleted)\n"
        "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\n"
        "no such line\n"
        "7f0000010000-7f0000010000 rw-p 00000000 00:00 0\n"
        "7f0000020000-7f0000030000 ---p 00000000 00:00 0 \n");
    REQUIRE(all.size() == 4);
    CHECK(all[0].start == 0x55d0c0000000);
    CHECK(all[0].end == 0x55d0c0001000);
    CHECK((all[0].readable && !all[0].writable && !all[0].executable && !all[0].shared));
    CHECK(all[0].file_offset == 0x2000);
    CHECK(all[0].inode == 1234);
    CHECK(all[0].path == "/usr/lib/a b (deleted)");
    CHECK((all[1].executable && all[1].shared));
    CHECK(all[2].path == "[stack]");
    CHECK_FALSE(all[3].readable);
    CHECK(all[3].path.empty());
}

TEST_CASE("the VMs of this machine are those that are called so, with what the system tells of them", "[running]") {
    // A small program of that name: this one has texts of VMs among its own, and with sanitizers a minute's worth of
    // data.
    char folder[] = "/tmp/beamheap-vms.XXXXXX";
    REQUIRE(::mkdtemp(folder) != nullptr);
    const auto start = [&folder](const char* name) {
        const std::string path = std::string(folder) + "/" + name;
        REQUIRE(::symlink("/bin/sleep", path.c_str()) == 0);
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::execl(path.c_str(), name, "60", nullptr);
            ::_exit(1);
        }
        return child;
    };
    const std::vector<pid_t> children{start("beam.made"), start("beam"), start("beamer"), start("beam.gone")};
    ::usleep(100'000);             // the system counts in hundredths
    ::kill(children[3], SIGKILL);  // a zombie until it is asked for
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(children[3]), &ended, WEXITED | WNOWAIT);
    const std::vector<otp::VmOnMachine> all = otp::running_vms();
    const auto row = [&](pid_t pid) {
        return std::ranges::find(all, static_cast<std::uint32_t>(pid), &otp::VmOnMachine::pid);
    };
    for (const pid_t vm : {children[0], children[1]}) {
        REQUIRE(row(vm) != all.end());
        CHECK(row(vm)->uptime_seconds > 0.05);
        CHECK(row(vm)->uptime_seconds < 60);
        const passwd* me = ::getpwuid(::getuid());
        if (me != nullptr) CHECK(row(vm)->user == me->pw_name);
        CHECK(row(vm)->resident_bytes.value_or(0) > 4096);
        CHECK(row(vm)->problem.has_value());  // none of Erlang's
        CHECK_FALSE(row(vm)->processes.has());
    }
    CHECK(row(children[2]) == all.end());
    CHECK(row(children[3]) == all.end());
    for (const pid_t child : children) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    std::filesystem::remove_all(folder);
}

TEST_CASE("a call of the system is read from its line, and nothing else is taken for one", "[live]") {
    using bytes::parse_call_line;
    const auto call = parse_call_line("1 0x2 0x7ffd0010 0x5 0x0 0x0 0x0 0x7ffd00112233 0x7f11aabbccdd\n");
    REQUIRE(call);
    CHECK(call->number == 1);
    CHECK(call->first == 2);
    CHECK(call->second == 0x7ffd0010);
    CHECK(call->stack_pointer == 0x7ffd00112233);
    CHECK(call->program_counter == 0x7f11aabbccdd);
    for (const char* line :
         {"running\n", "-1 0x7ffd00112233 0x7f11aabbccdd\n", "", "1 0x2", "x y z", "99999999999 0 0 0 0 0 0 0 0"})
        CHECK_FALSE(parse_call_line(line));
}

TEST_CASE("a control group is frozen where one of its files says so, in either version", "[live]") {
    char folder[] = "/tmp/beamheap-groups-XXXXXX";
    REQUIRE(::mkdtemp(folder) != nullptr);
    const auto put = [&](const std::string& name, const std::string& text) {
        const std::filesystem::path path = std::filesystem::path(folder) / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    };
    put("a.slice/cgroup.events", "populated 1\nfrozen 1\n");
    put("b.slice/cgroup.events", "populated 1\nfrozen 0\n");
    put("freezer/docker/1/freezer.state", "FROZEN\n");
    put("freezer/docker/2/freezer.state", "THAWED\n");
    const std::string at = folder;
    CHECK(bytes::is_frozen("0::/a.slice\n", at));
    CHECK_FALSE(bytes::is_frozen("0::/b.slice\n", at));
    CHECK(bytes::is_frozen("9:memory:/docker/1\n7:freezer:/docker/1\n", at));
    CHECK_FALSE(bytes::is_frozen("7:freezer:/docker/2\n", at));
    CHECK_FALSE(bytes::is_frozen("7:memory:/docker/1\n", at));
    CHECK_FALSE(bytes::is_frozen("0::/b.slice/../a.slice\n", at));
    CHECK_FALSE(bytes::is_frozen("no line\n::\n", at));
    std::filesystem::remove_all(folder);
}
