// SPDX-License-Identifier: Apache-2.0
// Standard output and standard error as they are: terminals or not, colours, width, progress, signals.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "beamheap/artifact.hpp"
#include "cli/options/options.hpp"
#include "present/sink.hpp"

namespace beamheap::cli {

/// Whether to colour an output: --color, else NO_COLOR (not empty: no), else CLICOLOR_FORCE (not 0: yes), else only on
/// a terminal that is not "dumb".
bool wants_color(When when, bool terminal);
/// Columns of the terminal on standard output, or another descriptor; 0: it is none.
std::size_t terminal_width(int descriptor = 1);
bool is_terminal(int descriptor);

/// SIGINT ends the process with 130, an input that is cut while it is read (SIGBUS) with 3 and a sentence; a closed
/// pipe is an error of write() and no signal.
void install_signal_handlers();

/// This process is somebody else's, who has loaded the library: nothing is said on its standard error, and signals are
/// taken as it takes them.
void be_guest();
bool is_guest();

/// Writes all of `text`, whatever a write takes at a time. 0, or the errno of the write that failed.
int write_all(int descriptor, std::string_view text);

/// Says something beside the answer, on standard error: sanitised, in lines of the terminal.
void say_beside(std::string_view text);

/// A sink on a file descriptor. After an error other than a closed pipe, `error` tells it.
class FileSink : public present::Sink {
public:
    explicit FileSink(int descriptor) : Sink(&take, this), descriptor_(descriptor) {}
    ~FileSink() { flush(); }
    /// errno of the first failed write that is not EPIPE; 0: none.
    int error() const { return error_; }

private:
    static bool take(void* context, std::string_view piece);
    int descriptor_;
    int error_ = 0;
};

/// Progress on standard error: at most six times a second, from one second on, with rate and time left; on a terminal
/// one line that is rewritten, else (--progress always) a line every ten seconds and one at the end.
class ProgressLine {
public:
    explicit ProgressLine(When when);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    /// For OpenOptions::progress; empty where no progress is wanted.
    Progress callback();
    /// Reading is over, and `bytes` of the input were read: writes the last line where no terminal is.
    void completed(std::uint64_t bytes);

    /// "45 %  812 MiB of 1.9 GiB  910 MiB/s  2 s left"; without a total: "812 MiB  910 MiB/s".
    static std::string describe(std::uint64_t done, std::uint64_t total, double seconds);

private:
    using Clock = std::chrono::steady_clock;
    void update(std::uint64_t done, std::uint64_t total);
    void finish();
    bool wanted_ = false;
    bool terminal_ = false;
    bool shown_ = false;
    Clock::time_point start_;
    Clock::time_point next_;
    std::uint64_t done_ = 0;
    std::uint64_t total_ = 0;
};

}  // namespace beamheap::cli
