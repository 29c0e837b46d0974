// SPDX-License-Identifier: Apache-2.0
// Samples of a running VM: records of the kernel's rings, stacks made of them, and what they add up to.
#include <linux/perf_event.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <random>

#include "analyses/processes/allocation_profile.hpp"
#include "analyses/processes/cpu_profile.hpp"
#include "bytes/thread_samples.hpp"
#include "formats/otp/sampling/interpreter.hpp"
#include "present/erlang_text.hpp"
#include "present/samples.hpp"
#include "present/secrets/redact.hpp"
#include "support/made_process.hpp"

using namespace beamheap;
using namespace beamheap::test;
using bytes::X86;

namespace {

void put(std::vector<std::byte>& out, const auto& value) {
    out.resize(out.size() + sizeof value);
    std::memcpy(out.data() + out.size() - sizeof value, &value, sizeof value);
}

// A sample as the kernel writes it: registers in its order (ax bx cx dx si di bp sp ip, r8 to r15), then the stack.
std::vector<std::byte> sample_record(std::uint32_t thread, const std::vector<std::uint64_t>& stack,
                                     std::uint64_t copied) {
    std::vector<std::byte> record;
    put(record, perf_event_header{PERF_RECORD_SAMPLE, 0, 0});
    put(record, std::uint32_t{1});
    put(record, thread);
    put(record, std::uint64_t{77});
    put(record, std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
    for (std::uint64_t i = 0; i < bytes::ThreadSample::register_count; ++i) put(record, 1000 + i);
    put(record, std::uint64_t{stack.size() * 8});
    for (const std::uint64_t word : stack) put(record, word);
    put(record, copied);
    const auto size = static_cast<std::uint16_t>(record.size());
    std::memcpy(record.data() + offsetof(perf_event_header, size), &size, sizeof size);
    return record;
}

}  // namespace

TEST_CASE("a sample of the kernel's is registers by their own numbers, and so much of the stack as could be copied",
          "[sampling]") {
    const std::vector<std::byte> record = sample_record(42, {7, 8, 9, 10}, 24);
    bytes::ThreadSample sample;
    bytes::SampleCounts counts;
    REQUIRE(bytes::parse_thread_record(record, sample, counts));
    CHECK(sample.thread == 42);
    CHECK(sample.time == 77);
    CHECK(sample[X86::rax] == 1000);
    CHECK(sample[X86::rbx] == 1001);
    CHECK(sample[X86::rsp] == 1007);
    CHECK(sample[X86::rip] == 1008);
    CHECK(sample[X86::r8] == 1009);
    CHECK(sample[X86::r13] == 1014);
    CHECK(sample[X86::r15] == 1016);
    REQUIRE(sample.stack.size() == 24);
    CHECK(bytes::load<std::uint64_t>(sample.stack.data() + 16) == 9);

    for (std::size_t size = sizeof(perf_event_header); size < record.size();
         ++size) {  // cut anywhere, nothing is read behind it
        bytes::SampleCounts of_cut;
        const bool parsed = bytes::parse_thread_record(bytes::Bytes(record).first(size), sample, of_cut);
        CHECK((parsed ? sample.stack.empty() : of_cut.unusable == 1));
    }
}

TEST_CASE("records of a ring are handed over whole where they wrap around its end, and a torn one ends it",
          "[sampling]") {
    std::vector<std::byte> ring(1024);
    const std::vector<std::byte> record = sample_record(1, std::vector<std::uint64_t>(20, 5), 160);
    std::uint64_t head = 4096 + 1000;  // 24 bytes before the end
    const std::uint64_t tail = head;
    for (const std::byte each : record) ring[head++ % ring.size()] = each;
    std::vector<std::byte> scratch;
    std::size_t seen = 0;
    const auto count = [&](bytes::Bytes found) {
        ++seen;
        CHECK(std::equal(found.begin(), found.end(), record.begin(), record.end()));
    };
    CHECK(bytes::each_ring_record(ring, tail, head, scratch, count) == head);
    CHECK(seen == 1);
    CHECK(bytes::each_ring_record(ring, tail, tail + 64, scratch, count) == tail + 64);  // claims more than there is
    CHECK(bytes::each_ring_record(ring, tail, tail + 5000, scratch, count) == tail + 5000);
    CHECK(seen == 1);
    std::fill(ring.begin(), ring.end(), std::byte{});  // a record of no size would never end
    CHECK(bytes::each_ring_record(ring, 0, 512, scratch, count) == 512);
    CHECK(seen == 1);
}

TEST_CASE("a sample in Erlang code has its stack with it", "[sampling]") {
    MadeProcess process({});
    otp::SampleResolver resolver = process.resolver();
    const std::uint64_t stack[] = {an_atom, code_of(2), an_atom, an_atom, code_of(3), exit_stub};
    bytes::ThreadSample sample;
    sample.registers[static_cast<std::size_t>(X86::rip)] = code_of(1);
    sample.registers[static_cast<std::size_t>(X86::r13)] = process_at;
    sample.stack = std::as_bytes(std::span(stack));
    bytes::UnwoundFrame frame;
    frame.address = code_of(1);
    frame.interrupted = true;
    otp::ResolvedSample resolved = resolver.resolve(sample, {frame}, true);
    CHECK(resolved.basis == SampleBasis::exact);
    CHECK(resolved.native == 0);
    CHECK(resolved.process.id == a_pid);
    CHECK(functions(resolved) == Ids{1, 2, 3});
    CHECK_FALSE(resolved.cut);

    // In a fragment that all modules share, who called it is on top of the stack, at whatever address.
    const std::uint64_t called[] = {code_of(2) + 3, an_atom, code_of(3), exit_stub};
    sample.registers[static_cast<std::size_t>(X86::rip)] = fragment;
    sample.stack = std::as_bytes(std::span(called));
    resolved = resolver.resolve(sample, {frame}, true);
    CHECK(resolved.basis == SampleBasis::exact);
    CHECK(functions(resolved) == Ids{2, 3});

    // Deeper than what was copied: the rest is what the process has there now.
    MadeProcess deep({code_of(4), an_atom, code_of(5)});
    otp::SampleResolver of_deep = deep.resolver();
    sample.registers[static_cast<std::size_t>(X86::rip)] = code_of(1);
    sample.registers[static_cast<std::size_t>(X86::rsp)] = deep.stop - 16;
    const std::uint64_t copied[] = {code_of(2), an_atom};
    sample.stack = std::as_bytes(std::span(copied));
    resolved = of_deep.resolve(sample, {frame}, true);
    CHECK(resolved.basis == SampleBasis::exact);
    CHECK(functions(resolved) == Ids{1, 2, 4, 5});
    CHECK_FALSE(resolved.cut);
}

TEST_CASE("a sample in C code has its caller from the registers that C code keeps", "[sampling]") {
    MadeProcess process({code_of(2) + 1, an_atom, code_of(3)});
    otp::SampleResolver resolver = process.resolver();
    const bytes::ThreadSample sample;
    const std::uint64_t top = heap_at + 80;

    otp::ResolvedSample resolved = resolver.resolve(sample, called_from(fragment, top), true);
    CHECK(resolved.basis == SampleBasis::checked);
    CHECK(resolved.native == 1);
    CHECK(functions(resolved) == Ids{2, 3});  // its low bits are those of no return address

    resolved = resolver.resolve(sample, called_from(fragment, top - 16), true);  // the call allocates
    CHECK(resolved.basis == SampleBasis::checked);
    resolved = resolver.resolve(sample, called_from(fragment, top + 8), true);  // less was used than at the sample
    CHECK(resolved.basis == SampleBasis::approximate);
    CHECK_FALSE(resolved.by_code);
    resolved = resolver.resolve(sample, called_from(fragment, 0x900000), true);  // another heap by now
    CHECK(resolved.basis == SampleBasis::moved);
    CHECK(resolved.frames.empty());
    CHECK(resolved.process.id == a_pid);

    resolved = resolver.resolve(sample, called_from(code_of(7), top), true);  // called by a module's own code
    CHECK(resolved.by_code);
    CHECK(functions(resolved) == Ids{7, 3});

    // Which of Process.stop and rbp is the stack's top, the code tells that called the fragment: here another one,
    // there this one.
    MadeProcess two({code_of(2), an_atom, code_of(3), an_atom});
    otp::SampleResolver of_two = two.resolver();
    const auto call_of = [&two](std::uint64_t from, std::uint64_t target) {  // E8, distance; right in front of `from`
        const std::uint64_t code = std::uint64_t{0xe8} << 24 | std::uint64_t{static_cast<std::uint32_t>(target - from)}
                                                                   << 32;
        two.memory.words[from - 8] = code;
    };
    call_of(code_of(2), fragment - 32);
    call_of(code_of(3), fragment + 0x10000);
    CHECK(functions(of_two.resolve(sample, called_from(fragment, top, two.stop + 16), true)) == Ids{2, 3});
    two.memory.words[process_at + two.layout.at.process_stop] = two.stop + 16;
    CHECK(functions(of_two.resolve(sample, called_from(fragment, top, two.stop), true)) == Ids{2, 3});
    CHECK(of_two.resolve(sample, called_from(fragment, top, 0), true).basis == SampleBasis::moved);
    // The same call is proof where the heap's top is not.
    CHECK(of_two.resolve(sample, called_from(fragment, top + 8, two.stop), true).basis == SampleBasis::checked);

    // The caller is what was looked at, although the process has gone on by the time that its stack is read.
    two.memory.later[two.stop] = an_atom;
    CHECK(functions(of_two.resolve(sample, called_from(fragment, top, two.stop), true)) == Ids{2, 3});
    CHECK(two.memory.words[two.stop] == an_atom);

    process.memory.words[process_at] = 0;  // the process is gone
    resolved = resolver.resolve(sample, called_from(fragment, top), true);
    CHECK(resolved.basis == SampleBasis::none);
    CHECK(resolver.resolve(sample, called_from(fragment, top), false).native == 2);
}

TEST_CASE("registers of an interpreter are learned only where one of them stands out", "[sampling]") {
    otp::SeenProcess current{process_at, a_pid, heap_at, heap_at + 80, heap_at + 400, heap_at + 512};
    std::mt19937 random(7);
    otp::InterpreterRegisters registers, noise;
    const auto is_code = [](std::uint64_t address) { return address == code_of(4); };
    for (int i = 0; i < 100; ++i) {
        bytes::UnwoundFrame frame;
        frame.known = (1u << bytes::ThreadSample::register_count) - 1;
        for (auto& value : frame.registers) value = random();
        noise.learn(frame, current, is_code);
        if (i % 5 != 0) {  // in the others the scheduler has another process by then
            frame.registers[static_cast<std::size_t>(X86::r12)] = process_at;
            frame.registers[static_cast<std::size_t>(X86::r13)] = heap_at + 408;
            frame.registers[static_cast<std::size_t>(X86::rbx)] = code_of(4);
        }
        if (i % 20 == 0) frame.registers[static_cast<std::size_t>(X86::r14)] = process_at;
        registers.learn(frame, current, is_code);
    }
    CHECK(registers.process() == X86::r12);
    CHECK(registers.stack() == X86::r13);
    CHECK(registers.code() == X86::rbx);
    CHECK_FALSE(noise.process());
    CHECK_FALSE(noise.code());
    CHECK(registers.tells_functions());
    CHECK_FALSE(noise.tells_functions());
    CHECK_FALSE(otp::InterpreterRegisters().tells_functions());
}

TEST_CASE("the word at which stacks begin is that of most processes", "[sampling]") {
    MadeProcess process({code_of(1)});
    CHECK(otp::learn_exit_stub(process.layout, process.memory, {process_at, process_at, 0x123450}) == exit_stub);
    CHECK(otp::learn_exit_stub(process.layout, process.memory, {}) == 0);
}

TEST_CASE("samples are added up by function, stack, process and thread", "[sampling]") {
    Snapshot snapshot;
    for (int i = 0; i < 3; ++i)
        snapshot.functions.intern(
            {snapshot.texts.intern("m"), snapshot.texts.intern("f"), static_cast<std::uint32_t>(i)});
    const auto stack = [&](std::vector<std::uint32_t> ids) {
        std::vector<Frame> frames;
        for (const std::uint32_t id : ids) frames.push_back({.function = static_cast<FunctionId>(id)});
        return snapshot.stacks.intern(frames);
    };
    CpuSamples samples;
    samples.threads = {{10, "scheduler:1", Scheduler::Kind::normal}, {11, "scheduler:2", Scheduler::Kind::normal}};
    samples.natives = {{"copy_struct_x", "beam.smp", 0}, {"", "beam.smp", 0x1230}, {"erts_schedule", "beam.smp", 0}};
    const Pid one{0, 1, 0}, two{0, 2, 0};
    samples.samples = {{0, SampleBasis::exact, false, one, stack({0, 1}), {}},
                       {0, SampleBasis::exact, false, one, stack({0, 1, 0}), {}},  // recursive: once on the stack
                       {1, SampleBasis::checked, false, two, stack({1, 2}), {1, 0}},
                       {1, SampleBasis::moved, false, two, StackId::none, {1, 0}},
                       {1, SampleBasis::none, false, {}, StackId::none, {1, 2}}};
    const auto rows = analyses::samples_by_function(snapshot, samples, {});
    REQUIRE(rows.size() == 5);
    CHECK(rows[0].function == static_cast<FunctionId>(0));
    CHECK(rows[0].self == 2);
    CHECK(rows[0].total == 2);
    CHECK(rows[0].native == 0);
    std::uint64_t self = 0;
    for (const auto& row : rows) {
        self += row.self;
        if (row.function == static_cast<FunctionId>(1)) {
            CHECK(row.self == 1);
            CHECK(row.native == 1);
            CHECK(row.total == 3);
        }
        if (row.function == FunctionId::none) CHECK((row.native_function == 0 || row.native_function == 2));
    }
    CHECK(self == samples.samples.size());

    CHECK(analyses::samples_by_function(snapshot, samples, {.only_erlang = true}).size() == 2);
    const auto blamed = analyses::samples_by_function(snapshot, samples, {.blamed = "copy_struct"});
    REQUIRE(blamed.size() == 3);
    CHECK(blamed[0].self + blamed[1].self + blamed[2].self == 2);
    CHECK(analyses::samples_by_stack(snapshot, samples, {}).size() == 5);
    const auto processes = analyses::samples_by_process(snapshot, samples, {});
    REQUIRE(processes.size() == 3);
    CHECK(processes[0].count == 2);
    const auto threads = analyses::samples_by_thread(snapshot, samples, {});
    REQUIRE(threads.size() == 2);
    CHECK(threads[0].erlang == 2);
    CHECK(threads[1].native == 2);
    CHECK(threads[1].other == 1);
    CHECK(analyses::accuracy(samples).erlang == 2);
}

TEST_CASE("a native function is blamed by the beginning of its name, a pattern, or its place", "[sampling]") {
    const NativeFunction named{"copy_struct_x", "beam.smp", 0}, unnamed{"", "beam.smp", 0x1230};
    CHECK(analyses::is_blamed(named, "copy_struct"));
    CHECK(analyses::is_blamed(named, "*struct*"));
    CHECK_FALSE(analyses::is_blamed(named, "struct"));
    CHECK_FALSE(analyses::is_blamed(named, "*struct"));
    for (const char* empty : {"*copy_struct_x", "copy_struct_x*", "copy_*struct*_x", "*copy*_*struct_x", "c*p*t_x"})
        CHECK(analyses::is_blamed(named, empty));
    for (const char* none : {"*copy_struct_xx", "copy_**structs_x", "c*p*t_xx", "*q*"})
        CHECK_FALSE(analyses::is_blamed(named, none));
    CHECK(analyses::is_blamed(unnamed, "beam.smp+0x1230"));
    CHECK(analyses::is_blamed(unnamed, "0x1230"));
    CHECK_FALSE(analyses::is_blamed(unnamed, "copy_struct"));
}

TEST_CASE("debug registers that tell of nothing are no program that allocates little", "[sampling]") {
    const auto said = [](std::uint64_t passed, std::uint64_t stack_growth, std::uint64_t arms) {
        Snapshot snapshot;
        AllocationSamples samples;
        samples.arms = arms;
        samples.passed = passed;
        samples.stack_growth = stack_growth;
        const analyses::AllocationProfile none = analyses::allocation_profile(snapshot, samples, {}, false);
        const std::vector<present::Text> texts =
            present::allocation_texts(present::Names(snapshot, present::Syntax::erlang), samples, none);
        REQUIRE_FALSE(texts.empty());
        return present::Redactor({}).apply(texts.front());
    };
    CHECK(said(11, 0, 114).find("debug registers of this machine") != std::string::npos);
    CHECK(said(4, 0, 20).find("little is allocated") != std::string::npos);  // it may have run elsewhere
    CHECK(said(5, 0, 101).find("little is allocated") != std::string::npos);
    CHECK(said(11, 1, 114).find("little is allocated") != std::string::npos);  // one write was told of
}

// Two functions allocate 3 : 1; what each hit stands for makes the estimate, whatever the sizes of the heaps.
TEST_CASE("words of hits are what was allocated, and hits without a caller are shared out", "[sampling]") {
    Snapshot snapshot;
    std::mt19937 random(5);
    AllocationSamples samples;
    samples.natives = {{"erts_maps_put", "beam.smp", 0}, {"other", "beam.smp", 0}};
    const auto hit = [&](std::uint32_t function, std::uint64_t words) {
        samples.hits.push_back(
            {0, SampleBasis::exact, words, Pid{0, 1, 0}, static_cast<FunctionId>(function), AllocationHit::no_native});
    };
    // In each window function 0 allocates 300 words of a heap with 1000 free words, function 1 100 words of one with
    // 10000.
    for (int window = 0; window < 60000; ++window) {
        if (random() % 1000 < 300) hit(0, 1000);
        if (random() % 10000 < 100) hit(1, 10000);
    }
    const analyses::AllocationProfile profile = analyses::allocation_profile(snapshot, samples, {}, false);
    REQUIRE(profile.rows.size() == 2);
    CHECK(profile.rows[0].percent == Approx(75).margin(2));
    CHECK(profile.rows[0].words == Approx(60000.0 * 300).epsilon(0.03));
    CHECK(profile.rows[0].error == Approx(100 / std::sqrt(static_cast<double>(profile.rows[0].samples))).epsilon(0.01));

    samples.hits.clear();
    const auto in_c = [&](SampleBasis basis, std::uint32_t function, std::uint32_t native) {
        samples.hits.push_back({0, basis, 100, Pid{0, 1, 0}, static_cast<FunctionId>(function), native});
    };
    constexpr std::uint32_t none = 0xFFFFFFFFu;
    for (int i = 0; i < 3; ++i) in_c(SampleBasis::checked, 0, 0);
    in_c(SampleBasis::checked, 1, 0);
    for (int i = 0; i < 4; ++i) in_c(SampleBasis::moved, none, 0);
    in_c(SampleBasis::moved, none, 1);
    const analyses::AllocationProfile shared = analyses::allocation_profile(snapshot, samples, {}, false);
    REQUIRE(shared.rows.size() == 3);
    CHECK(shared.rows[0].words == Approx(600));
    CHECK(shared.rows[0].samples == 3);
    CHECK(shared.rows[1].words == Approx(200));
    CHECK(shared.rows[2].native == 1);
    CHECK(shared.shared == 4);
    CHECK(shared.unknown == 1);
    CHECK(analyses::allocation_profile(snapshot, samples, {}, true).rows[0].process == Pid{0, 1, 0});

    // Fragments: 40 writes of 4 watches are 4 observations; words are those of all.
    samples.hits.clear();
    for (std::uint32_t i = 0; i < 40; ++i)
        samples.hits.push_back({0, SampleBasis::checked, 3, Pid{0, 1, 0}, static_cast<FunctionId>(0),
                                AllocationHit::no_native, 1 + i % 4});
    const analyses::AllocationProfile beside = analyses::allocation_profile(snapshot, samples, {}, false);
    REQUIRE(beside.rows.size() == 1);
    CHECK(beside.fragments == 40);
    CHECK(beside.hits == 0);
    CHECK(beside.rows[0].words == Approx(120));
    CHECK(beside.rows[0].error == Approx(50));
}
