// SPDX-License-Identifier: Apache-2.0
// Schedulers of a VM that runs, made up: another process that sleeps, and whose memory is this one's too.
#include "formats/otp/tables/activity.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "bytes/clock.hpp"
#include "formats/otp/vm/vm.hpp"
#include "support/made_image.hpp"

using namespace beamheap;
using namespace beamheap::otp;
using beamheap::test::Blob;
using beamheap::test::ElfWriter;
using beamheap::test::FileOfMemory;

namespace {

/// A process that has what is written here, as the data of a VM of OTP 25. `running` is nothing where processes may not
/// be read.
class SleepingVm {
public:
    static constexpr std::uint64_t data_at = 0x50000000, size = 0x80000, marks = 0x1000;
    static constexpr std::uint64_t scheduler(std::uint64_t i) { return data_at + 0x10000 * (i + 1); }
    static constexpr std::uint64_t queue(std::uint64_t i) { return data_at + 0x2000 + 0x1000 * i; }
    static constexpr std::uint64_t thread = data_at + 0x7000, slots = data_at + 0x8000, process = data_at + 0x9000;

    SleepingVm() {
        namespace elf = bytes::elf;
        vm.layout = *find_layout(25, Flavour::jit);
        memory_ = static_cast<std::byte*>(::mmap(reinterpret_cast<void*>(data_at), size, PROT_READ | PROT_WRITE,
                                                 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
        REQUIRE(reinterpret_cast<std::uint64_t>(memory_) == data_at);
        Blob constants(0x1000), data(marks);
        constants.text(0x100, "Erlang/OTP 25%s [erts-13.1.5] [source] [64-bit] [jit%s]");
        for (std::size_t i = 0; i < 64; ++i) {
            data.word(8 * i, 0x5EED0000 + i);
            put(data_at + 8 * i, std::uint64_t{0x5EED0000 + i});
        }
        ElfWriter program(elf::type_executable);
        program.load(0x400000, std::move(constants), elf::flag_read | elf::flag_execute);
        program.load(data_at, std::move(data));
        program_ = std::make_unique<FileOfMemory>(program.write());
        child_ = ::fork();
        REQUIRE(child_ >= 0);
        if (child_ == 0)
            for (;;) ::pause();
        auto attached = bytes::RunningProcess::attach(static_cast<std::uint32_t>(child_));
        if (!attached) {  // a sandbox that forbids it
            WARN(attached.error().message);
            return;
        }
        auto followed = Image::follow(std::make_shared<const bytes::RunningProcess>(std::move(*attached)), "a VM",
                                      program_->path());
        REQUIRE(followed);
        image = std::move(*followed);
        vm.image = image.get();
    }
    ~SleepingVm() {
        end();
        ::munmap(memory_, size);
    }
    SleepingVm(const SleepingVm&) = delete;
    SleepingVm& operator=(const SleepingVm&) = delete;
    void end() {
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        child_ = -1;
    }
    std::uint32_t pid() const { return static_cast<std::uint32_t>(child_); }
    const Offsets& at() const { return vm.layout.at; }
    template <class T>
    void put(std::uint64_t address, T value) {
        std::memcpy(memory_ + (address - data_at), &value, sizeof value);
    }
    void add_scheduler(std::vector<std::uint64_t>& list, std::uint64_t i) {
        list.push_back(scheduler(i));
        put(scheduler(i) + at().scheduler_run_queue, queue(i));
        put(scheduler(i) + at().scheduler_working_start, ~std::uint64_t{0});  // idle
    }
    void wall(std::uint64_t i, std::uint64_t start, std::uint64_t total, std::uint64_t since) {
        put(scheduler(i) + at().scheduler_wall_enabled, std::uint32_t{1});
        put(scheduler(i) + at().scheduler_wall_start, start);
        put(scheduler(i) + at().scheduler_working_total, total);
        put(scheduler(i) + at().scheduler_working_start, since);
    }
    /// Measures while `change` is called again and again.
    Activity measure(std::chrono::milliseconds interval, const std::function<void(std::uint64_t)>& change = {}) {
        std::atomic<bool> over = false;
        std::thread changer([&] {
            for (std::uint64_t times = 1; change && !over; ++times) {
                change(times);
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
        });
        Activity activity = measure_activity(vm, interval);
        over = true;
        changer.join();
        return activity;
    }

    Vm vm;
    std::unique_ptr<Image> image;

private:
    std::byte* memory_ = nullptr;
    std::unique_ptr<FileOfMemory> program_;
    pid_t child_ = -1;
};

constexpr std::chrono::milliseconds a_while(60);

}  // namespace

TEST_CASE("a VM that runs is followed with its threads, files and where its program is", "[live][image]") {
    SleepingVm node;
    if (node.image == nullptr) return;
    const Image& image = *node.image;
    CHECK(image.bias() == 0);
    CHECK(image.name() == "a VM");
    CHECK(image.core() == nullptr);
    REQUIRE(image.process() != nullptr);
    CHECK(image.process()->pid() == node.pid());
    CHECK(image.notes().process_id == node.pid());
    REQUIRE(image.notes().threads.size() == 1);
    CHECK(image.notes().threads[0].id == node.pid());
    CHECK(image.notes().program == bytes::task_times("/proc/self").name);
    CHECK_FALSE(image.notes().files.empty());
    for (const bytes::CoreFile& file : image.notes().files) {
        CHECK(file.start < file.end);
        CHECK_FALSE(file.path.empty());
    }
    CHECK(image.notes().entry);
    CHECK(image.notes().program_headers);
    REQUIRE(image.checks().size() == 2);
    CHECK(image.checks()[0].detail.ends_with(", loaded at 0x400000: 1 of 1 relocations fit"));
    CHECK(image.checks()[1].detail == "Erlang/OTP 25 [erts-13.1.5] [source] [64-bit] [jit]");
    const auto parts = image.static_words();
    REQUIRE(parts.size() == 1);
    CHECK(parts[0].words() == SleepingVm::marks / 8);
    CHECK(parts[0].word(5) == 0x5EED0005);
    // What it was found to have stays as it was, whatever it has later.
    node.put(SleepingVm::data_at + 8 * 5, std::uint64_t{1});
    CHECK(parts[0].word(5) == 0x5EED0005);
}

TEST_CASE("schedulers are busy by their own counters, or by how often they have a process in hand",
          "[live][activity]") {
    SleepingVm node;
    if (node.image == nullptr) return;
    for (std::uint64_t i = 0; i < 5; ++i)
        node.add_scheduler(i < 3    ? node.vm.roots.schedulers
                           : i == 3 ? node.vm.roots.dirty_cpu
                                    : node.vm.roots.dirty_io,
                           i);
    const std::uint64_t now = bytes::monotonic_ns();
    node.wall(0, 1, 1000, ~std::uint64_t{0});     // nothing to do: what it has counted stays
    node.wall(1, 1, 1000, 0);                     // at work since it was switched on
    node.wall(2, now + 3'600'000'000'000, 0, 0);  // from the future: not believed
    node.wall(3, 1, 1000, now + 3'600'000'000'000);
    node.put(SleepingVm::scheduler(1) + node.at().scheduler_process, std::uint64_t{0});
    node.put(SleepingVm::scheduler(2) + node.at().scheduler_process, SleepingVm::process);
    node.put(SleepingVm::scheduler(4) + node.at().scheduler_process, SleepingVm::process);
    const Activity activity = node.measure(a_while);
    CHECK_FALSE(activity.ended);
    CHECK(activity.polls > 0);
    CHECK(activity.seconds >= 0.06);
    REQUIRE(activity.schedulers.size() == 5);
    struct Row {
        Scheduler::Kind kind;
        bool by_counters;
        double busy;
    };
    const Row rows[] = {{Scheduler::Kind::normal, true, 0},
                        {Scheduler::Kind::normal, true, 1},
                        {Scheduler::Kind::normal, false, 1},
                        {Scheduler::Kind::dirty_cpu, true, 0},
                        {Scheduler::Kind::dirty_io, false, 1}};
    for (std::uint32_t i = 0; i < 5; ++i) {
        INFO(i);
        CHECK(activity.schedulers[i].id == i + 1);
        CHECK(activity.schedulers[i].kind == rows[i].kind);
        CHECK(activity.schedulers[i].by_counters == rows[i].by_counters);
        CHECK(activity.schedulers[i].busy == Approx(rows[i].busy).margin(1e-6));
        CHECK_FALSE(activity.schedulers[i].cpu_ns.has());  // no thread of five is known
        CHECK(activity.schedulers[i].longest_queue.has() == (rows[i].kind == Scheduler::Kind::normal));
    }
}

TEST_CASE("run queues are told with their length and what they have counted since", "[live][activity]") {
    SleepingVm node;
    if (node.image == nullptr) return;
    node.add_scheduler(node.vm.roots.schedulers, 0);
    node.add_scheduler(node.vm.roots.schedulers, 1);
    node.add_scheduler(node.vm.roots.dirty_cpu, 2);
    node.put(SleepingVm::queue(0) + node.at().run_queue_length, std::uint32_t{7});
    node.put(SleepingVm::queue(1) + node.at().run_queue_switches, std::uint64_t{100});
    node.put(SleepingVm::queue(1) + node.at().run_queue_reductions, std::uint64_t{4000});
    const auto count = [&](std::uint64_t times) {
        node.put(SleepingVm::queue(0) + node.at().run_queue_switches, 1000 + times);
        node.put(SleepingVm::queue(0) + node.at().run_queue_reductions, 1'000'000 + 100 * times);
    };
    count(0);
    const Activity activity = node.measure(a_while, count);
    REQUIRE(activity.schedulers.size() == 3);
    const SchedulerActivity& one = activity.schedulers[0];
    CHECK(one.mean_queue == Approx(7));
    CHECK(one.longest_queue == Count(7));
    REQUIRE(one.switches.has());
    CHECK((one.switches.value_or(0) > 0 && one.switches.value_or(0) < 100'000));
    CHECK((one.reductions.value_or(0) > one.switches.value_or(0) && one.reductions.value_or(0) < 1'000'000));
    CHECK(activity.schedulers[1].mean_queue == Approx(0));
    CHECK(activity.schedulers[1].longest_queue == Count(0));
    CHECK(activity.schedulers[1].switches == Count(0));
    CHECK(activity.schedulers[1].reductions == Count(0));
    CHECK_FALSE(activity.schedulers[2].switches.has());  // dirty ones have no queue of their own
}

TEST_CASE("the thread of a scheduler is the one whose id stands in its structure", "[live][activity]") {
    SleepingVm node;
    if (node.image == nullptr) return;
    node.add_scheduler(node.vm.roots.schedulers, 0);
    node.put(SleepingVm::scheduler(0) + node.at().scheduler_thread, SleepingVm::thread);
    const auto told = [&] { return node.measure(std::chrono::milliseconds(5)).schedulers.at(0).cpu_ns.has(); };
    CHECK_FALSE(told());
    const bool kernel_tells = bytes::task_times("/proc/" + std::to_string(node.pid())).has_schedstat;
    node.put(SleepingVm::thread + 0x2d0, node.pid());
    CHECK(told() == kernel_tells);
    node.put(SleepingVm::thread + 0x2d0, std::uint32_t{0});
    node.put(SleepingVm::thread + 4092, node.pid());
    CHECK(told() == kernel_tells);
    node.put(SleepingVm::thread + 4092, std::uint32_t{0});
    node.put(SleepingVm::thread + 4096, node.pid());  // behind the part that is searched
    CHECK_FALSE(told());
    node.put(SleepingVm::thread + 8, node.pid());
    node.add_scheduler(node.vm.roots.schedulers, 1);  // two can't be one thread
    node.put(SleepingVm::scheduler(1) + node.at().scheduler_thread, SleepingVm::thread);
    CHECK_FALSE(told());
}

TEST_CASE("processes have moved that are in another queue at the end", "[live][activity]") {
    SleepingVm node;
    if (node.image == nullptr) return;
    node.vm.processes.slots = SleepingVm::slots;
    node.vm.processes.max = 16;
    node.vm.processes.invalid = SleepingVm::process + 0xff00;
    const auto process = [](std::uint64_t i) { return SleepingVm::process + 0x400 * i; };
    for (std::uint64_t i = 0; i < 4; ++i) {
        node.put(SleepingVm::slots + 8 * (3 * i), process(i));
        node.put(process(i), std::uint64_t{i << 4 | 3});
        node.put(process(i) + node.at().process_run_queue, SleepingVm::queue(0));
    }
    node.put(process(3), std::uint64_t{3 << 4 | 7});  // no process
    node.put(SleepingVm::slots + 8, node.vm.processes.invalid);
    const Activity still = node.measure(std::chrono::milliseconds(5), [&](std::uint64_t times) {
        node.put(process(0) + node.at().process_run_queue, SleepingVm::queue(0) | (times & 7));  // bound to it, or not
    });
    CHECK(still.moved == Count(0));
    const Activity moved = node.measure(a_while, [&](std::uint64_t times) {
        node.put(process(1) + node.at().process_run_queue, SleepingVm::queue(0) + 8 * times);
        node.put(process(3) + node.at().process_run_queue, SleepingVm::queue(0) + 8 * times);
    });
    CHECK(moved.moved == Count(1));
}

TEST_CASE("a VM that ends while its schedulers are watched is told so, however short the while", "[live][activity]") {
    for (const int milliseconds : {0, 60'000}) {
        SleepingVm node;
        if (node.image == nullptr) return;
        node.add_scheduler(node.vm.roots.schedulers, 0);
        node.end();
        const Activity activity = node.measure(std::chrono::milliseconds(milliseconds));
        CHECK(activity.ended);
        CHECK_FALSE(activity.moved.has());
        CHECK(activity.polls == 0);
        CHECK(activity.seconds < 30);
    }
}
