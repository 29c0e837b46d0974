// SPDX-License-Identifier: Apache-2.0
#include "fuzz/tried.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "cli/console/sandbox.hpp"
#include "cli/frame/commands.hpp"

namespace beamheap::faults {
namespace {

namespace fs = std::filesystem;

constexpr unsigned seconds_each = 10;

std::string contents(int file) {
    std::string all;
    char piece[16384];
    lseek(file, 0, SEEK_SET);
    for (ssize_t got = read(file, piece, sizeof piece); got > 0; got = read(file, piece, sizeof piece))
        all.append(piece, static_cast<std::size_t>(got));
    return all;
}

std::string contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Without the mark, another one each time, between which an assistant is given data.
std::string unmarked(std::string text) {
    constexpr std::size_t mark = 16;
    for (const std::string_view sign : {"\"BEGIN ", "\\nEND "})
        for (std::size_t at = text.find(sign); at != text.npos; at = text.find(sign, at + 1))
            text.erase(at + sign.size(), mark);
    return text;
}

/// With one moment for all that it has.
std::string timeless(std::string text) {
    constexpr std::string_view moment = "20261128T090034.654Z";
    const auto alike = [](char got, char one) {
        const auto digit = [](char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; };
        return digit(one) ? digit(got) : got == one;
    };
    for (std::size_t mark = text.find('T'); mark != text.npos; mark = text.find('T', mark + 1)) {
        const std::size_t at = mark - moment.find('T');
        if (mark < moment.find('T') || at + moment.size() > text.size()) continue;
        const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at);
        if (std::equal(moment.begin(), moment.end(), begin, [&](char one, char got) { return alike(got, one); }))
            std::copy(moment.begin(), moment.end(), begin);
    }
    return text;
}

/// Waits for what the program started, and left to this process (PR_SET_CHILD_SUBREAPER).
bool others_end() {
    for (int waited = 0; waited < 500; ++waited) {
        const pid_t ended = waitpid(-1, nullptr, WNOHANG);
        if (ended < 0) return true;
        if (ended == 0) usleep(10'000);
    }
    return false;
}

/// A process that writes `dump` into the pipe once that is there, as a VM does that dies.
pid_t begin_to_die(const fs::path& pipe, const fs::path& dump) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    signal(SIGPIPE, SIG_DFL);
    alarm(seconds_each);
    const std::string all = contents(dump);
    int end = -1;
    while (end < 0 && (end = open(pipe.c_str(), O_WRONLY)) < 0) usleep(1'000);
    for (std::size_t done = 0; done < all.size();) {
        const ssize_t wrote = write(end, all.data() + done, all.size() - done);
        if (wrote < 0) break;
        done += static_cast<std::size_t>(wrote);
    }
    _exit(0);
}

/// Presses `q` at a terminal again and again, once something is on its screen, until the program has gone from it.
pid_t begin_to_press(int terminal) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    signal(SIGHUP, SIG_IGN);
    alarm(2 * seconds_each);
    char piece[16384];
    for (bool shown = false;;) {
        pollfd waits{terminal, POLLIN, 0};
        const int ready = poll(&waits, 1, 100);
        if (ready > 0 && read(terminal, piece, sizeof piece) <= 0) _exit(0);
        if (ready > 0) shown = true;
        else if (shown && write(terminal, "q", 1) < 0) _exit(0);
    }
}

}  // namespace

std::string Fault::text() const {
    const char* const how = error == short_count ? "gives half" : strerrorname_np(error);
    return std::string(row_of(kind).name) + " " + std::to_string(at) + ": " + how +
           (for_good ? ", and all behind it" : "");
}

bool Tried::has(std::string_view word) const { return std::ranges::find(words, word) != words.end(); }

Outcome Tried::run(const Fault& fault) const {
    for (const auto& left : fs::directory_iterator(folder)) fs::remove_all(left.path());
    if (has("OLD")) std::ofstream(folder / "out") << old_content;
    if (has("SELF")) fs::copy_file(dump, folder / "out");
    const std::array files{memfd_create("out", 0), memfd_create("err", 0)};
    const bool pressed = has("<KEYS");
    const int terminal = pressed ? posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
    if (pressed && (grantpt(terminal) != 0 || unlockpt(terminal) != 0)) std::abort();
    Injection& injected = injection();
    for (auto& count : injected.made) count = 0;
    injected.kind = fault.kind, injected.at = fault.at, injected.for_good = fault.for_good;
    injected.error = fault.error;
    const pid_t helper = pressed ? begin_to_press(terminal) : has("PIPE") ? begin_to_die(pipe(), dump) : -1;
    const pid_t child = fork();
    if (child == 0) in_child(files, terminal);
    if (terminal >= 0) close(terminal);
    Outcome outcome;
    waitpid(child, &outcome.status, 0);
    if (helper > 0) kill(helper, SIGKILL);
    outcome.stays = !others_end();
    outcome.out = unmarked(timeless(contents(files[0])));
    outcome.err = timeless(contents(files[1]));
    for (std::size_t i = 0; i < kinds; ++i) outcome.calls[i] = injected.made[i];
    for (const int file : files) close(file);
    for (const auto& each : fs::recursive_directory_iterator(folder))
        if (each.is_regular_file())
            outcome.files[timeless(each.path().lexically_relative(folder))] = timeless(contents(each.path()));
    return outcome;
}

void Tried::in_child(const std::array<int, 2>& files, int terminal) const {
    std::vector<std::string> given{"beamheap"};
    int input = open("/dev/null", O_RDONLY), output = files[0];
    for (const std::string& word : words) {
        if (word == "OUT" || word == "OLD" || word == "SELF") given.push_back(folder / "out");
        else if (word == "PIPE") given.push_back(pipe());
        else if (word == "<KEYS") {
            setsid();
            input = output = open(ptsname(terminal), O_RDWR);
            const winsize size{40, 120, 0, 0};
            ioctl(input, TIOCSWINSZ, &size);
        } else if (word.front() == '<') input = open(word.c_str() + 1, O_RDONLY);
        else given.push_back(word);
    }
    std::vector<char*> pointers;
    for (std::string& word : given) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(files[1], STDERR_FILENO);
    alarm(seconds_each);
    cli::allow_sandbox();
    begin_counting();
    const int code = cli::run(static_cast<int>(given.size()), pointers.data());
    end_counting();
    _exit(code);
}

}  // namespace beamheap::faults
