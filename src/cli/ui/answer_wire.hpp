// SPDX-License-Identifier: Apache-2.0
// What goes through the pipes between who is at the keys and who reads the input: a head, then so many bytes. All of
// these processes are of one program, so numbers go as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "beamheap/error.hpp"
#include "cli/ui/answer_process.hpp"

namespace beamheap::cli::ui {

struct Head {
    std::uint32_t kind = 0;      ///< of a reply: Reply::Kind; of a question: its lane
    std::uint32_t question = 0;  ///< of a question 0: what was asked on the lane is taken back
    std::uint32_t code = 0;      ///< of `failed`: ErrorCode; of a question: the one whose answer it goes on with
    std::uint32_t part = 0;      ///< bytes of a text that has another behind it: of an error its advice is behind, of a
                                 ///< question its wish
    std::uint32_t more = 0;      ///< of a reply: its writer has not ended with it
    std::uint32_t block = 0;     ///< of a question that asks for a file: the block of its table
    std::uint32_t form = 0;      ///< of a question: 0, or FileForm and one
    std::uint32_t unused = 0;
    std::uint64_t size = 0;  ///< bytes behind the head
};

Head head_of(Reply::Kind kind, std::uint32_t question);

/// Writes both; false: nobody reads.
bool send(int descriptor, Head head, std::string_view bytes);
bool send_error(int descriptor, std::uint32_t question, const Error& error);

/// The head that `bytes` begin with, where all that belongs to it has come.
std::optional<Head> whole_head(std::string_view bytes);

/// Appends what can be read at once; false at the end. What has begun gets the room that it takes, and no more.
bool read_some(int descriptor, std::string& to);

/// Takes the first whole message off, its head with it; empty: there is none.
std::string take_message(std::string& from);

/// A question as it goes through a pipe, and what is in it.
class Asked {
public:
    /// `message` is a whole one.
    explicit Asked(std::string message);
    static Asked of(const Wanted& wanted);
    std::size_t lane() const;
    std::uint32_t number() const { return head_.question; }
    std::uint32_t before() const { return head_.code; }
    std::string_view words() const;
    /// Errors: those of unpacked_wish().
    Result<present::PageWish> wish() const;
    std::optional<WantedFile> file() const;
    const std::string& message() const { return message_; }

private:
    Head head_;
    std::string message_;
};

/// The questions that come through a pipe.
class Questions {
public:
    explicit Questions(int from) : from_(from) {}
    int descriptor() const { return from_; }
    /// Reads what has come; false: nobody asks any more.
    bool read() { return read_some(from_, got_); }
    std::optional<Asked> next();

private:
    int from_;
    std::string got_;
};

}  // namespace beamheap::cli::ui
