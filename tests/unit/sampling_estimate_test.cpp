// SPDX-License-Identifier: Apache-2.0
// What hits on watched words stand for, and where an interpreter is: arithmetic and votes, without a VM.
#include <catch2/catch.hpp>
#include <set>

#include "formats/otp/sampling/allocation_estimate.hpp"
#include "formats/otp/sampling/interpreter.hpp"
#include "formats/otp/sampling/scheduling.hpp"
#include "support/made_process.hpp"

using namespace beamheap;
using namespace beamheap::test;
using bytes::X86;

namespace {

constexpr std::uint64_t heap = 0x10000, top = heap + 0x100;

otp::SeenProcess with_free(std::uint64_t words) {
    return {process_at, a_pid, heap, top, top + 8 * words, top + 8 * words + 0x80};
}

AllocationHit hit(Pid pid, std::uint64_t words, std::uint32_t fragment) {
    AllocationHit made;
    made.pid = pid;
    made.words = words;
    made.fragment = fragment;
    return made;
}

struct RegisterValue {
    X86 name;
    std::uint64_t value;
};
bytes::UnwoundFrame frame_with(const std::vector<RegisterValue>& values) {
    bytes::UnwoundFrame frame;
    for (const RegisterValue& each : values) {
        frame.registers[static_cast<std::size_t>(each.name)] = each.value;
        frame.known |= 1u << static_cast<unsigned>(each.name);
    }
    return frame;
}

const otp::SeenProcess current{process_at, a_pid, heap_at, heap_at + 80, heap_at + 400, heap_at + 512};

FunctionId function_at(std::uint64_t address) {
    MadeCode code;
    return code.frame(address, false).function;
}
void learn(otp::InterpreterRegisters& registers, int times, const std::vector<RegisterValue>& values) {
    for (int i = 0; i < times; ++i)
        registers.learn(frame_with(values), current,
                        [](std::uint64_t address) { return function_at(address) != FunctionId::none; });
}

}  // namespace

TEST_CASE("a watched word is any of the free ones above what a call has in hand", "[sampling]") {
    std::set<std::uint64_t> seen;
    for (std::uint64_t draw = 0; draw < 100; ++draw) {
        const otp::ChosenWord chosen = otp::choose_word(with_free(20), draw);
        CHECK(chosen.words == 12);
        seen.insert(chosen.address);
    }
    CHECK(seen.size() == 12);
    CHECK(*seen.begin() == top);
    CHECK(*seen.rbegin() == top + 8 * 11);
    CHECK(otp::choose_word(with_free(10), 5).words == 2);
    CHECK(otp::choose_word(with_free(9), 5).words == 0);
    CHECK(otp::choose_word(with_free(0), 5).words == 0);
    otp::SeenProcess torn = with_free(20);
    torn.address = 0;
    CHECK(otp::choose_word(torn, 1).words == 0);
    torn = with_free(20), torn.heap = torn.top + 8;
    CHECK(otp::choose_word(torn, 1).words == 0);
    torn = with_free(20), torn.stop = torn.top - 8;
    CHECK(otp::choose_word(torn, 1).words == 0);
    torn = with_free(20), torn.end = torn.stop - 8;
    CHECK(otp::choose_word(torn, 1).words == 0);
    torn = with_free(20), torn.heap = torn.top, torn.end = torn.stop;  // an empty heap, and no stack: all is free
    CHECK(otp::choose_word(torn, 1).words == 12);
}

TEST_CASE("fragments stand for what they grew by beside the words of all hits, shared out by what was seen",
          "[sampling]") {
    const Pid busy{0, 1, 0}, rare{0, 2, 0}, other{0, 3, 0};
    otp::FragmentGrowth growth;
    // 10 hits of 1000 words; of half of them the growth is known: 200 words of fragments beside 5000 of heap.
    for (int i = 0; i < 5; ++i) growth.note(busy, 1000, 40);
    for (int i = 0; i < 5; ++i) growth.note(busy, 1000, std::nullopt);
    std::vector<AllocationHit> hits{hit(busy, 1000, 0), hit(busy, 30, 1), hit(busy, 10, 1)};
    growth.spread(hits);
    CHECK(hits[0].words == 1000);
    CHECK(hits[1].words == 300);  // 400 in all, for 10000 of heap
    CHECK(hits[2].words == 100);

    // A period without a hit tells how much fragments grow, too.
    growth.note(busy, 0, 100);
    hits = {hit(busy, 40, 1)};
    growth.spread(hits);
    CHECK(hits[0].words == 600);

    // Those that were rarely met are judged together; nine hits are few.
    otp::FragmentGrowth few;
    for (int i = 0; i < 9; ++i) few.note(rare, 100, 20);
    few.note(other, 100, 80);
    hits = {hit(rare, 5, 1), hit(other, 15, 1)};
    few.spread(hits);
    CHECK(hits[0].words == 65);  // (9 * 20 + 80) words beside 1000 of heap: 260, by 5 and 15
    CHECK(hits[1].words == 195);
    few.note(rare, 100, 20);  // the tenth: judged by its own
    hits = {hit(rare, 5, 1), hit(other, 15, 1)};
    few.spread(hits);
    CHECK(hits[0].words == 200);
    CHECK(hits[1].words == 80);

    // Where no growth is known, what was seen is all there is.
    otp::FragmentGrowth blind;
    blind.note(rare, 100, std::nullopt);
    hits = {hit(rare, 7, 1), hit(other, 0, 1)};
    blind.spread(hits);
    CHECK(hits[0].words == 7);
    CHECK(hits[1].words == 0);
}

TEST_CASE("a register of the interpreter must fit five times as often as any other, and in thirty of a hundred frames",
          "[sampling]") {
    otp::InterpreterRegisters five, less, seldom, enough;
    learn(five, 40, {{X86::r12, process_at}});
    learn(five, 8, {{X86::r14, process_at}});
    CHECK(five.process() == X86::r12);
    learn(less, 39, {{X86::r12, process_at}});
    learn(less, 8, {{X86::r14, process_at}});
    CHECK_FALSE(less.process());
    learn(seldom, 29, {{X86::r12, process_at}});
    learn(seldom, 71, {{X86::r12, 1}});
    CHECK_FALSE(seldom.process());
    learn(enough, 30, {{X86::r12, process_at}});
    learn(enough, 70, {{X86::r12, 1}});
    CHECK(enough.process() == X86::r12);
    CHECK(enough.frames() == 100);

    // The stack's register is above the heap's top, up to the stack's beginning, at a word.
    for (const auto& [value, is_one] : {std::pair{heap_at + 80, false},
                                        {heap_at + 88, true},
                                        {heap_at + 512, true},
                                        {heap_at + 520, false},
                                        {heap_at + 92, false}}) {
        otp::InterpreterRegisters registers;
        learn(registers, 10, {{X86::r13, value}});
        CHECK(registers.stack().has_value() == is_one);
    }
    // Stack pointer and instruction pointer are the thread's own, whatever they hold.
    otp::InterpreterRegisters own;
    learn(own, 10, {{X86::rsp, process_at}, {X86::rip, code_of(4)}});
    CHECK_FALSE(own.process());
    CHECK(own.code_candidates().empty());
}

TEST_CASE("the interpreter's function is that of its register for it, or of those that agree", "[sampling]") {
    const std::vector<RegisterValue> a{{X86::r12, process_at}, {X86::rbx, code_of(4)}},
        b{{X86::r12, process_at}, {X86::rbx, 7}, {X86::r8, code_of(4)}};
    otp::InterpreterRegisters one;
    learn(one, 60, a);
    learn(one, 40, b);
    REQUIRE(one.code() == X86::rbx);  // 60 : 40, half as often again
    CHECK(one.tells_functions());
    const auto place = [](const otp::InterpreterRegisters& by, const std::vector<RegisterValue>& values) {
        return by.place(frame_with(values), function_at);
    };
    otp::InterpretedCode found = place(one, {{X86::rbx, code_of(5)}, {X86::r8, code_of(6)}});
    CHECK((found.address == code_of(5) && found.sure));
    found = place(one, {{X86::rbx, 7}, {X86::r8, code_of(6)}});
    CHECK((found.address == code_of(6) && found.sure));
    found = place(one, {{X86::rbx, 7}, {X86::r8, 9}});
    CHECK((found.address == 0 && !found.sure));

    // None stands out: 59 and 41 of 100; where both hold code they must agree.
    otp::InterpreterRegisters two;
    learn(two, 59, a);
    learn(two, 41, b);
    CHECK_FALSE(two.code());
    CHECK(two.tells_functions());
    CHECK(two.code_candidates() == std::vector{X86::rbx, X86::r8});
    found = place(two, {{X86::rbx, code_of(5)}, {X86::r8, code_of(5) + 8}});
    CHECK((found.address == code_of(5) && found.sure));
    found = place(two, {{X86::rbx, code_of(5)}, {X86::r8, code_of(6)}});
    CHECK((found.address == code_of(5) && !found.sure));
    found = place(two, {{X86::r8, code_of(6)}});  // a caller's frame, in which the other is not known
    CHECK((found.address == code_of(6) && found.sure));

    // A register that holds code in fewer than a quarter of the frames is none; where too few frames have any, nothing
    // is told.
    otp::InterpreterRegisters seldom;
    learn(seldom, 24, a);
    learn(seldom, 76, {{X86::r12, process_at}});
    CHECK(seldom.code_candidates().empty());
    CHECK_FALSE(seldom.tells_functions());
    otp::InterpreterRegisters half;
    learn(half, 25, a);
    learn(half, 25, b);
    learn(half, 50, {{X86::r12, process_at}});
    CHECK_FALSE(half.code());
    CHECK(half.tells_functions());
    learn(half, 1, {{X86::r12, process_at}});
    CHECK_FALSE(half.tells_functions());
    otp::InterpreterRegisters nobody;
    learn(nobody, 10, {{X86::rbx, code_of(4)}});
    CHECK_FALSE(nobody.tells_functions());  // without the process no function is anybody's
}

TEST_CASE("what a scheduler does to find work is nobody's, though its registers name who had it last", "[sampling]") {
    enum : std::uint32_t { schedule, unnamed, poll, other, lookup };
    const auto made = [](std::uint32_t thread, std::vector<std::uint32_t> native) {
        return CpuSample{thread, SampleBasis::checked, true, Pid{0, 1, 0}, static_cast<StackId>(3), std::move(native)};
    };
    CpuSamples samples;
    samples.natives = {{"erts_schedule", "beam.smp", 0},
                       {"", "beam.smp", 0x100},
                       {"epoll_wait", "libc.so.6", 0},
                       {"", "beam.smp", 0x200},
                       {"lookup", "beam.smp", 0}};
    samples.threads = {{1, "scheduler:1", Scheduler::Kind::normal},
                       {2, "dirty_io_scheduler:2", Scheduler::Kind::dirty_io}};
    samples.samples = {made(0, {schedule}),    made(0, {other, schedule}), made(0, {unnamed}),
                       made(0, {other}),       made(0, {schedule, other}), made(0, {}),
                       made(1, {poll, other}), made(0, {poll, lookup})};
    CpuSamples without = samples;
    otp::release_scheduling(without);
    const auto of = [](const CpuSamples& all) {
        std::vector<bool> kept;
        for (const CpuSample& each : all.samples) {
            const bool whole = each.basis == SampleBasis::checked && each.cut && each.pid == Pid{0, 1, 0} &&
                               each.stack == static_cast<StackId>(3);
            const bool taken =
                each.basis == SampleBasis::none && !each.cut && each.pid == Pid{} && each.stack == StackId::none;
            CHECK(whole != taken);
            kept.push_back(whole);
        }
        return kept;
    };
    CHECK(of(without) == std::vector<bool>{false, false, true, true, true, true, true,
                                           true});  // not by a dirty one, nor by what has a name
    samples.samples.push_back(
        made(0, {poll, other, unnamed}));  // the one without a name in which the system is polled is it
    otp::release_scheduling(samples);
    CHECK(of(samples) == std::vector<bool>{false, false, false, true, true, true, true, true, false});
}
