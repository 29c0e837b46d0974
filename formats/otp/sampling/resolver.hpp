// SPDX-License-Identifier: Apache-2.0
// From a sample of a scheduler's thread to the Erlang process and stack that it worked for (x86-64).
//
// Under the JIT, Erlang code runs with c_p in r13, HTOP in r15 and the process's stack in rsp, so a sample that was
// taken there holds the Erlang stack: its words are walked up to the word at which every process's stack begins, the
// address of the code that ends a process ("exit stub"). What is read later can't improve on that.
//
// C code is called on the thread's own stack. Its frames are unwound to the first address of no file, which is the
// JIT's: the registers of that frame, which C code has to keep, name the process. Its Erlang stack is in the process's
// heap and is read now, some 50 us after the sample, when the process may be elsewhere. r15 tells: where Process.htop
// still has that value, or a little more (the call allocates), it is the same call. The calling function is the one
// whose code holds the JIT frame's address; where that is a fragment that all modules share, it is the return address
// on top of the Erlang stack. Fragments are called without regard to alignment, so that word's low bits say nothing:
// code ranges are asked before its tag is looked at (asm: safe_fragment_call). Fragments that switch stacks without
// storing the stack pointer keep it in rbp, and those that store it leave in rbp what another one kept there; which of
// the two holds, the code in front of the return address tells: it is a call of that very fragment. (With frame
// pointers rbp is one, behind which the return address stands; the stack pointer is always stored.) Where that can be
// told it is the better proof, too: within a heap's next words others may have been called.
//
// Facts: beam_asm.hpp of OTP 25 to 27 (registers; emit_enter_runtime, emit_leave_runtime), observed on 29.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "beamheap/interned.hpp"
#include "beamheap/samples.hpp"
#include "bytes/sample_unwinder.hpp"
#include "formats/otp/layout/layout.hpp"

namespace beamheap::otp {

/// Loaded code, as the resolver asks for it.
class CodeMap {
public:
    virtual ~CodeMap() = default;
    /// The function that a return address leads back to, or whose code goes on at `address`; Frame::function is none
    /// where it is in no loaded code.
    virtual Frame frame(std::uint64_t address, bool returning) = 0;
};

/// A process as a scheduler's registers name it.
struct SeenProcess {
    std::uint64_t address = 0;  ///< of its Process; 0: none
    std::uint64_t id = 0;       ///< its identifier as a word
    std::uint64_t heap = 0, top = 0, stop = 0, end = 0;
};

struct ResolvedSample {
    SampleBasis basis = SampleBasis::none;
    SeenProcess process;
    std::uint64_t stack_top =
        0;  ///< of the process's own stack when the sample was taken, where Erlang code ran; 0: not known
    std::vector<Frame> frames;  ///< Erlang, youngest first, at most most_sampled_frames
    bool cut = false;           ///< older frames are missing
    bool by_code = false;       ///< the youngest frame is known by the address of the code itself
    std::size_t native = 0;     ///< how many of the unwound frames are native code
    bool followed = false;      ///< these led to Erlang code, or to where the thread began
    bool unknown_code = false;  ///< an address that must be code was in none that is known
};

inline constexpr std::size_t most_sampled_frames = 512;

class SampleResolver {
public:
    /// `exit_stub` as learn_exit_stub() gives it. All arguments must outlive the resolver.
    SampleResolver(const Layout& layout, bool frame_pointers, std::uint64_t exit_stub, const bytes::LiveMemory& memory,
                   CodeMap& code)
        : layout_(layout), frame_pointers_(frame_pointers), exit_stub_(exit_stub), memory_(memory), code_(code) {}

    /// Whether threads stand while their samples are resolved: then what is read belongs to the sample.
    void threads_stand(bool stand) { stand_ = stand; }
    /// A sample of a scheduler under the JIT. `frames` are its unwound frames, youngest first, and `ends_outside` says
    /// that the last one is code of no file.
    ResolvedSample resolve(const bytes::ThreadSample& sample, const std::vector<bytes::UnwoundFrame>& frames,
                           bool ends_outside);
    /// A process that is known by other means (a dirty scheduler's, an interpreter's registers), with its stack as it
    /// is now. `top` is the stack's if that is known (0: Process.stop), `code` the address at which it is (0: not
    /// known).
    ResolvedSample resolve_process(std::uint64_t process, std::uint64_t top, std::uint64_t code);
    /// The row of a process as it is now; address 0 where it is none.
    SeenProcess see(std::uint64_t process);

private:
    bool walk(bytes::Bytes words, bool first_is_return, ResolvedSample& out);
    void erlang_code(const bytes::ThreadSample& sample, ResolvedSample& out);
    void c_code(const bytes::UnwoundFrame& caller, ResolvedSample& out);
    enum class CallSite : std::uint8_t { same, other, unknown };
    std::uint64_t return_at(std::uint64_t place);
    CallSite called_from(std::uint64_t returns_to, std::uint64_t inside, Frame& site);
    std::uint64_t call_target(std::uint64_t returns_to) const;
    std::uint64_t word_at(std::uint64_t address) const;
    std::uint64_t behind_frame_pointer(std::uint64_t top);
    bool read_stack(std::uint64_t top, bool first_is_return, ResolvedSample& out);

    const Layout& layout_;
    bool frame_pointers_;
    bool stand_ = false;
    std::uint64_t exit_stub_;
    const bytes::LiveMemory& memory_;
    CodeMap& code_;
    std::vector<std::byte> buffer_;
    std::unordered_map<std::uint64_t, std::uint64_t> call_targets_;  // by return address
    std::set<std::uint64_t> called_;  // all of these: where fragments and functions begin
};

/// The word below the end of most of these processes' stacks: where each of them began. 0 where no word is that of
/// most.
std::uint64_t learn_exit_stub(const Layout& layout, const bytes::LiveMemory& memory,
                              const std::vector<std::uint64_t>& processes);

}  // namespace beamheap::otp
