// SPDX-License-Identifier: Apache-2.0
// Processes that have read an input, each one of its own: what takes long, and what may end of a bad input, is not done
// by who talks. A reader has each question answered by a child, on memory that the two share until one of them writes
// to it.
//
// What goes through a reader's link: to it "ask", a number and the question's words, with the pipe that the answer
// goes into; "stop" and the number of one that nobody waits for any more. Into the pipe: a head line with the answering
// process and whether the input is a VM that runs, then packed(); or what packed() makes of why there is no input,
// without a head; or "s" and the signal that has ended the process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/frame/link.hpp"
#include "cli/mcp/mcp_answer.hpp"
#include "cli/mcp/served_inputs.hpp"

namespace beamheap::cli {

/// Processes that were told to end: one that the system holds (in a read of a disk that is gone) keeps nobody waiting.
class EndingProcesses {
public:
    void add(pid_t pid) { pids_.push_back(pid); }
    void reap();

private:
    std::vector<pid_t> pids_;
};

/// What tells a file from another one, or from itself before somebody wrote to it. Nothing of what is no file.
struct FileState {
    std::uint64_t device = 0, inode = 0, bytes = 0;
    std::int64_t seconds = 0, nanoseconds = 0;
    bool operator==(const FileState&) const = default;
};
/// Of an input's file, now.
FileState state_of(const std::string& path);

class InputReader {
public:
    /// `ending`: where it leaves its process when that does not end at once.
    InputReader(std::string path, FileState file, pid_t pid, DescriptorLink link,
                std::shared_ptr<EndingProcesses> ending)
        : path_(std::move(path)), file_(file), pid_(pid), link_(std::move(link)), ending_(std::move(ending)) {}
    InputReader(const InputReader&) = delete;
    InputReader& operator=(const InputReader&) = delete;
    /// Its process is ended, whatever it works on; nobody waits for that here.
    ~InputReader();

    const std::string& path() const { return path_; }
    /// Whether the file is the one that it was begun for.
    bool is_of(const FileState& now) const { return file_ == now; }
    pid_t pid() const { return pid_; }
    /// False: it is gone. `pipe` stays the caller's.
    bool ask(std::uint64_t number, std::vector<std::string> words, int pipe);
    void stop(std::uint64_t number);
    /// It is ended, with all that it has begun.
    void kill();
    /// Whether it has said so far that it has the input.
    bool has_read() const { return has_read_; }
    void note_read() { has_read_ = true; }
    /// It is not to be asked again: a VM that runs is something else the next time, and what could not be read may be
    /// readable then.
    bool spent() const { return spent_; }
    void spend() { spent_ = true; }
    /// In a process that was begun beside it: what is kept of it here is closed, and it goes on.
    void forget() { link_.close(); }
    /// How it ended, as waitpid() tells it, where it has.
    std::optional<int> ended();

private:
    std::string path_;
    FileState file_;
    pid_t pid_;
    DescriptorLink link_;
    std::shared_ptr<EndingProcesses> ending_;
    bool has_read_ = false, spent_ = false;
    std::optional<int> status_;
};

class InputReaders {
public:
    using Read = std::function<Result<ServedInput>(const std::string& path)>;
    using Find = std::function<Answer(ServedInput& input, const std::vector<std::string>& words)>;
    /// What readers do. `read` and `find` run in processes of their own.
    InputReaders(Read read, Find find) : read_(std::move(read)), find_(std::move(find)) {}

    /// The reader of an input, begun where there is none: the four that were asked last stay. Null: the system gives no
    /// process.
    /// `ours` are descriptors that a new one has no business with.
    std::shared_ptr<InputReader> of(const std::string& path, std::span<const int> ours);
    /// Those that are there, and those that others still wait for.
    std::vector<std::shared_ptr<InputReader>> all() const;
    /// Nobody asks this one any more: it ends as soon as nobody waits for it.
    void let_go(const std::shared_ptr<InputReader>& reader);
    /// Lets those go that have ended or are not to be asked again.
    void sweep();

private:
    std::shared_ptr<InputReader> begin(const std::string& path, std::span<const int> ours);
    Read read_;
    Find find_;
    std::list<std::shared_ptr<InputReader>> readers_;  // who was asked last comes first
    std::list<std::weak_ptr<InputReader>> let_go_;
    std::shared_ptr<EndingProcesses> ending_ = std::make_shared<EndingProcesses>();
};

}  // namespace beamheap::cli
