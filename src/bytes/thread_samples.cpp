// SPDX-License-Identifier: Apache-2.0
#include "bytes/thread_samples.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "bytes/descriptor.hpp"

namespace beamheap::bytes {
namespace {

constexpr std::size_t ring_page = 4096;

// The kernel's numbers of registers (enum perf_event_x86_regs) in its order, which is that of a record, and DWARF's.
struct PerfRegister {
    unsigned bit;
    X86 name;
};
constexpr PerfRegister perf_registers[] = {
    {0, X86::rax},  {1, X86::rbx},  {2, X86::rcx},  {3, X86::rdx},  {4, X86::rsi}, {5, X86::rdi},
    {6, X86::rbp},  {7, X86::rsp},  {8, X86::rip},  {16, X86::r8},  {17, X86::r9}, {18, X86::r10},
    {19, X86::r11}, {20, X86::r12}, {21, X86::r13}, {22, X86::r14}, {23, X86::r15}};
constexpr std::uint64_t perf_register_mask() {
    std::uint64_t mask = 0;
    for (const PerfRegister& each : perf_registers) mask |= 1ull << each.bit;
    return mask;
}
static_assert(std::size(perf_registers) == ThreadSample::register_count);

constexpr std::uint64_t sample_parts =
    PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

// What stands in a record behind its head, in this order, for sample_parts.
struct SampleHead {
    std::uint32_t process, thread;
    std::uint64_t time;
    std::uint64_t abi;  // of the registers that follow; PERF_SAMPLE_REGS_ABI_NONE: none do
};

// A ring: a page of the kernel's, and behind it a power of two of pages with records.
class Ring {
public:
    Ring() = default;
    Ring(Ring&& other) noexcept : base_(std::exchange(other.base_, nullptr)), size_(other.size_) {}
    Ring& operator=(Ring&& other) noexcept {
        std::swap(base_, other.base_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Ring() {
        if (base_ != nullptr) munmap(base_, ring_page + size_);
    }
    // The memory that an ordinary user may lock for rings is bounded (perf_event_mlock_kb): what is refused is asked
    // for again by half.
    bool map(int fd, std::size_t size, std::size_t least) {
        for (; size >= least; size /= 2) {
            void* memory = mmap(nullptr, ring_page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (memory == MAP_FAILED) continue;
            base_ = static_cast<std::byte*>(memory);
            size_ = size;
            return true;
        }
        return false;
    }
    Bytes data() const { return {base_ + ring_page, size_}; }
    std::uint64_t head() const { return std::atomic_ref(control().data_head).load(std::memory_order_acquire); }
    std::uint64_t tail() const { return control().data_tail; }
    void release(std::uint64_t tail) { std::atomic_ref(control().data_tail).store(tail, std::memory_order_release); }

private:
    perf_event_mmap_page& control() const { return *reinterpret_cast<perf_event_mmap_page*>(base_); }
    std::byte* base_ = nullptr;
    std::size_t size_ = 0;
};

perf_event_attr attributes(std::uint32_t stack_bytes) {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.sample_type = sample_parts;
    attr.sample_regs_user = perf_register_mask();
    attr.sample_stack_user = stack_bytes;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
    attr.wakeup_events = 1;
    return attr;
}

Descriptor open_event(perf_event_attr& attr, std::uint32_t thread) {
    return Descriptor(static_cast<int>(
        syscall(SYS_perf_event_open, &attr, static_cast<pid_t>(thread), -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

int paranoid_level() {
    const Descriptor file(open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC));
    char text[16] = {};
    if (file.get() < 0 || read(file.get(), text, sizeof text - 1) <= 0) return -1;
    return std::atoi(text);
}

Error refused(int error) {
    if (error == ENOSYS || error == ENOENT || error == EOPNOTSUPP)
        return {
            ErrorCode::unreadable, fmt::format("this kernel has no such perf event ({})", std::strerror(error)), {}};
    if (error != EACCES && error != EPERM)
        return {ErrorCode::unreadable, fmt::format("no perf event: {}", std::strerror(error)), {}};
    if (const int level = paranoid_level(); level > 2)
        return {ErrorCode::unreadable,
                fmt::format("no right to sample threads: kernel.perf_event_paranoid is {}", level),
                "As root: sysctl kernel.perf_event_paranoid=2, or give beamheap the capability CAP_PERFMON "
                "(containers: --cap-add=PERFMON)."};
    return {ErrorCode::unreadable, "no right to sample the threads of this process",
            "Run it as the user of beam.smp, or with the capabilities CAP_PERFMON and CAP_SYS_PTRACE (containers: "
            "--cap-add=PERFMON --cap-add=SYS_PTRACE; their default seccomp profile refuses perf events without)."};
}

}  // namespace

bool can_sample_threads() {
#if defined(__x86_64__)
    return true;
#else
    return false;
#endif
}

std::uint64_t each_ring_record(Bytes ring, std::uint64_t tail, std::uint64_t head, std::vector<std::byte>& scratch,
                               const std::function<void(Bytes record)>& visit) {
    const std::uint64_t mask = ring.size() - 1;
    while (head - tail >= sizeof(perf_event_header) && head - tail <= ring.size()) {
        const std::uint64_t at = tail & mask;  // records are multiples of 8 bytes: a head never wraps
        if (ring.size() - at < sizeof(perf_event_header)) return head;
        const auto header = load<perf_event_header>(ring.data() + at);
        if (header.size < sizeof(perf_event_header) || header.size > head - tail) return head;
        if (at + header.size <= ring.size()) {
            visit(ring.subspan(at, header.size));
        } else {
            const std::size_t first = ring.size() - at;
            scratch.resize(header.size);
            std::memcpy(scratch.data(), ring.data() + at, first);
            std::memcpy(scratch.data() + first, ring.data(), header.size - first);
            visit(scratch);
        }
        tail += header.size;
    }
    return head;
}

bool parse_thread_record(Bytes record, ThreadSample& sample, SampleCounts& counts) {
    const auto header = load<perf_event_header>(record.data());
    record = record.subspan(sizeof header);
    if (header.type == PERF_RECORD_LOST && record.size() >= 16) counts.lost += load<std::uint64_t>(record.data() + 8);
    if (header.type == PERF_RECORD_THROTTLE) ++counts.throttled;
    if (header.type != PERF_RECORD_SAMPLE) return false;
    constexpr std::size_t register_bytes = 8 * ThreadSample::register_count;
    if (record.size() < sizeof(SampleHead) + register_bytes + 8) {
        ++counts.unusable;
        return false;
    }
    const auto head = load<SampleHead>(record.data());
    if (head.abi != PERF_SAMPLE_REGS_ABI_64) {
        ++counts.unusable;
        return false;
    }
    record = record.subspan(sizeof head);
    sample.thread = head.thread;
    sample.time = head.time;
    for (std::size_t i = 0; i < std::size(perf_registers); ++i)
        sample.registers[static_cast<std::size_t>(perf_registers[i].name)] = load<std::uint64_t>(record.data() + 8 * i);
    record = record.subspan(register_bytes);
    // The size that was asked for, so many bytes, and how many of them the kernel could copy.
    const auto asked = load<std::uint64_t>(record.data());
    record = record.subspan(8);
    sample.stack = {};
    if (asked != 0 && asked <= record.size() && record.size() - asked >= 8) {
        const auto copied = load<std::uint64_t>(record.data() + asked);
        sample.stack = record.first(std::min(asked, copied));
    }
    ++counts.samples;
    return true;
}

struct ThreadSampler::State {
    struct Event {
        Descriptor descriptor;
        Ring ring;
    };
    std::vector<Event> events;
    std::vector<pollfd> waits;
    SampleCounts counts;
    std::vector<std::byte> scratch;
    std::size_t gone = 0;
};

ThreadSampler::ThreadSampler(std::unique_ptr<State> state) : state_(std::move(state)) {}
ThreadSampler::ThreadSampler(ThreadSampler&&) noexcept = default;
ThreadSampler& ThreadSampler::operator=(ThreadSampler&&) noexcept = default;
ThreadSampler::~ThreadSampler() = default;

Result<ThreadSampler> ThreadSampler::open(std::span<const std::uint32_t> threads, Options options) {
    constexpr std::size_t all_rings = 64u << 20, largest = 1u << 20, least = 128u << 10;
    std::size_t size = largest;
    while (size > least && size * threads.size() > all_rings) size /= 2;
    perf_event_attr attr = attributes(options.stack_bytes);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = 1'000'000'000ull / std::clamp(options.hertz, 1u, most_hertz);
    auto state = std::make_unique<State>();
    for (const std::uint32_t thread : threads) {
        State::Event event;
        event.descriptor = open_event(attr, thread);
        if (event.descriptor.get() < 0) {
            if (errno == ESRCH) continue;  // it has ended since it was listed
            return refused(errno);
        }
        if (!event.ring.map(event.descriptor.get(), size,
                            2 * ring_page + std::bit_ceil(std::size_t{options.stack_bytes})))
            return Error{ErrorCode::unreadable,
                         fmt::format("no memory for the samples of a thread: {}", std::strerror(errno)),
                         "kernel.perf_event_mlock_kb, or RLIMIT_MEMLOCK (ulimit -l), bounds what a user may have of "
                         "it; root isn't bound."};
        state->waits.push_back({event.descriptor.get(), POLLIN, 0});
        state->events.push_back(std::move(event));
    }
    if (state->events.empty()) return Error{ErrorCode::unreadable, "none of the threads is there any more", {}};
    return ThreadSampler(std::move(state));
}

void ThreadSampler::wait(int milliseconds, const std::function<void(const ThreadSample&)>& visit) {
    State& s = *state_;
    if (poll(s.waits.data(), s.waits.size(), milliseconds) <= 0) return;
    ThreadSample sample;
    for (std::size_t i = 0; i < s.events.size(); ++i) {
        if (s.waits[i].revents == 0) continue;
        Ring& ring = s.events[i].ring;
        const std::uint64_t head = ring.head();
        const std::uint64_t end = each_ring_record(ring.data(), ring.tail(), head, s.scratch, [&](Bytes record) {
            if (parse_thread_record(record, sample, s.counts)) visit(sample);
        });
        ring.release(end);
        if ((s.waits[i].revents & (POLLHUP | POLLERR)) != 0 && s.waits[i].fd >= 0) {  // the thread has ended
            s.waits[i].fd = -1;
            ++s.gone;
        }
    }
}

const SampleCounts& ThreadSampler::counts() const { return state_->counts; }
bool ThreadSampler::all_gone() const { return state_->gone == state_->events.size(); }

struct Watchpoint::State {
    Descriptor descriptor;
    Ring ring;
    std::vector<std::byte> scratch;
};

Watchpoint::Watchpoint(std::unique_ptr<State> state) : state_(std::move(state)) {}
Watchpoint::Watchpoint(Watchpoint&&) noexcept = default;
Watchpoint& Watchpoint::operator=(Watchpoint&&) noexcept = default;
Watchpoint::~Watchpoint() = default;

Result<Watchpoint> Watchpoint::open(std::uint32_t thread, std::uint64_t address, std::uint32_t most,
                                    std::uint32_t stack_bytes) {
    perf_event_attr attr = attributes(stack_bytes);
    attr.type = PERF_TYPE_BREAKPOINT;
    attr.bp_type = HW_BREAKPOINT_W;
    attr.bp_addr = address;
    attr.bp_len = HW_BREAKPOINT_LEN_8;
    attr.sample_period = 1;
    attr.disabled = 1;
    auto state = std::make_unique<State>();
    state->descriptor = open_event(attr, thread);
    if (state->descriptor.get() < 0) {
        if (errno == EACCES || errno == EPERM || errno == ENOENT || errno == ENOSYS || errno == EOPNOTSUPP)
            return refused(errno);
        if (errno == ESRCH) return Error{ErrorCode::resource_limit, "the thread is gone", {}};
        return Error{ErrorCode::resource_limit,
                     fmt::format("no debug register for a watchpoint: {}", std::strerror(errno)),
                     "A debugger may hold all four, or the machine that this one runs on does not give them."};
    }
    constexpr std::size_t beside_stack = 512;  // of a record, at the most
    const std::size_t least = std::bit_ceil(std::size_t{stack_bytes} + ring_page);
    if (!state->ring.map(state->descriptor.get(), std::max(least, std::bit_ceil(most * (stack_bytes + beside_stack))),
                         least))
        return Error{
            ErrorCode::resource_limit, fmt::format("no memory for a watchpoint: {}", std::strerror(errno)), {}};
    // The kernel itself ends it: until this program gets a CPU, the thread may write there thousands of times, and each
    // write takes it a few us.
    if (ioctl(state->descriptor.get(), PERF_EVENT_IOC_REFRESH, most) != 0)
        return Error{
            ErrorCode::resource_limit, fmt::format("a watchpoint can't be bounded: {}", std::strerror(errno)), {}};
    return Watchpoint(std::move(state));
}

int Watchpoint::descriptor() const { return state_->descriptor.get(); }

void Watchpoint::each(const std::function<void(const ThreadSample&)>& visit) {
    State& s = *state_;
    SampleCounts counts;
    ThreadSample sample;
    const std::uint64_t end =
        each_ring_record(s.ring.data(), s.ring.tail(), s.ring.head(), s.scratch, [&](Bytes record) {
            if (parse_thread_record(record, sample, counts)) visit(sample);
        });
    s.ring.release(end);
}

bool Watchpoint::taken(ThreadSample& sample) {
    State& s = *state_;
    bool found = false;
    SampleCounts counts;
    each_ring_record(s.ring.data(), s.ring.tail(), s.ring.head(), s.scratch, [&](Bytes record) {
        if (!found) found = parse_thread_record(record, sample, counts);
    });
    return found;
}

}  // namespace beamheap::bytes
