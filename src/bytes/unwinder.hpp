// SPDX-License-Identifier: Apache-2.0
// Native stacks of a core's threads: registers and stack memory out of the core, unwind tables and names out of the
// files that the process had mapped.
//
// Each frame's caller is found by the call frame information (.eh_frame, .debug_frame) of the file that its code is in
// (libdwfl of elfutils does that part), so every such file must be the very one that ran: a file counts only if
// the core has its first page and the build ids are equal. Code that no file has (what a JIT wrote) ends a stack.
// On arm64, where the psABI has every function that calls another keep {caller's frame, return address} at x29, a stack
// goes on by these records through files that are not here: cores of servers are mostly read elsewhere. Return
// addresses that pointer authentication signed are read without their signatures. A name is the symbol whose extent
// holds the address; of stripped files only dynamic symbols are there, and code of others stays without a name rather
// than borrow its neighbour's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bytes/address_space.hpp"
#include "bytes/core_notes.hpp"

namespace beamheap::bytes {

struct NativeFrame {
    std::uint64_t address = 0;  ///< of the instruction that goes on here, or that was interrupted
    std::string function;       ///< empty where no symbol holds it; C++ names are readable
    std::uint64_t offset = 0;   ///< bytes behind the function's start, else behind the file's load address
    std::string file;           ///< base name of the file that the code is in; empty for code of no file
};

struct NativeStack {
    std::vector<NativeFrame> frames;  ///< youngest first, at most most_native_frames
    std::string end;                  ///< why the stack goes no further, where it isn't at its end; a sentence's part
};

inline constexpr std::size_t most_native_frames = 256;

class Unwinder {
public:
    /// Files of `notes` are looked for under their own names; `executable` is opened in place of the one that is
    /// mapped at its address; its machine is the core's. All arguments must outlive the unwinder.
    Unwinder(const CoreNotes& notes, const AddressSpace& space, const ElfImage& executable, std::uint64_t bias);
    ~Unwinder();
    Unwinder(const Unwinder&) = delete;
    Unwinder& operator=(const Unwinder&) = delete;

    /// The stack of notes.threads[thread].
    NativeStack stack(std::size_t thread);
    /// Files at which a stack had to end, each with the reason: "libc.so.6: not on this machine".
    const std::vector<std::string>& missing() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace beamheap::bytes
