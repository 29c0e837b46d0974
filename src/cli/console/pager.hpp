// SPDX-License-Identifier: Apache-2.0
// Standard output, through a pager where it is a terminal and the answer is longer than that.
//
// What fits the terminal is written to it; the first line that does not starts the pager, which gets everything. It has
// the terminal until its reader leaves it: Ctrl-C is the pager's own key as soon as it was given all, before that it
// ends the answer, and in both cases we wait for the pager to put the terminal back in order.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "present/sink.hpp"

namespace beamheap::cli {

/// What shows long answers: $BEAMHEAP_PAGER, else $PAGER, else `less -FRX`; empty where the variable that counts is
/// empty or `cat`, or where the program is not in $PATH.
std::string pager_command();

/// Starts a process now that becomes the pager when an answer needs one, for programs that may start none any more by
/// then (sandbox.hpp): it takes no part in what they give up. Nothing where standard output is no terminal, or where no
/// pager is wanted. One answer of the program may have it.
void prepare_pager();

/// A process that waits to become the pager.
struct WaitingPager {
    pid_t pid = 0;    ///< 0: there is none
    int answer = -1;  ///< the pager's standard input
    int begin = -1;   ///< a byte, and it begins; the end, and it goes
};
/// Starts one for another process (cmd_shell.cpp), to which its two ends are given, and which adopts it there; this one
/// closes them and waits for it. None: as prepare_pager().
std::optional<WaitingPager> start_waiting_pager();
/// The next answer of this process may have that pager.
void adopt_pager(const WaitingPager& pager);

/// A sink on standard output. Where it is a terminal and `paged`, what is longer than a screen goes to pager_command().
class Output : public present::Sink {
public:
    explicit Output(bool paged);
    ~Output() { finish(); }
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    /// Writes what is left, and waits until the pager's reader has left it.
    void finish();
    /// errno of the first failed write that is not EPIPE; 0: none.
    int error() const { return error_; }

private:
    static bool take(void* context, std::string_view piece);
    bool hold(std::string_view piece);
    void start();
    std::string command_;   // empty: no pager
    std::string held_;      // what may yet fit the screen
    std::size_t rows_ = 0;  // of the terminal
    std::size_t columns_ = 0;
    std::size_t lines_ = 0;   // held
    std::size_t column_ = 0;  // of the last line that is held
    pid_t pager_ = 0;
    int target_;
    int error_ = 0;
};

/// For handlers of SIGINT (async-signal-safe): true where a pager has the whole answer, and the key is its own. Else a
/// pager that was being written to has been left by its reader when this returns.
bool pager_takes_interrupt();

}  // namespace beamheap::cli
