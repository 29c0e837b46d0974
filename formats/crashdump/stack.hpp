// SPDX-License-Identifier: Apache-2.0
// Frames out of =proc_stack and out of the addresses that the VM prints with their function.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/crashdump/loader.hpp"

namespace beamheap::crashdump {

/// The frames above the return addresses of a stack, from the process section alone: the function in hand by its
/// program counter and, up to OTP 22, its caller by the CP, unless `first_return` is that caller. All that is known of
/// who has no =proc_stack: a process that was being collected (up to OTP 20.2), or that is exiting.
void frames_of_registers(Loader& loader, const Process& process, const Frame& first_return, std::vector<Frame>& frames);

/// Reads the lines of one process's =proc_stack: slots are counted, return addresses become frames.
///
/// A line is "<label>:<value>", the label y<N> or 0x<slot address>; a value that begins with SReturn names the
/// function that goes on when the frame above it returns. The backtrace is the function of the program counter, up
/// to OTP 22 then that of CP unless it equals the first return address, then every return address in order.
///
/// Registers are numbered from y0 in each frame; two return addresses stand one word apart and one more for each slot
/// between them; from OTP 23 on the last line is the return to where processes end. A stack of which lines are lost, or
/// stand twice, breaks one of these.
class StackReader {
public:
    /// Starts a process. `keep_values`: what its youngest frames hold is kept in values().
    void begin(bool keep_values = false);
    /// Takes whole lines of `text` and returns how many bytes they were; all of it when `last`.
    std::size_t feed(Loader& loader, std::string_view text, bool last);
    /// Stores the frames and the number of slots in `process`.
    void finish(Loader& loader, Process& process);
    /// What a whole stack is, after finish(): its addresses and registers go on without a gap, and it ends where
    /// processes end.
    enum Form : std::uint8_t { regular = 1, closed = 2, was_read = 4 };
    std::uint8_t form() const {
        return static_cast<std::uint8_t>(was_read | (torn_ ? 0u : unsigned{regular}) | (ends_ ? unsigned{closed} : 0u));
    }

    /// A slot that holds a pid, a port, an atom or an object, as printed: "P<0.77.0>", "H7FC7E862C308".
    struct SlotText {
        std::uint32_t frame = 0;  ///< index into Process::stack, after finish()
        std::string text;
    };
    std::span<const SlotText> values() const { return std::span(values_).first(values_used_); }

private:
    void keep(std::string_view value);
    void hold(std::string_view label, bool is_return, const Loader& loader);
    void return_address(Loader& loader, std::string_view value);
    std::size_t frame(Loader& loader, std::string_view text);
    void note_frame(Loader& loader);
    void note_top(Loader& loader, const Process& process);
    std::vector<Frame> frames_;
    std::vector<SlotText> values_;  // the first values_used_: the strings' memory is used again
    std::size_t values_used_ = 0;
    bool keep_values_ = false;
    std::uint64_t slots_ = 0;
    std::uint64_t last_address_ = 0;  // that a label named; 0: none yet
    std::uint64_t slots_behind_ = 0;  // it
    std::uint64_t registers_ = 0;     // of this frame, so far
    bool torn_ = false;
    bool ends_ = false;  // the last line is where processes end
    struct Seen {
        Frame frame;
        std::uint32_t place = 0;  // in Snapshot::frame_places, from 1; 0: none yet
        bool ends = false;        // "<terminate process": where processes end
        bool damaged = false;     // it should be a function, and is none
    };
    TextTable texts_;                       // "m:f/a + off)" ...
    std::vector<Seen> seen_;                // ... and what they are
    std::array<std::size_t, 64> recent_{};  // the last one of them of each kind, from 1; 0: none yet
    static constexpr std::size_t no_frame_seen = ~std::size_t{0};
    std::size_t behind_ = no_frame_seen;                 // whose registers are being read: number in seen_
    std::size_t older_ = no_frame_seen;                  // up to OTP 22: the frame that the one behind_ goes back from
    std::uint64_t catches_ = 0;                          // registers that hold catch marks
    std::uint32_t top_registers_ = FramePlace::unknown;  // above the first return address
    std::uint64_t top_catches_ = 0;
    std::unordered_map<std::uint64_t, std::uint32_t> tops_;  // function and offset: these in frame_places, from 1
    std::uint64_t last_top_ = 0;
    std::uint32_t last_top_place_ = 0;
    StackId last_stack_ = StackId::none;  // of the process before
};

}  // namespace beamheap::crashdump
