// SPDX-License-Identifier: Apache-2.0
#include "cli/console/pager.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "bytes/descriptor.hpp"
#include "cli/console/sandbox.hpp"
#include "cli/console/terminal.hpp"
#include "cli/options/options.hpp"

namespace beamheap::cli {
namespace {

// What a signal handler has to know of the pager that runs.
std::atomic<pid_t> running_pager{0};
std::atomic<int> pager_pipe{-1};
std::atomic<bool> given_all{false};

WaitingPager prepared;

[[noreturn]] void become_pager(int input, const std::string& command) {
    ::dup2(input, STDIN_FILENO);
    ::setenv("LESS", "FRX", 0);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
}

void restore_signals() {
    for (const int signal : {SIGPIPE, SIGINT, SIGXFSZ}) ::signal(signal, SIG_DFL);
}

bool in_path(std::string_view program) {
    if (program.find('/') != program.npos) return ::access(std::string(program).c_str(), X_OK) == 0;
    const char* const path = std::getenv("PATH");
    for (const std::string_view folder : split(path == nullptr ? "" : path, ':'))
        if (::access((std::string(folder) + '/' + std::string(program)).c_str(), X_OK) == 0) return true;
    return false;
}

void wait_for(pid_t pager) {
    while (::waitpid(pager, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace

std::string pager_command() {
    const char* chosen = std::getenv("BEAMHEAP_PAGER");
    if (chosen == nullptr) chosen = std::getenv("PAGER");
    const std::string command = chosen == nullptr ? "less -FRX" : chosen;
    const std::vector<std::string_view> words = split(command, ' ');
    if (words.empty() || command == "cat") return {};
    // Anything that only a shell understands is left to it.
    const bool plain = words.front().find_first_of("$'\"`\\~=;|&<>(){}") == std::string_view::npos;
    return plain && !in_path(words.front()) ? std::string() : command;
}

bool pager_takes_interrupt() {
    const pid_t pager = running_pager.load(std::memory_order_relaxed);
    if (pager == 0) return false;
    if (given_all.load(std::memory_order_relaxed)) return true;
    ::close(pager_pipe.load(std::memory_order_relaxed));
    wait_for(pager);
    return false;
}

Output::Output(bool paged) : Sink(&take, this), target_(STDOUT_FILENO) {
    if (!paged || !is_terminal(STDOUT_FILENO)) return;
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return;
    rows_ = size.ws_row;
    columns_ = std::max<std::size_t>(size.ws_col, 1);
    // Where programs can't be started any more, the one that was prepared is all there is.
    if (prepared.pid != 0 || !sandbox().active()) command_ = pager_command();
}

std::optional<WaitingPager> start_waiting_pager() {
    if (!is_terminal(STDOUT_FILENO)) return std::nullopt;
    const std::string command = pager_command();
    if (command.empty()) return std::nullopt;
    int answer[2], begin[2];
    if (::pipe2(answer, O_CLOEXEC) != 0) return std::nullopt;
    if (::pipe2(begin, O_CLOEXEC) != 0) {
        ::close(answer[0]);
        ::close(answer[1]);
        return std::nullopt;
    }
    const pid_t pid = ::fork();
    if (pid == 0) {
        restore_signals();
        bytes::close_all_but({answer[0], begin[0]});
        char told = 0;
        ssize_t got = 0;
        do got = ::read(begin[0], &told, 1);
        while (got < 0 && errno == EINTR);
        if (got != 1) ::_exit(0);
        become_pager(answer[0], command);
    }
    ::close(answer[0]);
    ::close(begin[0]);
    if (pid > 0) return WaitingPager{pid, answer[1], begin[1]};
    ::close(answer[1]);
    ::close(begin[1]);
    return std::nullopt;
}

void prepare_pager() {
    if (prepared.pid == 0) prepared = start_waiting_pager().value_or(WaitingPager{});
}

void adopt_pager(const WaitingPager& pager) { prepared = pager; }

bool Output::take(void* context, std::string_view piece) {
    auto* self = static_cast<Output*>(context);
    if (!self->command_.empty() && self->pager_ == 0 && self->hold(piece)) return true;
    const int error = write_all(self->target_, piece);
    if (error != 0 && error != EPIPE) self->error_ = error;
    return error == 0;
}

// Keeps a piece as long as all of it fits the screen, with a line left for the shell's prompt. Once it does not the
// pager is started, and has what was held; the piece is then part of that.
bool Output::hold(std::string_view piece) {
    held_ += piece;
    for (const char c : piece) {
        column_ = c == '\n' ? 0 : column_ + 1;  // escape sequences and characters of several bytes count too much
        if (c == '\n' || column_ % columns_ == 0) ++lines_;
    }
    if (lines_ < rows_) return true;
    start();
    std::string held;
    held.swap(held_);
    if (pager_ == 0) command_.clear();
    take(this, held);
    return true;
}

void Output::start() {
    if (prepared.pid != 0) {
        const WaitingPager pager = std::exchange(prepared, {});
        const bool begun = write_all(pager.begin, "b") == 0;
        ::close(pager.begin);
        if (!begun) {
            ::close(pager.answer);
            return;
        }
        pager_ = pager.pid;
        target_ = pager.answer;
    } else {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return;
        pager_ = ::fork();
        if (pager_ == 0) {
            restore_signals();
            become_pager(ends[0], command_);
        }
        ::close(ends[0]);
        if (pager_ < 0) {
            ::close(ends[1]);
            pager_ = 0;
            return;
        }
        target_ = ends[1];
    }
    given_all = false;
    pager_pipe = target_;
    running_pager = pager_;
}

void Output::finish() {
    flush();
    if (!held_.empty()) {
        std::string held;
        held.swap(held_);
        command_.clear();
        take(this, held);
    }
    if (pager_ == 0) return;
    given_all = true;
    ::close(target_);
    wait_for(pager_);
    running_pager = 0;
    pager_ = 0;
    target_ = STDOUT_FILENO;
    command_.clear();
}

}  // namespace beamheap::cli
