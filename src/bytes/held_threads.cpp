// SPDX-License-Identifier: Apache-2.0
#include "bytes/held_threads.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "bytes/clock.hpp"

namespace beamheap::bytes {
namespace {

constexpr std::size_t most_times = 1u << 20;

// While a thread stands, nothing from a keyboard may stop this program, too: the thread would stand until it goes on.
class NoJobControl {
public:
    NoJobControl() {
        sigset_t signals;
        sigemptyset(&signals);
        for (const int each : {SIGTSTP, SIGTTIN, SIGTTOU}) sigaddset(&signals, each);
        sigprocmask(SIG_BLOCK, &signals, &before_);
    }
    NoJobControl(const NoJobControl&) = delete;
    NoJobControl& operator=(const NoJobControl&) = delete;
    ~NoJobControl() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

#if defined(__x86_64__)
bool read_registers(pid_t thread, ThreadSample& sample) {
    user_regs_struct r{};
    iovec into{&r, sizeof r};
    if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &into) != 0 || into.iov_len < sizeof r) return false;
    const auto set = [&sample](X86 name, std::uint64_t value) {
        sample.registers[static_cast<std::size_t>(name)] = value;
    };
    set(X86::rax, r.rax), set(X86::rbx, r.rbx), set(X86::rcx, r.rcx), set(X86::rdx, r.rdx), set(X86::rsi, r.rsi),
        set(X86::rdi, r.rdi);
    set(X86::rbp, r.rbp), set(X86::rsp, r.rsp), set(X86::rip, r.rip), set(X86::r8, r.r8), set(X86::r9, r.r9),
        set(X86::r10, r.r10);
    set(X86::r11, r.r11), set(X86::r12, r.r12), set(X86::r13, r.r13), set(X86::r14, r.r14), set(X86::r15, r.r15);
    return true;
}
#else
bool read_registers(pid_t, ThreadSample&) { return false; }
#endif

// Who has attached to it already; 0: nobody.
std::uint32_t tracer_of(std::uint32_t process) {
    const std::string status = read_small_file(fmt::format("/proc/{}/status", process));
    const std::size_t at = status.find("TracerPid:");
    return at == status.npos ? 0 : static_cast<std::uint32_t>(std::strtoul(status.c_str() + at + 10, nullptr, 10));
}

}  // namespace

// 0, or the reason why it could not be held.
int ThreadHolder::hold(Thread& thread, const std::function<void(const ThreadSample&)>& visit) {
    const NoJobControl held;
    const auto id = static_cast<pid_t>(thread.id);
    if (ptrace(PTRACE_SEIZE, id, nullptr, nullptr) != 0) return errno;
    if (ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr) != 0)
        return errno;  // it is gone: there is nothing to detach from
    int status = 0;
    pid_t got = 0;
    do got = waitpid(id, &status, __WALL);
    while (got < 0 && errno == EINTR);
    if (got < 0) return errno;
    if (!WIFSTOPPED(status)) return ESRCH;
    const std::uint64_t begin = monotonic_ns();
    ThreadSample sample;
    sample.thread = thread.id;
    sample.time = begin;
    const bool read = read_registers(id, sample);
    if (read) {
        sample.stack = Bytes(stack_.data(), memory_->read(sample.stack_pointer(), stack_) & ~std::size_t{7});
        visit(sample);
    }
    // A stop by a signal (no event with it) keeps the signal back until it is passed on here.
    const int signal = status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
    const int error =
        ptrace(PTRACE_DETACH, id, nullptr, reinterpret_cast<void*>(static_cast<std::intptr_t>(signal))) == 0 ? 0
                                                                                                             : errno;
    if (held_ns_.size() < most_times) held_ns_.push_back(monotonic_ns() - begin);
    return !read ? EIO : error;
}

Result<ThreadHolder> ThreadHolder::open(std::uint32_t process, std::vector<std::uint32_t> threads,
                                        std::uint32_t stack_bytes, const LiveMemory& memory) {
    ThreadHolder holder(process, stack_bytes, memory);
    for (const std::uint32_t id : threads)
        holder.threads_.push_back({id, false, task_times(fmt::format("/proc/{}/task/{}", process, id)).on_cpu_ns});
    for (Thread& thread : holder.threads_) {
        const int error = holder.hold(thread, [](const ThreadSample&) {});
        holder.held_ns_.clear();
        if (error == 0) return holder;
        if (error == ESRCH) continue;
        if (const std::uint32_t tracer = tracer_of(process); tracer != 0)
            return Error{ErrorCode::unreadable,
                         fmt::format("process {} ({}) has attached to it already, and only one may", tracer,
                                     task_times(fmt::format("/proc/{}", tracer)).name),
                         "End that debugger or strace, or sample without --stop."};
        if (error == EPERM) return no_right_to_attach(process, "ptrace");
        return Error{ErrorCode::unreadable, fmt::format("its threads can't be held: {}", std::strerror(error)), {}};
    }
    return Error{ErrorCode::unreadable, fmt::format("no thread of process {} is there any more", process), {}};
}

bool ThreadHolder::sample(std::size_t thread, std::uint64_t period_ns,
                          const std::function<void(const ThreadSample&)>& visit) {
    Thread& it = threads_[thread];
    if (it.gone) return false;
    // To interrupt a thread that sleeps would wake it up for nothing.
    const TaskTimes times = task_times(fmt::format("/proc/{}/task/{}", process_, it.id));
    bool visited = false;
    if (times.start_ticks != 0) {
        if (times.state != 'R') return false;
        if (times.has_schedstat && times.on_cpu_ns < it.on_cpu_ns + period_ns) return false;
        // What it had used beyond a period counts for the next sample, but no more than that.
        it.on_cpu_ns = std::max(it.on_cpu_ns + period_ns, times.on_cpu_ns - std::min(times.on_cpu_ns, period_ns));
    }
    const int error = times.start_ticks == 0 ? ESRCH : hold(it, [&](const ThreadSample& sample) {
        visited = true;
        visit(sample);
    });
    if (error == ESRCH && !visited) {
        it.gone = true;
        ++gone_;
    } else if (error != 0 && !visited) {
        ++refused_;
    }
    return visited;
}

}  // namespace beamheap::bytes
