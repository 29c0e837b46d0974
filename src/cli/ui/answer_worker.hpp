// SPDX-License-Identifier: Apache-2.0
// A process that answers one question, and the pipes to it.
//
// Of a table that is too long for a page the process stays, with the answer that it has found, and gives other rows of
// it as they are wished for. It ends when its lane is asked something else.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "cli/frame/context.hpp"
#include "cli/ui/answer_wire.hpp"

namespace beamheap::cli::ui {

/// Ends this process with its parent: nobody else would end it.
void end_with(pid_t parent);

/// Tells how far reading has come, a few times a second.
Progress progress_to(int replies);

class Worker {
public:
    Worker() = default;
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    ~Worker() { end(); }

    bool busy() const { return process_ >= 0; }
    /// What it writes is read here; -1: there is none.
    int descriptor() const { return answer_; }
    /// The one that it was asked last, and has not answered yet; else empty.
    const std::optional<Asked>& asked() const { return asked_; }

    /// Starts it on what is loaded (then it may stay), or by reading what the question takes. Errors (resource_limit):
    /// no process can be made.
    Status begin(const Context& context, LoadedInput* loaded, Asked asked);
    /// Whether it can answer a question by what it has found.
    bool can_go_on(const Asked& asked) const { return to_ >= 0 && asked.before() != 0 && asked.before() == last_; }
    /// Asks it, where it can; false: it does not take that now.
    bool go_on(Asked asked);
    /// Reads what has come; true: that was all.
    bool read() { return !read_some(answer_, got_); }
    /// The next reply that is not its last, the head with it: of its progress, a page behind which it stays; empty:
    /// there is none.
    std::string early();
    /// Its last reply, the head with it; where it has written nothing whole, and owes one, it has broken down: empty,
    /// and how in `how`.
    std::string take(std::string& how);
    void end();

private:
    void forget();
    pid_t process_ = -1;
    int answer_ = -1;
    int to_ = -1;  // where it takes further questions
    std::uint32_t last_ = 0;
    std::optional<Asked> asked_;
    std::string got_;
};

}  // namespace beamheap::cli::ui
