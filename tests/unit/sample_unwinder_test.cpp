// SPDX-License-Identifier: Apache-2.0
// Stacks of native code out of a sample of the test's own thread, unwound by the tables of the test's own file.
#include <catch2/catch.hpp>

#if defined(__x86_64__)
#include <fmt/format.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "bytes/sample_unwinder.hpp"

using namespace beamheap;
using bytes::UnwoundFrame;
using bytes::X86;

namespace {

class OwnMemory final : public bytes::LiveMemory {
public:
    using LiveMemory::read;
    void read(std::span<bytes::MemoryPiece> pieces) const override {
        for (bytes::MemoryPiece& piece : pieces) {
            iovec local{piece.into.data(), piece.into.size()},
                remote{reinterpret_cast<void*>(piece.address), piece.into.size()};
            piece.got =
                static_cast<std::size_t>(std::max<ssize_t>(0, process_vm_readv(getpid(), &local, 1, &remote, 1, 0)));
        }
    }
    std::vector<bytes::Mapping> mappings() const override {
        return bytes::parse_mappings(bytes::read_small_file("/proc/self/maps"));
    }
    bool gone() const override { return false; }
};

std::vector<UnwoundFrame>* unwound = nullptr;

}  // namespace

// marked_outer has a number in rbx and calls marked_middle, which uses no register that it would have to keep, and says
// so by saying nothing; that one calls marked_take.
extern "C" void marked_outer();
extern "C" void marked_return();  // where the first call returns to: no function, a place
extern "C" void marked_take() {
    ucontext_t context{};
    getcontext(&context);
    const greg_t* g = context.uc_mcontext.gregs;
    bytes::ThreadSample sample;
    const std::pair<X86, int> registers[] = {{X86::rax, REG_RAX}, {X86::rbx, REG_RBX}, {X86::rbp, REG_RBP},
                                             {X86::rsp, REG_RSP}, {X86::rip, REG_RIP}, {X86::r12, REG_R12},
                                             {X86::r13, REG_R13}, {X86::r14, REG_R14}, {X86::r15, REG_R15}};
    for (const auto& [name, at] : registers)
        sample.registers[static_cast<std::size_t>(name)] = static_cast<std::uint64_t>(g[at]);
    const OwnMemory memory;
    std::vector<std::byte> stack(4096);
    stack.resize(memory.read(sample.stack_pointer(), stack));
    sample.stack = stack;
    bytes::SampleUnwinder unwinder(static_cast<std::uint32_t>(getpid()), memory);
    unwinder.unwind(sample, *unwound);
}

asm(R"(
    .text
    .globl marked_outer, marked_return
    .type marked_outer, @function
marked_outer:
    .cfi_startproc
    push %rbx
    .cfi_def_cfa_offset 16
    .cfi_offset %rbx, -16
    mov $0x123456789, %rbx
    mov $0x77, %eax
    call marked_middle
marked_return:
    pop %rbx
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size marked_outer, . - marked_outer
    .type marked_middle, @function
marked_middle:
    .cfi_startproc
    sub $8, %rsp
    .cfi_def_cfa_offset 16
    call marked_take@PLT
    add $8, %rsp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size marked_middle, . - marked_middle
)");

TEST_CASE("a register that a called function must keep is known in its caller, also where no table speaks of it",
          "[sampling]") {
    std::vector<UnwoundFrame> frames;
    unwound = &frames;
    marked_outer();
    const auto outer = std::find_if(frames.begin(), frames.end(), [](const UnwoundFrame& f) {
        return f.address == reinterpret_cast<std::uint64_t>(&marked_return);
    });
    REQUIRE(outer != frames.end());
    REQUIRE(outer - frames.begin() >= 2);
    CHECK((*outer)[X86::rbx] == 0x123456789u);
    CHECK(outer->of_file);
    // What a called function need not keep is known of the youngest frame alone.
    CHECK(frames.front()[X86::rax]);
    CHECK_FALSE((*outer)[X86::rax]);
    // Behind the frame that restores it rbx is that of the test again, which is not the mark.
    REQUIRE(outer + 1 != frames.end());
    CHECK((*(outer + 1))[X86::rbx] != 0x123456789u);
}

TEST_CASE("code is named alike whichever code of its function was named before", "[sampling]") {
    const OwnMemory memory;
    const auto pid = static_cast<std::uint32_t>(getpid());
    const auto named = [](bytes::SampleUnwinder& unwinder, std::uint64_t address, bool interrupted) {
        UnwoundFrame frame;
        frame.address = address;
        frame.interrupted = interrupted;
        const bytes::NativeFrame& name = unwinder.name(frame);
        return fmt::format("{:x} {} {} {:x}", name.address, name.file, name.function, name.offset);
    };
    std::vector<std::pair<std::uint64_t, bool>> places;
    const auto libc = reinterpret_cast<std::uint64_t>(&std::qsort),
               own = reinterpret_cast<std::uint64_t>(&marked_outer);
    for (std::uint64_t i = 0; i < 400; ++i) places.emplace_back(libc - 2000 + 11 * i, i % 3 == 0);
    for (std::uint64_t i = 0; i < 40; ++i) places.emplace_back(own + i, i % 2 == 0);
    bytes::SampleUnwinder forwards(pid, memory), backwards(pid, memory);
    std::vector<std::string> names(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) names[i] = named(forwards, places[i].first, places[i].second);
    std::set<std::string> functions;
    for (std::size_t i = places.size(); i-- > 0;) {
        CHECK(named(backwards, places[i].first, places[i].second) == names[i]);
        functions.insert(names[i].substr(names[i].find(' ')));
    }
    CHECK(functions.size() > 300);  // other offsets, of more than one function
    // A return address is of the function in front of it, as far behind its start as it is.
    const auto middle = reinterpret_cast<std::uint64_t>(&marked_return);
    CHECK(named(forwards, middle, false).ends_with(fmt::format("marked_outer {:x}", middle - own)));
    CHECK(named(forwards, own, true).ends_with("marked_outer 0"));
    CHECK_FALSE(named(forwards, own, false).ends_with("marked_outer 0"));
}
#endif
