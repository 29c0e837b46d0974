// SPDX-License-Identifier: Apache-2.0
// A process's stack as frames: return addresses looked up in loaded code.
//
// The stack grows down from the heap's end; words with low bits 00 are code addresses (and, where frames have frame
// pointers, the pointer below each address). Every word between two of them is a y register of the older frame.
// Facts: beam_common.c gather_stacktrace, erl_process_dump.c stack_trace_dump, frame layouts of beam/jit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "beamheap/heap_graph.hpp"
#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// Return addresses to frames, each looked up once.
class FrameCache {
public:
    explicit FrameCache(Reader& reader) : reader_(reader) {}
    /// The frame that a return address leads back to; function is none where it is in no loaded code.
    const Frame& returning_to(std::uint64_t address) { return lookup(address, true); }
    /// The frame of code that goes on at `address`.
    const Frame& going_on_at(std::uint64_t address) { return lookup(address, false); }

private:
    struct Entry {
        std::uint64_t key = 0;
        Frame frame;
    };
    const Frame& lookup(std::uint64_t address, bool returning);
    Frame make(std::uint64_t address, bool returning);
    TextId file(const CodePlace& place, const Code::Line& line);

    Reader& reader_;
    std::vector<Entry> entries_;  // open addressing, key 0 is free
    std::size_t used_ = 0;
};

/// A word of a stack that is no return address.
struct StackWord {
    Word word = 0;
    std::uint64_t at = 0;     ///< its place on the stack, in words from the top
    std::uint32_t frame = 0;  ///< as read_frames() numbers them: above the first return address is 0; no_frame: of none
    std::uint32_t slot = 0;   ///< y register
};

/// Calls visit(StackWord) for the words on a stack, youngest first, until it gives false. `words` must hold `count`
/// words. Behind a return address into no loaded code the words belong to no frame.
template <class Visit>
void each_stack_word(const Vm& vm, bytes::MemoryReader& memory, const std::byte* words, std::uint64_t count,
                     Visit&& visit) {
    std::uint32_t frame = 0, slot = 0;
    bool known = true;
    for (std::uint64_t i = 0; i < count; ++i) {
        auto word = bytes::load<Word>(words + 8 * i);
        if (!is_header(word)) {
            if (!visit(StackWord{word, i, known ? frame : no_frame, slot++})) return;
            continue;
        }
        if (vm.roots.frame_pointers && i + 1 < count) word = bytes::load<Word>(words + 8 * ++i);
        known = vm.code.find(memory, word - vm.layout.return_address_back).has_value();
        if (known) ++frame;
        slot = 0;
    }
}

/// How many of a stack's words are zero, which neither a term nor a return address is: what stood there was lost. A
/// frame pointer may be, that of the oldest frame.
std::uint64_t zeroed_words(const Vm& vm, const std::byte* words, std::uint64_t count);

/// Most frames that are kept of one stack; what is older is not shown.
inline constexpr std::size_t most_frames = 1u << 20;

/// Appends the frames of the stack words at [stop, end), youngest first. `words` must hold that range.
void read_frames(const Vm& vm, FrameCache& cache, const std::byte* words, std::uint64_t count, std::vector<Frame>& out);

}  // namespace beamheap::otp
