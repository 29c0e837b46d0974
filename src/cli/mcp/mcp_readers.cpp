// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/mcp_readers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <exception>
#include <new>

#include "cli/console/terminal.hpp"
#include "formats/format.hpp"
#include "present/term_printer.hpp"

namespace beamheap::cli {
namespace {

constexpr std::size_t most_readers = 4;

// A question that a child of a reader works on.
struct Child {
    pid_t pid;
    int pipe;
    std::uint64_t number;
};

std::uint64_t number_of(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// What a reader does, in a process of its own.
class Reading {
public:
    Reading(const DescriptorLink& link, Result<ServedInput> input, const InputReaders::Find& find)
        : link_(link), input_(std::move(input)), find_(find) {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        sigemptyset(&action.sa_mask);
        ::sigaction(SIGCHLD, &action, nullptr);
        sigset_t ended;
        sigemptyset(&ended);
        sigaddset(&ended, SIGCHLD);
        ::sigprocmask(SIG_BLOCK, &ended, &before_);
    }

    void serve() {
        for (;;) {
            pollfd asked{link_.descriptor(), POLLIN, 0};
            ::ppoll(&asked, 1, nullptr, &before_);  // children end meanwhile, and then alone
            reap(WNOHANG);
            if (asked.revents == 0) continue;
            DescriptorLink::Message message;
            if (!link_.receive(message)) break;
            take(std::move(message));
        }
        while (!children_.empty()) reap(0);  // who asked may still wait for them
    }

private:
    void take(DescriptorLink::Message message) {
        std::vector<std::string> words = fields_of(message.text);
        const std::uint64_t number = words.size() < 2 ? 0 : number_of(words[1]);
        if (words.front() == "stop") {
            for (const Child& each : children_)
                if (each.number == number) ::kill(each.pid, SIGKILL);
        } else if (words.size() >= 2 && message.descriptors.size() == 1) {
            words.erase(words.begin(), words.begin() + 2);
            return begin(number, words, message.descriptors.front());
        }
        for (const int each : message.descriptors) ::close(each);
    }

    void begin(std::uint64_t number, const std::vector<std::string>& words, int pipe) {
        if (!input_) {
            (void)write_all(pipe, packed({{}, false, input_.error()}));
            ::close(pipe);
            return;
        }
        const pid_t reader = ::getpid(), child = ::fork();
        if (child == 0) answer(reader, words, pipe);
        if (child > 0) return children_.push_back({child, pipe, number});
        (void)write_all(
            pipe, packed({{}, false, Error{ErrorCode::resource_limit, "the system gives no more processes", {}}}));
        ::close(pipe);
    }

    // Whatever happens, the child goes no further: behind it stands the reader's own loop.
    [[noreturn]] void answer(pid_t reader, const std::vector<std::string>& words, int pipe) noexcept {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != reader) ::_exit(1);
        try {
            ::sigprocmask(SIG_SETMASK, &before_, nullptr);
            for (const Child& each : children_) ::close(each.pipe);  // theirs would never break while we hold them
            ::close(link_.descriptor());
            const bool live = input_->input.artifact->snapshot().source.live.has_value();
            const std::string head = fmt::format("P{} {}\n", ::getpid(), live ? 1 : 0);
            if (write_all(pipe, head) != 0) ::_exit(1);
            Answer found;
            try {
                found = find_(*input_, words);
            } catch (const std::bad_alloc&) {
                found.error = Error{ErrorCode::resource_limit, "out of memory", {}};
            } catch (const present::AnswerTooLong& error) {
                found.error = Error{ErrorCode::resource_limit, error.what(), {}};
            }
            ::_exit(write_all(pipe, packed(found)) == 0 ? 0 : 1);
        } catch (...) {
            ::_exit(1);
        }
    }

    void reap(int options) {
        for (;;) {
            int status = 0;
            const pid_t pid = ::waitpid(-1, &status, options);
            if (pid < 0 && errno == EINTR) continue;
            if (pid <= 0) {
                if (pid < 0 && options == 0) children_.clear();
                return;
            }
            const auto child = std::ranges::find(children_, pid, &Child::pid);
            if (child == children_.end()) continue;
            if (WIFSIGNALED(status)) (void)write_all(child->pipe, fmt::format("s{}", WTERMSIG(status)));
            ::close(child->pipe);
            children_.erase(child);
            if (options == 0) return;
        }
    }

    const DescriptorLink& link_;
    Result<ServedInput> input_;
    const InputReaders::Find& find_;
    sigset_t before_{};
    std::list<Child> children_;
};

Result<ServedInput> read_input(const InputReaders::Read& read, const std::string& path) {
    try {
        return read(path);
    } catch (const std::bad_alloc&) {
        return Error{ErrorCode::resource_limit, fmt::format("{}: out of memory", path),
                     "Copy the input to a machine with more memory."};
    } catch (const std::exception& error) {
        return Error{ErrorCode::resource_limit, fmt::format("{}: {}", path, error.what()), {}};
    }
}

[[noreturn]] void read_and_serve(pid_t server, const std::string& path, const DescriptorLink& link,
                                 const InputReaders::Read& read, const InputReaders::Find& find) noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != server) ::_exit(1);  // it ended before that was said
    try {
        Reading(link, read_input(read, path), find).serve();
        ::_exit(0);
    } catch (...) {
        ::_exit(1);
    }
}

}  // namespace

FileState state_of(const std::string& path) {
    struct stat status {};
    const std::string file(file_of(path));
    if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
    return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec};
}

InputReader::~InputReader() {
    link_.close();
    if (status_) return;
    // Nobody waits for an answer of it: what it was still reading is for nobody.
    ::kill(pid_, SIGKILL);
    ending_->add(pid_);
    ending_->reap();
}

void EndingProcesses::reap() {
    std::erase_if(pids_, [](pid_t each) { return ::waitpid(each, nullptr, WNOHANG) != 0; });
}

bool InputReader::ask(std::uint64_t number, std::vector<std::string> words, int pipe) {
    words.insert(words.begin(), {"ask", std::to_string(number)});
    return link_.send(joined(words), {pipe});
}

void InputReader::stop(std::uint64_t number) { (void)link_.send(joined({"stop", std::to_string(number)})); }

void InputReader::kill() {
    spent_ = true;
    if (!status_) ::kill(pid_, SIGKILL);
}

std::optional<int> InputReader::ended() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_;
}

std::shared_ptr<InputReader> InputReaders::begin(const std::string& path, std::span<const int> ours) {
    auto [server_end, readers] = DescriptorLink::make();
    const FileState file = state_of(path);  // before it is read: what is written meanwhile makes it another one
    const pid_t server = ::getpid();
    const pid_t child = server_end.good() ? ::fork() : -1;
    if (child == 0) {
        server_end.close();
        // What would never break while we hold it.
        for (const auto& each : all()) each->forget();
        for (const int each : ours) ::close(each);
        read_and_serve(server, path, readers, read_, find_);
    }
    if (child < 0) return nullptr;
    return std::make_shared<InputReader>(path, file, child, std::move(server_end), ending_);
}

std::shared_ptr<InputReader> InputReaders::of(const std::string& path, std::span<const int> ours) {
    sweep();
    auto found = std::ranges::find(readers_, path, [](const auto& each) { return each->path(); });
    if (found != readers_.end() && !(*found)->is_of(state_of(path))) {
        let_go(*found);
        found = readers_.end();
    }
    if (found != readers_.end()) {
        readers_.splice(readers_.begin(), readers_, found);
        return readers_.front();
    }
    while (readers_.size() >= most_readers) let_go(readers_.back());
    std::shared_ptr<InputReader> reader = begin(path, ours);
    if (reader == nullptr) return nullptr;
    if (process_named(path)) reader->spend();
    readers_.push_front(reader);
    return reader;
}

void InputReaders::let_go(const std::shared_ptr<InputReader>& reader) {
    const auto found = std::ranges::find(readers_, reader);
    if (found == readers_.end()) return;
    let_go_.push_back(*found);
    readers_.erase(found);
}

void InputReaders::sweep() {
    readers_.remove_if([this](const std::shared_ptr<InputReader>& each) {
        if (!each->spent() && !each->ended()) return false;
        let_go_.push_back(each);
        return true;
    });
    let_go_.remove_if([](const std::weak_ptr<InputReader>& each) { return each.expired(); });
    ending_->reap();
}

std::vector<std::shared_ptr<InputReader>> InputReaders::all() const {
    std::vector<std::shared_ptr<InputReader>> all(readers_.begin(), readers_.end());
    for (const auto& each : let_go_)
        if (auto still = each.lock()) all.push_back(std::move(still));
    return all;
}

}  // namespace beamheap::cli
