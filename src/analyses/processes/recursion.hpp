// SPDX-License-Identifier: Apache-2.0
// Recursion that fills a stack: processes with much stack over little heap, and the function that calls itself.
//
// Theory. A call that is no tail call leaves a frame on the stack, which lies in the same block as the young heap and
// grows with it, without bound. A function that has passed the end that it was to stop at, or never had one, calls
// itself until memory ends; one that goes through a long list body-recursively holds a frame for each element for a
// while. In both the stack outgrows what the heap holds, and most frames are of one function, or of the few of one
// circle.
#pragma once

#include <optional>
#include <vector>

#include "beamheap/snapshot.hpp"

namespace beamheap::analyses {

struct Recursion {
    std::uint64_t stack_words = 0;
    Count heap_words;                        ///< that its heaps hold beside the stack; missing while they are collected
    FunctionId function = FunctionId::none;  ///< the one with the most frames; none: the input tells no frame
    std::uint64_t calls = 0;                 ///< its frames; 0: the stack itself is not in the input
    std::vector<FunctionId> circle;  ///< with it, those that most other frames are of: at most three; most first
    FunctionId begun_by = FunctionId::none;  ///< the youngest frame below all of these; none: not known
    bool by_sizes = false;  ///< the stack is not in the input: stack_words is what its heap can't hold otherwise
};

/// The recursion that a process is in: its stack has at least `least_words` and is most of what it holds, and of frames
/// that are known three in four are of at most three functions. None otherwise. The snapshot was loaded with stacks.
std::optional<Recursion> recursion(const Snapshot& snapshot, ProcId process, std::uint64_t least_words);

/// The same of a process whose stack the input does not have (a dump that was cut, a section without frames), and that
/// was refused `refused_words` for its heap. Its block was full then. Where no terms are on its heaps (the heap's top
/// at its start), and the request is no larger than growth asks for, what fills the block is the stack. None where the
/// stack is known, or the block has less than `least_words`.
std::optional<Recursion> recursion_by_sizes(const Snapshot& snapshot, ProcId process, std::uint64_t refused_words,
                                            std::uint64_t least_words);

}  // namespace beamheap::analyses
