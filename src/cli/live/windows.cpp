// SPDX-License-Identifier: Apache-2.0
#include "cli/live/windows.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "analyses/base/number_format.hpp"
#include "analyses/selectors/selectors.hpp"
#include "bytes/clock.hpp"
#include "cli/console/output_file.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/command_line/option_table.hpp"
#include "cli/live/sampling.hpp"
#include "present/render.hpp"
#include "present/sanitise.hpp"

namespace beamheap::cli {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::time_t abandoned_seconds = 600;  // what is half written for longer was left by an end by force
constexpr std::size_t time_letters = 20;        // of window_time()

struct Ending {
    std::string_view format, ending;
};
constexpr std::array endings{
    Ending{"pprof", "pb.gz"}, Ending{"folded", "folded"}, Ending{"speedscope", "speedscope.json"},
    Ending{"svg", "svg"},     Ending{"json", "json"},     Ending{"ndjson", "ndjson"}};

struct CloseFolder {
    void operator()(DIR* folder) const { closedir(folder); }
};

// The names of the files in a folder, those of windows in the order of time.
std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, CloseFolder> open(opendir(folder.c_str()));
    if (open == nullptr) return names;
    while (const dirent* entry = readdir(open.get())) names.emplace_back(entry->d_name);
    std::ranges::sort(names);
    return names;
}

void tell(const Context& context, std::string_view text) {
    if (context.options().quiet) return;
    say_beside(fmt::format("beamheap: {}", text));
}

struct WindowOutput {
    std::string format;
    WindowFolder folder;
    std::uint64_t written = 0, lost = 0;
    bool losing = false;  // the last window was lost, and that was told
};

Result<std::vector<WindowOutput>> outputs_of(const Context& context, std::string_view stem) {
    const Options& options = context.options();
    BH_TRY(const analyses::Quantity size, analyses::parse_quantity(options.keep_bytes));
    if (size.unit == analyses::Quantity::Unit::percent || size.value == 0 || options.keep == 0)
        return Error{ErrorCode::usage, "--keep and --keep-bytes: at least one file, and a size such as 256MiB", {}};
    std::vector<WindowOutput> outputs;
    for (const std::string& word : options.out) {
        const std::size_t sign = word.find('=');
        if (sign == word.npos || sign + 1 == word.size())
            return Error{ErrorCode::usage, fmt::format("--out: '{}' is not FORMAT=FOLDER", word),
                         "--out pprof=/var/lib/profiles"};
        const auto known = std::ranges::find(endings, std::string_view(word).substr(0, sign), &Ending::format);
        if (known == endings.end()) {
            std::vector<std::string_view> formats;
            for (const Ending& each : endings) formats.push_back(each.format);
            return Error{ErrorCode::usage, fmt::format("--out: windows are not written as '{}'", word.substr(0, sign)),
                         fmt::format("formats are: {}", fmt::join(formats, " "))};
        }
        BH_TRY(WindowFolder folder, WindowFolder::open(word.substr(sign + 1), std::string(stem),
                                                       std::string(known->ending), {options.keep, size.value}));
        outputs.push_back({std::string(known->format), std::move(folder)});
    }
    if (outputs.empty())
        return Error{ErrorCode::usage, "--every needs --out FORMAT=FOLDER",
                     fmt::format("beamheap {} PID --every 10s --out pprof=FOLDER", stem)};
    return outputs;
}

// One window's answer to all folders. What can't be written is told once, until it can be again.
Status write_window(const Context& context, std::vector<WindowOutput>& outputs, const WindowAnswer& answer,
                    bool first) {
    for (WindowOutput& output : outputs) {
        BH_TRY(const std::string content,
               context.rendered(answer.document, answer.snapshot, output.format, answer.default_sort));
        const Status put = output.folder.put(answer.document.span->begin_ns, answer.pid, content);
        if (put) {
            ++output.written;
            if (output.losing) tell(context, fmt::format("{}: windows are written again", output.folder.path()));
            output.losing = false;
            continue;
        }
        if (first && put.error().code != ErrorCode::resource_limit) return put.error();
        ++output.lost;
        if (!output.losing)
            tell(context, fmt::format("{}; this window is lost, the next one is tried", put.error().message));
        output.losing = true;
    }
    return ok();
}

double seconds_now() { return static_cast<double>(bytes::monotonic_ns()) * 1e-9; }

}  // namespace

std::string window_time(std::int64_t unix_ns) {
    const std::time_t seconds = unix_ns / second_ns;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                       parts.tm_hour, parts.tm_min, parts.tm_sec, unix_ns % second_ns / 1'000'000);
}

Result<WindowFolder> WindowFolder::open(std::string folder, std::string stem, std::string ending, Bounds bounds) {
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return Error{ErrorCode::unreadable, fmt::format("{}: can't be made: {}", folder, std::strerror(errno)), {}};
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0)
        return Error{ErrorCode::unreadable, fmt::format("{}: {}", folder, std::strerror(errno)), {}};
    if (!S_ISDIR(status.st_mode)) return Error{ErrorCode::usage, fmt::format("{}: is no folder", folder), {}};
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        return Error{ErrorCode::unreadable,
                     fmt::format("{}: nothing can be written there: {}", folder, std::strerror(errno)),
                     {}};
    WindowFolder made(std::move(folder), std::move(stem), std::move(ending), bounds);
    for (const std::string& name : names_in(made.folder_)) {
        // A partial file is ".NAME.XXXXXX" (output_file.cpp).
        if (name.size() < 8 || name[0] != '.' || !made.is_window(std::string_view(name).substr(1, name.size() - 8)))
            continue;
        const std::string path = made.folder_ + '/' + name;
        if (lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
            status.st_mtime + abandoned_seconds < ::time(nullptr))
            unlink(path.c_str());
    }
    return made;
}

bool WindowFolder::is_window(std::string_view name) const {
    if (!name.starts_with(stem_) || !name.ends_with(ending_) ||
        name.size() < stem_.size() + ending_.size() + time_letters + 4)
        return false;
    name = name.substr(stem_.size(), name.size() - stem_.size() - ending_.size());
    if (name[0] != '-' || name[1 + time_letters] != '-' || name.back() != '.') return false;
    const std::string_view when = name.substr(1, time_letters),
                           pid = name.substr(2 + time_letters, name.size() - 3 - time_letters);
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    return when[8] == 'T' && when[15] == '.' && when[19] == 'Z' && std::ranges::count_if(when, digit) == 17 &&
           !pid.empty() && std::ranges::all_of(pid, digit);
}

// Removes the oldest until there is room for one more file of so many bytes.
void WindowFolder::make_room(std::uint64_t bytes) {
    struct Held {
        std::string path;
        std::uint64_t bytes;
    };
    std::vector<Held> held;
    std::uint64_t all = 0;
    for (const std::string& name : names_in(folder_)) {
        struct stat status {};
        std::string path = folder_ + '/' + name;
        if (!is_window(name) || lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
        all += static_cast<std::uint64_t>(status.st_size);
        held.push_back({std::move(path), static_cast<std::uint64_t>(status.st_size)});
    }
    for (std::size_t i = 0; i < held.size() && (held.size() - i + 1 > bounds_.files || all + bytes > bounds_.bytes);
         ++i) {
        if (unlink(held[i].path.c_str()) == 0) ++removed_;  // or somebody has taken it meanwhile
        all -= held[i].bytes;
    }
}

Status WindowFolder::put(std::int64_t begin_ns, std::uint32_t pid, std::string_view content) {
    if (content.size() > bounds_.bytes)
        return Error{ErrorCode::resource_limit,
                     fmt::format("{}: a window of {} is more than --keep-bytes allows", folder_,
                                 analyses::human_bytes(content.size())),
                     {}};
    make_room(content.size());
    return write_file(fmt::format("{}/{}-{}-{}.{}", folder_, stem_, window_time(begin_ns), pid, ending_), content,
                      false);
}

Result<bool> wants_windows(const Context& context) {
    const Options& options = context.options();
    if (options.every.empty()) {
        for (const GivenOption& given : options.given)
            if (const std::string_view name = given.row->long_name();
                name == "--out" || name == "--keep" || name == "--keep-bytes")
                return Error{ErrorCode::usage, fmt::format("{} goes with --every", name),
                             fmt::format("beamheap {} PID --every 10s --out pprof=FOLDER", options.verb)};
        return false;
    }
    return true;
}

Status run_windows(const Context& context, std::string_view stem,
                   const std::function<Status(double seconds, const TakeWindow& take)>& window) {
    const Options& options = context.options();
    BH_TRY(const double every, parse_seconds(options.every));
    double total = 0;
    if (!options.duration.empty()) {
        BH_TRY(total, parse_seconds(options.duration));
    }
    constexpr double shortest = 0.1;
    if (every < shortest) return Error{ErrorCode::usage, "--every: a window has at least 100ms", {}};
    BH_TRY(std::vector<WindowOutput> outputs, outputs_of(context, stem));
    const StopBySignal stop;
    const double begin = seconds_now();
    bool gone = false, first = true;
    double ends = begin + every;  // of the window that is on
    while (!gone && !StopBySignal::stopped()) {
        const double now = seconds_now();
        while (ends - now < every / 10) ends += every;
        if (total > 0 && now - begin >= total - every / 10) break;
        const double length = total > 0 ? std::min(ends - now, total - (now - begin)) : ends - now;
        bool taken = false;
        const Status done = window(length, [&](const WindowAnswer& answer) -> Status {
            taken = true;
            gone = answer.gone;
            return write_window(context, outputs, answer, first);
        });
        if (!done && first) return done.error();
        if (!done) {
            // A VM that ended between two windows can't be attached to; anything else may be otherwise the next time.
            tell(context, done.error().message);
            if (!taken && done.error().code == ErrorCode::unreadable) break;
            for (double left = ends - seconds_now(); left > 0 && !StopBySignal::stopped(); left = ends - seconds_now())
                poll(nullptr, 0, static_cast<int>(std::min(left, 0.2) * 1000) + 1);
        }
        first = false;
    }
    if (gone) tell(context, "the VM has ended");
    for (const WindowOutput& output : outputs)
        tell(context,
             fmt::format("{}: {} written, {} lost, {} of the oldest removed", output.folder.path(),
                         analyses::counted(output.written, "window", "windows"), output.lost, output.folder.removed()));
    return ok();
}

}  // namespace beamheap::cli
