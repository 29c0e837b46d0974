// SPDX-License-Identifier: Apache-2.0
#include "cli/console/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "cli/console/output_file.hpp"
#include "cli/console/pager.hpp"
#include "present/sanitise.hpp"
#include "present/units.hpp"

namespace beamheap::cli {
namespace {

constexpr int interrupted_exit = 130;
constexpr std::string_view erase_line = "\r\x1b[K";

// A progress line stands on the terminal and must go before anything else is printed there.
std::atomic<bool> line_shown{false};

extern "C" void interrupted(int) {
    if (pager_takes_interrupt()) return;
    if (line_shown.load(std::memory_order_relaxed)) {
        const auto ignored = ::write(STDERR_FILENO, erase_line.data(), erase_line.size());
        static_cast<void>(ignored);
    }
    remove_partial_files();
    ::_exit(interrupted_exit);
}

// Inputs are mapped: what another program cuts away while it is read is missed here, in the middle of everything.
extern "C" void input_shrank(int) {
    constexpr std::string_view text =
        "beamheap: the input became shorter while it was read\n"
        "          Copy it first, or wait until the VM has written it.\n";
    const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
    static_cast<void>(ignored);
    constexpr int unreadable_exit = 3;
    ::_exit(unreadable_exit);
}

bool guest = false;

void to_stderr(std::string_view text) {
    if (guest) return;
    while (!text.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

bool set(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

}  // namespace

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

bool wants_color(When when, bool terminal) {
    if (when != When::automatic) return when == When::always;
    if (set("NO_COLOR")) return false;
    if (set("CLICOLOR_FORCE") && std::string_view(std::getenv("CLICOLOR_FORCE")) != "0") return true;
    return terminal && set("TERM") && std::string_view(std::getenv("TERM")) != "dumb";
}

std::size_t terminal_width(int descriptor) {
    winsize size{};
    if (!is_terminal(descriptor)) return 0;
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return size.ws_col;
    return 80;
}

void install_signal_handlers() {
    struct sigaction action {};
    action.sa_handler = &interrupted;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, nullptr);
    action.sa_handler = &input_shrank;
    ::sigaction(SIGBUS, &action, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN);  // who writes is told (EFBIG)
}

void be_guest() { guest = true; }
bool is_guest() { return guest; }

void say_beside(std::string_view text) {
    if (guest) return;
    const std::string safe = present::safe_text(text);
    const std::size_t width = terminal_width(STDERR_FILENO);
    FileSink(STDERR_FILENO).write((width == 0 ? safe : present::wrapped(safe, width, 2)) + '\n');
}

int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return written < 0 ? errno : EIO;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

bool FileSink::take(void* context, std::string_view piece) {
    auto* self = static_cast<FileSink*>(context);
    const int error = write_all(self->descriptor_, piece);
    if (error != 0 && error != EPIPE) self->error_ = error;
    return error == 0;
}

ProgressLine::ProgressLine(When when)
    : wanted_(when == When::always || (when == When::automatic && is_terminal(STDERR_FILENO))),
      terminal_(is_terminal(STDERR_FILENO)),
      start_(Clock::now()),
      next_(start_ + std::chrono::seconds(1)) {}

ProgressLine::~ProgressLine() { finish(); }

Progress ProgressLine::callback() {
    if (!wanted_) return {};
    return [this](std::uint64_t done, std::uint64_t total) { update(done, total); };
}

void ProgressLine::update(std::uint64_t done, std::uint64_t total) {
    if (done == 0) return;
    done_ = done;
    total_ = total;
    const Clock::time_point now = Clock::now();
    if (now < next_) return;
    next_ = now + (terminal_ ? Clock::duration(std::chrono::milliseconds(170)) : std::chrono::seconds(10));
    const std::string text = describe(done, total, std::chrono::duration<double>(now - start_).count());
    if (terminal_) line_shown = true;
    to_stderr(terminal_ ? fmt::format("{}{}", erase_line, text) : fmt::format("{}\n", text));
    shown_ = true;
}

void ProgressLine::completed(std::uint64_t bytes) {
    done_ = bytes;
    total_ = 0;
    finish();
}

void ProgressLine::finish() {
    if (!wanted_) return;
    wanted_ = false;
    if (terminal_) {
        if (shown_) to_stderr(erase_line);
        line_shown = false;
    } else if (done_ != 0) {
        to_stderr(describe(done_, total_, std::chrono::duration<double>(Clock::now() - start_).count()) + '\n');
    }
}

std::string ProgressLine::describe(std::uint64_t done, std::uint64_t total, double seconds) {
    std::string text;
    if (total != 0) {
        const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
        text = fmt::format("{:.0f} %  {} of {}", share * 100, present::human_bytes(done), present::human_bytes(total));
    } else {
        text = present::human_bytes(done);
    }
    if (seconds <= 0 || done == 0) return text;
    const double rate = static_cast<double>(done) / seconds;
    text += fmt::format("  {}/s", present::human_bytes(static_cast<std::uint64_t>(rate)));
    if (total > done) {
        const double left_ms = static_cast<double>(total - done) / rate * 1000;
        if (left_ms < 1e12)
            text += fmt::format("  {} left", present::human_duration(static_cast<std::uint64_t>(left_ms)));
    }
    return text;
}

}  // namespace beamheap::cli
