// SPDX-License-Identifier: Apache-2.0
// Which stacks have a frame of certain functions.
//
// Stacks are stored once each, and hundreds of thousands of processes share a few: what is asked of frames is asked of
// each function once and of each stack once, then of the processes by their stacks.
#pragma once

#include <cstdint>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

/// For each stack (by StackId) the marks of all functions on it, added up by "or". `mark` gives a function's, as bits;
/// it is asked of each function of the snapshot once. O(functions + frames of distinct stacks).
template <class Mark>
std::vector<std::uint8_t> marks_of_stacks(const Snapshot& snapshot, Mark&& mark) {
    std::vector<std::uint8_t> of_function(snapshot.functions.size());
    std::uint8_t any = 0;
    for (std::uint32_t i = 0; i < of_function.size(); ++i)
        any = static_cast<std::uint8_t>(any | (of_function[i] = static_cast<std::uint8_t>(mark(FunctionId{i}))));
    std::vector<std::uint8_t> of_stack(snapshot.stacks.size());
    for (std::uint32_t i = 0; any != 0 && i < of_stack.size(); ++i)
        for (const Frame& frame : snapshot.stacks[StackId{i}])
            if (frame.function != FunctionId::none)
                of_stack[i] = static_cast<std::uint8_t>(of_stack[i] | of_function[index_of(frame.function)]);
    return of_stack;
}

/// The marks of a process's stack; 0 where it has none.
inline std::uint8_t mark_of(const std::vector<std::uint8_t>& of_stack, const Process& process) {
    return process.stack == StackId::none ? std::uint8_t{0} : of_stack[index_of(process.stack)];
}

}  // namespace beamheap::analyses
