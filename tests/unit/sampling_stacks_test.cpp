// SPDX-License-Identifier: Apache-2.0
// From a sample's registers and stack to a process and its functions: each rule of the resolver by itself, on made
// memory.
#include <catch2/catch.hpp>

#include "support/made_process.hpp"

using namespace beamheap;
using namespace beamheap::test;
using bytes::X86;

namespace {

// A sample that was taken in code at `rip`, with this stack at `rsp`.
struct MadeSample {
    MadeSample(std::uint64_t rip, std::uint64_t rsp, std::vector<std::uint64_t> words) : stack(std::move(words)) {
        set(X86::rip, rip), set(X86::rsp, rsp), set(X86::r13, process_at);
        sample.stack = std::as_bytes(std::span(stack));
    }
    void set(X86 r, std::uint64_t value) { sample.registers[static_cast<std::size_t>(r)] = value; }
    std::vector<std::uint64_t> stack;
    bytes::ThreadSample sample;
};

std::vector<bytes::UnwoundFrame> interrupted_at(std::uint64_t address) {
    bytes::UnwoundFrame frame;
    frame.address = address;
    frame.interrupted = true;
    return {frame};
}

otp::ResolvedSample in_erlang(MadeProcess& process, const MadeSample& made, bool frame_pointers = false) {
    otp::SampleResolver resolver = process.resolver(frame_pointers);
    return resolver.resolve(made.sample, interrupted_at(made.sample.program_counter()), true);
}

otp::ResolvedSample in_c(MadeProcess& process, const std::vector<bytes::UnwoundFrame>& frames,
                         bool frame_pointers = false, bool stand = false) {
    otp::SampleResolver resolver = process.resolver(frame_pointers);
    resolver.threads_stand(stand);
    return resolver.resolve({}, frames, true);
}

constexpr std::uint64_t heap_top = heap_at + 80;  // of a MadeProcess's heap

// Code in front of a return address, or at an address: bytes, the first one lowest.
void code(MadeProcess& process, std::uint64_t at, std::vector<std::uint8_t> bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::uint64_t& word = process.memory.words[(at + i) & ~7ull];
        const unsigned shift = static_cast<unsigned>((at + i) % 8 * 8);
        word = (word & ~(0xffull << shift)) | std::uint64_t{bytes[i]} << shift;
    }
}
std::vector<std::uint8_t> with_distance(std::vector<std::uint8_t> opcode, std::uint64_t from, std::uint64_t to) {
    const auto distance = static_cast<std::uint32_t>(to - from);
    for (unsigned i = 0; i < 4; ++i) opcode.push_back(static_cast<std::uint8_t>(distance >> 8 * i));
    return opcode;
}
void call(MadeProcess& process, std::uint64_t returns_to, std::uint64_t to) {
    code(process, returns_to - 5, with_distance({0xe8}, returns_to, to));
}

}  // namespace

TEST_CASE("a process is one by its identifier, and read whole or not at all", "[sampling]") {
    MadeProcess process({code_of(1)});
    otp::SampleResolver resolver = process.resolver();
    const otp::SeenProcess seen = resolver.see(process_at);
    CHECK(seen.address == process_at);
    CHECK(seen.id == a_pid);
    CHECK(seen.heap == heap_at);
    CHECK(seen.top == heap_at + 80);
    CHECK(seen.stop == process.stop);
    CHECK(seen.end == MadeProcess::end);
    CHECK(resolver.see(0).address == 0);
    CHECK(resolver.see(process_at + 4).address == 0);
    CHECK(resolver.see(0x123450).address == 0);
    for (const std::uint64_t no_pid : {a_pid ^ 1, a_pid ^ 4, a_pid ^ 8}) {
        process.memory.words[process_at] = no_pid;
        CHECK(resolver.see(process_at).address == 0);
    }
    process.memory.words[process_at] = a_pid;
    process.memory.words.erase(process_at + process.layout.at.process_size - 8);  // its last word is gone
    CHECK(resolver.see(process_at).address == 0);
}

TEST_CASE("of a stack's words return addresses are frames, terms are not, and what should be code and isn't is noted",
          "[sampling]") {
    MadeProcess process({});
    const std::uint64_t tagged = code_of(5) | 1;  // a list at an address of code
    otp::ResolvedSample resolved = in_erlang(
        process, {code_of(1), 0, {tagged, an_atom, code_of(2), 0x7fff0000, code_of(3), exit_stub, code_of(4)}});
    CHECK(functions(resolved) == Ids{1, 2, 3});
    CHECK(resolved.unknown_code);
    CHECK_FALSE(resolved.cut);
    resolved = in_erlang(process, {code_of(1), 0, {code_of(2), exit_stub}});
    CHECK_FALSE(resolved.unknown_code);

    // In a fragment the first word is a return address whatever its low bits are; where it is none, code is not missing
    // for that.
    resolved = in_erlang(process, {fragment, 0, {code_of(2) + 1, exit_stub}});
    CHECK(functions(resolved) == Ids{2});
    resolved = in_erlang(process, {fragment, 0, {an_atom, code_of(3), exit_stub}});
    CHECK(functions(resolved) == Ids{3});
    CHECK_FALSE(resolved.unknown_code);
    CHECK_FALSE(resolved.by_code);
}

TEST_CASE("with frame pointers the return address is the word behind each", "[sampling]") {
    MadeProcess process({});
    const std::uint64_t pointer = heap_at + 0x100;
    otp::ResolvedSample resolved = in_erlang(
        process, {code_of(1), 0, {an_atom, pointer, code_of(2), an_atom, pointer, code_of(3), pointer, exit_stub}},
        true);
    CHECK(functions(resolved) == Ids{1, 2, 3});
    CHECK_FALSE(resolved.cut);
    CHECK_FALSE(resolved.unknown_code);
    resolved = in_erlang(process, {code_of(1), 0, {an_atom, pointer, code_of(2), exit_stub}},
                         true);  // one that none stands in front of
    CHECK(functions(resolved) == Ids{1, 2});
    CHECK_FALSE(resolved.cut);
}

TEST_CASE("of a stack so many frames are kept, and that there are more is told", "[sampling]") {
    MadeProcess process({});
    std::vector<std::uint64_t> words(otp::most_sampled_frames - 1, code_of(2));
    words.push_back(exit_stub);
    otp::ResolvedSample resolved = in_erlang(process, {code_of(1), 0, words});
    CHECK(resolved.frames.size() == 512);
    CHECK_FALSE(resolved.cut);
    words.insert(words.begin(), code_of(3));
    resolved = in_erlang(process, {code_of(1), 0, words});
    CHECK(resolved.frames.size() == 512);
    CHECK(resolved.cut);
    CHECK(resolved.basis == SampleBasis::exact);
}

TEST_CASE("a stack that is deeper than its copy is read on where the copy ends, within the process's heap",
          "[sampling]") {
    MadeProcess process({code_of(4), an_atom, code_of(5)});
    const std::uint64_t stop = process.stop;
    otp::ResolvedSample resolved = in_erlang(process, {code_of(1), stop, {code_of(4)}});  // the copy ends in the middle
    CHECK(functions(resolved) == Ids{1, 4, 5});
    CHECK_FALSE(resolved.cut);
    CHECK(resolved.basis == SampleBasis::exact);
    CHECK(resolved.stack_top == stop);

    process.memory.words.erase(MadeProcess::end - 8);  // the last word can't be read
    resolved = in_erlang(process, {code_of(1), stop, {code_of(4)}});
    CHECK(functions(resolved) == Ids{1, 4, 5});
    CHECK(resolved.cut);

    MadeProcess other({code_of(4), code_of(5)});
    MadeSample gone(code_of(1), other.stop, {code_of(2)});  // of a process that is none any more, only the copy counts
    other.memory.words[process_at] = 0;
    resolved = in_erlang(other, gone);
    CHECK(functions(resolved) == Ids{1, 2});
    CHECK(resolved.cut);
    CHECK(resolved.basis == SampleBasis::exact);

    MadeProcess third({code_of(4), code_of(5)});
    resolved = in_erlang(
        third, {code_of(1), MadeProcess::end - 8, {code_of(2), an_atom, an_atom}});  // the copy ends behind the heap
    CHECK(functions(resolved) == Ids{1, 2});
    CHECK(resolved.cut);
}

TEST_CASE("Erlang code that is on the thread's stack for a moment has the process's stack as it is now", "[sampling]") {
    MadeProcess process({code_of(2), an_atom, code_of(3)});
    const std::uint64_t elsewhere = 0x7fff00000000;
    otp::ResolvedSample resolved = in_erlang(process, {code_of(1), elsewhere, {code_of(9), 0x7fff1230}});
    CHECK(resolved.basis == SampleBasis::approximate);
    CHECK(resolved.stack_top == 0);  // that is no stack of the process's
    CHECK(functions(resolved) == Ids{1, 2, 3});
    CHECK_FALSE(resolved.unknown_code);
    resolved = in_erlang(process, {fragment, elsewhere, {code_of(9)}});
    CHECK(resolved.basis == SampleBasis::approximate);
    CHECK(functions(resolved) == Ids{2, 3});
    process.memory.words[process_at + process.layout.at.process_stop] = heap_at - 8;  // no stack is there
    resolved = in_erlang(process, {fragment, elsewhere, {code_of(9)}});
    CHECK(resolved.basis == SampleBasis::moved);
    CHECK(resolved.frames.empty());
    resolved = in_erlang(process, {code_of(1), heap_at - 8, {code_of(9)}});  // right below the heap: not on it
    CHECK(resolved.basis == SampleBasis::approximate);
    CHECK(functions(resolved) == Ids{1});
}

TEST_CASE("C code is of the same call where the heap's top is the same, or a little further", "[sampling]") {
    MadeProcess process({code_of(2), an_atom}, 0);
    const auto with_top = [&](std::uint64_t heap, std::uint64_t htop, std::uint64_t end, std::uint64_t seen) {
        process.memory.words[process_at + process.layout.at.process_heap] = heap;
        process.memory.words[process_at + process.layout.at.process_htop] = htop;
        process.memory.words[process_at + process.layout.at.process_heap_end] = end;
        return in_c(process, called_from(fragment, seen)).basis;
    };
    const std::uint64_t far = 0x580000, end = MadeProcess::end;  // a heap with much room below the stack
    CHECK(with_top(far, far + 8 * 2000, end, far) == SampleBasis::checked);
    CHECK(with_top(far, far + 8 * 2000 + 8, end, far) == SampleBasis::approximate);
    CHECK(with_top(far, far + 8, end, far + 16) ==
          SampleBasis::approximate);                                    // it had more at the sample: another turn
    CHECK(with_top(far, far + 8, end, far - 8) == SampleBasis::moved);  // another heap
    CHECK(with_top(far, far + 8, end, end + 8) == SampleBasis::moved);
    CHECK(with_top(far, far + 8, end, end) == SampleBasis::approximate);  // its very end is of it
}

TEST_CASE("a thread that stands has its caller for certain, and one of no process has none", "[sampling]") {
    MadeProcess process({code_of(2), an_atom});
    CHECK(in_c(process, called_from(fragment, heap_top + 16)).basis == SampleBasis::approximate);
    CHECK(in_c(process, called_from(fragment, heap_top + 16), false, true).basis == SampleBasis::checked);

    std::vector<bytes::UnwoundFrame> frames = called_from(code_of(7), heap_top);
    process.memory.words[process_at] = 0;  // ended since: the code itself says who called
    otp::ResolvedSample resolved = in_c(process, frames);
    CHECK(resolved.basis == SampleBasis::approximate);
    CHECK(functions(resolved) == Ids{7});
    CHECK(resolved.cut);
    CHECK(in_c(process, called_from(fragment, heap_top)).basis == SampleBasis::none);
    frames[1].known = 0;  // no registers
    resolved = in_c(process, frames);
    CHECK(resolved.basis == SampleBasis::none);
    CHECK(resolved.native == 1);
    otp::SampleResolver resolver = process.resolver();
    CHECK(resolver.resolve({}, {}, true).native == 0);
    frames[1].of_file = true;  // the thread's oldest frame, not the JIT's
    CHECK(resolver.resolve({}, frames, true).native == 2);
}

TEST_CASE("a stack that can't be followed leaves its process, and no function that is not sure", "[sampling]") {
    MadeProcess process({code_of(2), an_atom});
    process.memory.words[process_at + process.layout.at.process_stop] = process.stop + 4;  // no stack begins there
    otp::ResolvedSample resolved = in_c(process, called_from(fragment, heap_top));
    CHECK(resolved.basis == SampleBasis::moved);
    CHECK(resolved.frames.empty());
    CHECK_FALSE(resolved.cut);
    CHECK(resolved.process.id == a_pid);
    resolved = in_c(process, called_from(code_of(7), heap_top));
    CHECK(resolved.basis == SampleBasis::approximate);
    CHECK(functions(resolved) == Ids{7});
    CHECK(resolved.cut);
}

TEST_CASE("who called a fragment is told by where the call in front of the return address goes", "[sampling]") {
    const auto stack = std::vector<std::uint64_t>{code_of(2), an_atom};
    // What is called, and how: the answer for code in the fragment that begins at `fragment`.
    const auto caller = [&](const std::function<void(MadeProcess&)>& calls, std::uint64_t inside = fragment + 64) {
        MadeProcess process(stack);
        calls(process);
        return in_c(process, called_from(inside, heap_top + 16)).basis;  // by the heap alone: approximate
    };
    using P = MadeProcess;
    CHECK(caller([](P&) {}) == SampleBasis::approximate);  // no code to read
    CHECK(caller([](P& p) { call(p, code_of(2), fragment); }) == SampleBasis::checked);
    CHECK(caller([](P& p) { call(p, code_of(2), fragment + 64); }) == SampleBasis::checked);
    CHECK(caller([](P& p) { call(p, code_of(2), fragment + 65); }) == SampleBasis::moved);  // behind the code that runs
    CHECK(caller([](P& p) { call(p, code_of(2), fragment); }, fragment + 1023) == SampleBasis::checked);
    CHECK(caller([](P& p) { call(p, code_of(2), fragment); }, fragment + 1024) ==
          SampleBasis::moved);  // no fragment is that long
    // By a word with the address: FF 15.
    CHECK(caller([](P& p) {
              code(p, code_of(2) - 6, with_distance({0xff, 0x15}, code_of(2), 0x700000));
              p.memory.words[0x700000] = fragment;
          }) == SampleBasis::checked);
    CHECK(caller([](P& p) {
              code(p, code_of(2) - 6, {0, 0, 0, 0, 0xff, 0xd0});
          }) == SampleBasis::moved);  // by a register
    // By jumps: E9, the same with a prefix, FF 25.
    const std::uint64_t jump = 0x20800;
    CHECK(caller([&](P& p) {
              call(p, code_of(2), jump);
              code(p, jump, with_distance({0xe9}, jump + 5, fragment));
          }) == SampleBasis::checked);
    CHECK(caller([&](P& p) {
              call(p, code_of(2), jump);
              code(p, jump, with_distance({0x40, 0xe9}, jump + 6, fragment));
          }) == SampleBasis::checked);
    CHECK(caller([&](P& p) {
              call(p, code_of(2), jump);
              code(p, jump, with_distance({0xff, 0x25}, jump + 6, 0x700000));
              p.memory.words[0x700000] = fragment;
          }) == SampleBasis::checked);
    const auto chain = [&](P& p, std::uint64_t jumps) {
        call(p, code_of(2), jump);
        for (std::uint64_t i = 0; i < jumps; ++i)
            code(p, jump + 16 * i,
                 with_distance({0xe9}, jump + 16 * i + 5, i + 1 == jumps ? fragment : jump + 16 * (i + 1)));
    };
    CHECK(caller([&](P& p) { chain(p, 3); }) == SampleBasis::checked);
    CHECK(caller([&](P& p) { chain(p, 4); }) == SampleBasis::moved);  // not followed for ever
}

TEST_CASE("of two fragments side by side the code is in the one that begins last in front of it", "[sampling]") {
    MadeProcess process({code_of(2), an_atom, code_of(3), an_atom});
    call(process, code_of(2), fragment);
    call(process, code_of(3), fragment + 32);
    otp::SampleResolver resolver = process.resolver();
    const auto basis = [&](std::uint64_t inside, std::uint64_t saved) {
        return resolver.resolve({}, called_from(inside, heap_top + 16, saved), true);
    };
    CHECK(functions(basis(fragment + 64, process.stop + 16)) == Ids{3});  // both are known from here on
    CHECK(functions(basis(fragment + 31, process.stop + 16)) == Ids{2, 3});
    CHECK(functions(basis(fragment + 32, process.stop + 16)) == Ids{3});
    CHECK(basis(fragment - 1, process.stop + 16).basis == SampleBasis::moved);
    // A register that is outside of heap and stack is none that holds the stack's top.
    CHECK(basis(fragment + 64, heap_top - 8).basis == SampleBasis::moved);
    CHECK(basis(fragment + 64, MadeProcess::end).basis == SampleBasis::moved);
}

TEST_CASE("with frame pointers the return address stands behind the fragment's own", "[sampling]") {
    const std::uint64_t pointer = heap_at + 0x100;
    MadeProcess process({pointer, code_of(2), an_atom, pointer, code_of(3)});
    otp::ResolvedSample resolved = in_c(process, called_from(fragment, heap_top), true);
    CHECK(resolved.basis == SampleBasis::checked);
    CHECK(functions(resolved) == Ids{2, 3});
    MadeProcess bare({code_of(2), an_atom, pointer, code_of(3)});  // one without a frame of its own
    CHECK(functions(in_c(bare, called_from(fragment, heap_top), true)) == Ids{2, 3});

    // The frame pointer is that of the fragment's frame: the process has gone on, its return address is there still.
    MadeProcess moved({an_atom, pointer, code_of(2), an_atom, pointer, code_of(3)});
    call(moved, code_of(2), fragment);
    resolved = in_c(moved, called_from(fragment, heap_top + 16, moved.stop + 8), true);
    CHECK(resolved.basis == SampleBasis::checked);
    CHECK(functions(resolved) == Ids{2, 3});
}

TEST_CASE("a process that is known by other means has its stack from where that is known to begin", "[sampling]") {
    MadeProcess process({code_of(2), an_atom, code_of(3)});
    otp::SampleResolver resolver = process.resolver();
    otp::ResolvedSample resolved = resolver.resolve_process(process_at, 0, 0);
    CHECK(functions(resolved) == Ids{2, 3});
    CHECK(resolved.basis == SampleBasis::approximate);
    CHECK_FALSE(resolved.by_code);
    resolved = resolver.resolve_process(process_at, process.stop + 16, code_of(7));
    CHECK(functions(resolved) == Ids{7, 3});
    CHECK(resolved.by_code);
    resolved = resolver.resolve_process(process_at, MadeProcess::end + 8, code_of(7));
    CHECK(functions(resolved) == Ids{7});
    CHECK(resolved.basis == SampleBasis::approximate);
    resolved = resolver.resolve_process(process_at, MadeProcess::end + 8, 0);
    CHECK(resolved.basis == SampleBasis::moved);
    CHECK(resolver.resolve_process(process_at + 8, 0, code_of(7)).basis == SampleBasis::none);
}

TEST_CASE("where stacks begin is the word of more than half of the processes, and no zero", "[sampling]") {
    MadeMemory memory;
    const otp::Layout& layout = *otp::find_layout(27, otp::Flavour::jit);
    std::vector<std::uint64_t> processes;
    const auto add = [&](std::uint64_t word) {
        const std::uint64_t at = 0x900000 + 0x10000 * processes.size();
        memory.words[at + layout.at.process_heap_end] = at + 0x8000;
        memory.words[at + 0x8000 - 8] = word;
        processes.push_back(at);
        return otp::learn_exit_stub(layout, memory, processes);
    };
    CHECK(add(exit_stub) == exit_stub);
    CHECK(add(0x111) == 0);  // half is not most
    CHECK(add(exit_stub) == exit_stub);
    processes.push_back(0x123450);  // which can't be read, and counts for nothing
    CHECK(otp::learn_exit_stub(layout, memory, processes) == exit_stub);
    memory.words[processes[0] + 0x8000 - 8] = memory.words[processes[2] + 0x8000 - 8] = 0;
    CHECK(otp::learn_exit_stub(layout, memory, processes) == 0);
}
