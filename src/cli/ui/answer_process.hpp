// SPDX-License-Identifier: Apache-2.0
// The process that reads an input and answers questions about it, while another one stays at the keys.
//
// A heap of a gigabyte takes seconds to be measured, and whoever waits wants to scroll meanwhile, or has changed his
// mind. So a child of the program loads the input, once, and each question is answered by a child of that one, on
// memory that it shares with it until one of the two writes. Loading all of a large input takes seconds, too, where the
// table that is looked at first takes a tenth of one. So what is asked before all is loaded is answered by a process of
// its own, which reads as much as that question takes, as the verb would by itself; loading begins when nobody is
// reading for an answer, or soon after. Of a VM that runs nothing is loaded: each question reads it as it is then.
//
// What goes through the pipes is what is looked at (present::PageWish), not all that there is: of a table of a million
// rows some hundreds. Who has answered stays with what he has found, and gives others as one goes on in it.
//
// Taking back a question ends its process and nothing else, and a reader that breaks down over a damaged input takes
// no screen with it. Readers have given up what they have no need of (cli/console/sandbox.hpp); files are written by
// who is at the keys.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/context.hpp"
#include "cli/ui/table_file.hpp"
#include "present/page.hpp"

namespace beamheap::cli::ui {

/// Questions that are answered beside each other: one for what is looked at, one for what is shown beside it, and one
/// for what will be looked at.
enum class Lane : std::uint8_t { main, side, behind };
inline constexpr std::size_t lanes = 3;

/// A table of a page, to be given as a file has it.
struct WantedFile {
    std::uint32_t block = 0;
    FileForm form = FileForm::separated;
};

/// A question to be asked now.
struct Wanted {
    Lane lane = Lane::main;
    std::uint32_t number = 0;             ///< what the reply will be called by, from 1 on
    std::vector<std::string> words;       ///< those of a line of the shell
    present::PageWish wish = {};          ///< which rows the page is to have
    std::uint32_t before = 0;             ///< the last question of the same words, whose answer may be gone on with
    std::optional<WantedFile> file = {};  ///< no page is wanted, but this table, all of its rows as `wish` has them
};

/// What the reading process says.
struct Reply {
    enum class Kind : std::uint8_t {
        progress,    ///< of reading: `text`
        loaded,      ///< no question waits for reading any more
        page,        ///< an answer: `page`
        piece,       ///< of a file that was asked for: `text`; others come behind it
        last_piece,  ///< its last: `text`
        failed,      ///< a question that has none, or (question 0) loading did: `text`, `advice` and `code` say why
        ended,       ///< the reading process is gone; nothing comes behind this
    };
    Kind kind = Kind::ended;
    std::uint32_t question = 0;  ///< as ask() was told
    std::string text = {};
    std::string advice = {};
    ErrorCode code = ErrorCode::unreadable;
    present::Page page = {};
    double seconds = 0;  ///< when the answer came, by a clock that goes on
};

class AnswerProcess {
public:
    /// Starts it on the context's first input, with the context's options. Errors (resource_limit): no process can be
    /// made.
    static Result<AnswerProcess> start(const Context& context);
    AnswerProcess(AnswerProcess&& other) noexcept;
    AnswerProcess& operator=(AnswerProcess&&) = delete;
    /// Ends it and whatever it is answering.
    ~AnswerProcess();

    /// Readable when next() has something to give.
    int descriptor() const { return replies_; }
    /// Asks. What was asked on this lane before and has not been answered is taken back; by question 0 that is all.
    void ask(const Wanted& wanted);
    /// The next reply, as far as one has come; waits for nothing.
    std::optional<Reply> next();

private:
    AnswerProcess(pid_t process, int questions, int replies)
        : process_(process), questions_(questions), replies_(replies) {}
    pid_t process_;
    int questions_;
    int replies_;
    bool ended_ = false;
    std::string got_;  // of replies that are not whole yet
};

}  // namespace beamheap::cli::ui
