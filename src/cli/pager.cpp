#include "cli/pager.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "cli/options.hpp"
#include "cli/terminal.hpp"

namespace beamheap::cli {
namespace {

// What a signal handler has to know of the pager that runs.
std::atomic<pid_t> running_pager{0};
std::atomic<int> pager_pipe{-1};
std::atomic<bool> given_all{false};

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
    command_ = pager_command();
}

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
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    pager_ = ::fork();
    if (pager_ == 0) {
        ::signal(SIGPIPE, SIG_DFL);
        ::signal(SIGXFSZ, SIG_DFL);
        ::signal(SIGINT, SIG_DFL);
        ::dup2(ends[0], STDIN_FILENO);
        ::setenv("LESS", "FRX", 0);
        ::execl("/bin/sh", "sh", "-c", command_.c_str(), nullptr);
        ::_exit(127);
    }
    ::close(ends[0]);
    if (pager_ < 0) {
        ::close(ends[1]);
        pager_ = 0;
        return;
    }
    target_ = ends[1];
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
