// SPDX-License-Identifier: Apache-2.0
// Native stacks of samples that were taken of a running process: registers and stack out of the sample, unwind tables
// out of the files that the process has mapped (libdwfl over .eh_frame).
//
// The sample's own copy of the stack is what is unwound, so the thread may be anywhere by now. A stack ends at the
// first address that no file has: code that was written by the process itself (a JIT's). What is wanted of that frame
// are its registers: those that a called function must keep (System V psABI: rbx, rbp, r12 to r15) are known in every
// frame by the same tables that find its caller.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "bytes/running_process.hpp"
#include "bytes/thread_samples.hpp"
#include "bytes/unwinder.hpp"

namespace beamheap::bytes {

/// A frame of native code, or the one of no file that called it.
struct UnwoundFrame {
    std::uint64_t address = 0;  ///< of the instruction that goes on here, or that was interrupted
    bool interrupted = false;   ///< the youngest: `address` is no return address
    bool of_file = false;
    std::array<std::uint64_t, ThreadSample::register_count> registers{};  ///< by DWARF's numbers
    std::uint32_t known = 0;                                              ///< bit n: registers[n] is known
    std::optional<std::uint64_t> operator[](X86 r) const {
        const auto n = static_cast<std::size_t>(r);
        return (known >> n & 1) != 0 ? std::optional(registers[n]) : std::nullopt;
    }
};

class SampleUnwinder {
public:
    /// `process` is the pid that /proc knows; its files are opened through /proc. `memory` must outlive the unwinder.
    SampleUnwinder(std::uint32_t process, const LiveMemory& memory);
    ~SampleUnwinder();
    SampleUnwinder(const SampleUnwinder&) = delete;
    SampleUnwinder& operator=(const SampleUnwinder&) = delete;

    /// The frames of a sample, youngest first, at most most_native_frames; true where the last one is code of no file,
    /// or the oldest one of its thread. Valid until the next call.
    bool unwind(const ThreadSample& sample, std::vector<UnwoundFrame>& frames);
    /// Its name; function is empty where its file is stripped of it: then `offset` is that of the function's start
    /// where the file's unwind tables tell it, behind the file's load address. Remembered by address.
    const NativeFrame& name(const UnwoundFrame& frame);
    /// Reads the list of mapped files again, as for an address of none that it had not then.
    void look_again();
    /// Files that could not be had, each with the reason: "libfoo.so: not to be opened".
    const std::vector<std::string>& missing() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace beamheap::bytes
