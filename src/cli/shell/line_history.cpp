// SPDX-License-Identifier: Apache-2.0
#include "cli/shell/line_history.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "cli/shell/shell_words.hpp"

namespace beamheap::cli {
namespace {

constexpr std::size_t most_kept = 1'000;        // lines
constexpr std::size_t most_read = 1024 * 1024;  // bytes of the file
constexpr std::size_t longest_kept = 1'000;     // bytes of a line

// The file, with its folder made; empty: there is to be none.
std::string history_file() {
    if (const char* const named = std::getenv("BEAMHEAP_HISTORY")) return named;
    const char* const state = std::getenv("XDG_STATE_HOME");
    const char* const home = std::getenv("HOME");
    std::string folder;
    if (state != nullptr && *state == '/') folder = state;
    else if (home != nullptr && *home == '/') folder = std::string(home) + "/.local/state";
    else return {};
    folder += "/beamheap";
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) return {};
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
    return folder + "/history";
}

// Opens it, if it is a file of its user's own.
int open_own(const std::string& file, int how) {
    const int descriptor = ::open(file.c_str(), how | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    struct stat about {};
    if (descriptor >= 0 &&
        (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::geteuid())) {
        ::close(descriptor);
        return -1;
    }
    return descriptor;
}

void append_to(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace

bool holds_no_value(std::string_view line) {
    if (const auto query = query_of_line(line)) return query->find_first_of("'\"") == std::string::npos;
    const auto words = words_of_line(line);
    if (!words) return false;
    for (const std::string& word : *words)
        if (word.find_first_of("\"'{[") != std::string::npos || word.find("<<") != std::string::npos) return false;
    return true;
}

LineHistory LineHistory::open() {
    LineHistory history;
    history.file_ = history_file();
    if (history.file_.empty()) return history;
    const int descriptor = open_own(history.file_, O_RDWR);
    if (descriptor < 0) {
        history.file_.clear();
        return history;
    }
    std::string text(most_read, '\0');
    const ssize_t size = ::read(descriptor, text.data(), text.size());
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (end > at) history.lines_.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    if (history.lines_.size() > most_kept || text.size() == most_read) {
        history.lines_.erase(history.lines_.begin(), history.lines_.end() - static_cast<std::ptrdiff_t>(std::min(
                                                                                history.lines_.size(), most_kept / 2)));
        std::string kept;
        for (const std::string& line : history.lines_) kept.append(line) += '\n';
        if (::ftruncate(descriptor, 0) == 0 && ::lseek(descriptor, 0, SEEK_SET) == 0) append_to(descriptor, kept);
    }
    ::close(descriptor);
    return history;
}

void LineHistory::add(const std::string& line) {
    if (file_.empty() || line.empty() || line.size() > longest_kept || line.find('\n') != std::string::npos ||
        !holds_no_value(line) || (!lines_.empty() && lines_.back() == line))
        return;
    lines_.push_back(line);
    const int descriptor = open_own(file_, O_WRONLY | O_APPEND);
    if (descriptor < 0) return;
    append_to(descriptor, line + '\n');
    ::close(descriptor);
}

}  // namespace beamheap::cli
