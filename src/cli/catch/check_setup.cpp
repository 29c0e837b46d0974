// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "analyses/base/number_format.hpp"
#include "bytes/running_process.hpp"
#include "cli/catch/death_folder.hpp"
#include "cli/catch/dump_pipe.hpp"
#include "cli/catch/running_node.hpp"
#include "cli/catch/setup.hpp"
#include "cli/live/windows.hpp"
#include "present/tables.hpp"

namespace beamheap::cli {
namespace {

using present::Value;

/// One thing that it takes to catch a death.
struct Need {
    std::string what;
    bool fine = false;
    std::string detail;
};

std::string line_of(const char* path) {
    const std::string text = bytes::read_small_file(path, 4096);
    return text.substr(0, text.find('\n'));
}

/// A pipe as it stands for a VM that would write to it.
struct PipeState {
    bool there = false, is_pipe = false, is_read = false;
};
PipeState state_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    if (!S_ISFIFO(status.st_mode)) return {true, false, false};
    const int end = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);  // opened and left: catch passes that over
    if (end >= 0) ::close(end);
    return {true, true, end >= 0};
}

std::string told(const std::string& path, PipeState state) {
    if (!state.there) return fmt::format("{} is not there: a VM would write a file", path);
    if (!state.is_pipe) return fmt::format("{} is no pipe", path);
    return state.is_read ? fmt::format("{} is a pipe that is read", path)
                         : fmt::format("{}: nobody reads it, and a VM would wait there", path);
}

Need need_of(const RunningNode& node) {
    Need need{fmt::format("VM {}", node.pid), false, {}};
    if (!node.told) {
        need.detail = "its environment can't be read: ask as its user, or as root";
        return need;
    }
    const PipeState state = state_of(dump_of(node));
    if (node.dump.empty()) need.detail = "ERL_CRASH_DUMP is not set: its dump is a file in its folder";
    else need.detail = told("ERL_CRASH_DUMP=" + node.dump, state);
    need.fine = state.is_read && writes_dump(node);
    if (node.seconds == "0") need.detail += "; ERL_CRASH_DUMP_SECONDS=0: it writes no dump";
    else if (!writes_dump(node)) need.detail += "; with heart and without ERL_CRASH_DUMP_SECONDS it writes no dump";
    else if (state.is_pipe && waits_for_good(node))
        need.detail += "; ERL_CRASH_DUMP_SECONDS bounds how long it waits where nobody reads, and is not set";
    return need;
}

/// The newest dump that a VM that runs would overwrite: a death that left a file.
struct LastFile {
    std::string path;
    std::int64_t ns = 0;
};
std::optional<LastFile> last_file(const std::vector<RunningNode>& nodes) {
    std::optional<LastFile> last;
    constexpr std::int64_t ns = 1'000'000'000;
    for (const RunningNode& node : nodes) {
        struct stat status {};
        const std::string path = dump_of(node);
        if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
        const std::int64_t when = status.st_mtim.tv_sec * ns + status.st_mtim.tv_nsec;
        if (!last || when > last->ns) last = LastFile{path, when};
    }
    return last;
}

std::vector<Need> needs(const Options& options, const std::optional<DeathFolder>& folder, const Error& no_folder) {
    std::vector<Need> all;
    if (!options.pipe.empty()) {
        const PipeState state = state_of(options.pipe);
        all.push_back({"pipe", state.is_read, told(options.pipe, state)});
    }
    if (folder)
        all.push_back(
            {"folder", folder->free_bytes() >= folder->bounds().free,
             fmt::format("{}: {} free, {} stay so", folder->folder(), analyses::human_bytes(folder->free_bytes()),
                         analyses::human_bytes(folder->bounds().free))});
    else if (!options.output.empty()) all.push_back({"folder", false, no_folder.message});
    const std::vector<RunningNode> nodes = running_nodes();
    for (const RunningNode& node : nodes) all.push_back(need_of(node));

    const std::string pattern = line_of("/proc/sys/kernel/core_pattern"),
                      limit = line_of("/proc/sys/kernel/core_pipe_limit");
    const bool ours = pattern.starts_with('|') && pattern.find("beamheap catch ") != pattern.npos;
    all.push_back({"core images", ours && limit != "0",
                   !ours ? fmt::format("kernel.core_pattern is '{}': a death in native code is not caught", pattern)
                   : limit == "0"
                       ? "kernel.core_pipe_limit is 0: the kernel does not wait for who reads the dying process"
                       : fmt::format("kernel.core_pattern is '{}'", pattern)});

    const std::optional<LastFile> file = last_file(nodes);
    const std::vector<std::string> kept = folder ? folder->names() : std::vector<std::string>();
    const std::string caught = kept.empty() ? "" : kept.back();
    if (file && (caught.empty() || window_time(file->ns) > caught.substr(0, window_time(0).size())))
        all.push_back({"last death", false,
                       fmt::format("{} was written at {}: it was not caught", file->path, window_time(file->ns))});
    else if (!caught.empty()) all.push_back({"last death", true, fmt::format("caught: {}", folder->path(caught))});
    return all;
}

}  // namespace

Status check_setup(const Context& context) {
    const Options& options = context.options();
    std::optional<DeathFolder> folder;
    Error no_folder;
    struct stat status {};
    if (!options.output.empty()) {
        if (::stat(options.output.c_str(), &status) != 0) {  // looked at, and not made
            no_folder.message = fmt::format("{}: {}", options.output, std::strerror(errno));
        } else if (auto opened = death_folder(options)) {
            folder = std::move(*opened);
        } else {
            no_folder = opened.error();
        }
    }
    std::vector<Need> all = needs(options, folder, no_folder);
    const auto missing = static_cast<std::uint64_t>(std::ranges::count(all, false, &Need::fine));
    present::Document document;
    document.kind = options.verb;
    document.lead.push_back(present::Text{}.add(
        missing == 0 ? "Nothing is missing: a node that dies is caught."
                     : fmt::format("{} missing.", analyses::counted(missing, "thing is", "things are"))));
    present::Columns<Need> columns{
        {{.name = "what", .title = "WHAT", .doc = "what it takes"}, [](const Need& n) { return Value(n.what); }},
        {{.name = "fine", .title = "FINE", .holds = present::Holds::flag, .doc = "whether it is as it should be"},
         [](const Need& n) { return Value(n.fine); }},
        {{.name = "detail", .title = "DETAIL", .doc = "what there is", .content = present::Content::message},
         [](const Need& n) { return Value(n.detail); }},
    };
    document.members.push_back({.key = "rows", .body = present::table_of(std::move(columns), std::move(all), "")});
    document.primary = "rows";
    BH_CHECK(context.print(document));
    if (missing != 0) return Error{ErrorCode::findings, "", {}};
    return ok();
}

}  // namespace beamheap::cli
