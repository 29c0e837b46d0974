// Frames out of =proc_stack and out of the addresses that the VM prints with their function.
#pragma once

#include <string_view>
#include <vector>

#include "formats/crashdump/loader.hpp"

namespace beamheap::crashdump {

/// Reads the lines of one process's =proc_stack: slots are counted, return addresses become frames.
///
/// A line is "<label>:<value>", the label y<N> or 0x<slot address>; a value that begins with SReturn names the
/// function that goes on when the frame above it returns. The backtrace is the function of the program counter, up
/// to OTP 22 then that of CP unless it equals the first return address, then every return address in order.
class StackReader {
public:
    /// Starts a process.
    void begin();
    /// Takes whole lines of `text` and returns how many bytes they were; all of it when `last`.
    std::size_t feed(Loader& loader, std::string_view text, bool last);
    /// Stores the frames and the number of slots in `process`.
    void finish(Loader& loader, Process& process);

private:
    Frame frame(Loader& loader, std::string_view text);
    std::vector<Frame> frames_;
    std::uint64_t slots_ = 0;
    TextTable seen_;                  // texts "m:f/a + off)" ...
    std::vector<Frame> seen_frames_;  // ... and their frames
};

}  // namespace beamheap::crashdump
