// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "bytes/source.hpp"
#include "formats/crashdump/crash_dump.hpp"
#include "formats/format.hpp"
#include "formats/otp/core_artifact.hpp"
#include "formats/otp/tables/activity.hpp"

namespace beamheap {
namespace {

using OpenFunction = Result<std::unique_ptr<Artifact>> (*)(std::unique_ptr<bytes::Source>, const std::string& path,
                                                           const OpenOptions&);

struct Format {
    std::string_view name;
    bool (*sniff)(std::string_view head);
    OpenFunction open;
    std::optional<Error> (*refuse)(std::string_view head, const std::string& path);
};

// In sniffing order.
constexpr Format formats[] = {
    {"crash dump", crashdump::sniff,
     [](std::unique_ptr<bytes::Source> source, const std::string& path, const OpenOptions& options)
         -> Result<std::unique_ptr<Artifact>> { return crashdump::open(std::move(source), path, options); },
     crashdump::refuse},
    {"core image", otp::sniff, otp::open, nullptr},
};

// Contents that people hand in by mistake, and what to do with them.
struct ForeignFormat {
    std::string_view magic;
    std::string_view is;
    std::string_view advice;
};
constexpr ForeignFormat strangers[] = {
    {"PK\x03\x04", "a zip archive", "Unpack it and name the dump inside."},
    {"BZh", "compressed with bzip2, which is not read", "Decompress it first: bzip2 -d."},
    {"{\"", "JSON", ""},
    {"<html", "an HTML page", "The download may have failed."},
    {"<!DOCTYPE", "an HTML page", "The download may have failed."},
    {"version https://git-lfs", "a Git LFS pointer, not the file itself", "Fetch the file with git lfs pull."},
    {"\xff\xfe", "UTF-16 text: a shell or an editor has converted it",
     "Copy the file again, or convert it back: iconv -f UTF-16 -t UTF-8."},
    {"\xfe\xff", "UTF-16 text: a shell or an editor has converted it",
     "Copy the file again, or convert it back: iconv -f UTF-16 -t UTF-8."},
    {"\xef\xbb\xbf=erl_crash_dump:", "a crash dump behind a byte order mark, which an editor has put there",
     "Take these three bytes away: tail -c +4."},
};

constexpr std::string_view first_tag = "=erl_crash_dump:";
constexpr std::size_t searched_bytes = 4u << 20;  // for a dump inside of something else

// A dump in a log: what a container or a service manager has written in front of it, or of each of its lines.
std::optional<Error> dump_inside(std::string_view text, const std::string& path) {
    const auto begins = [text](std::size_t at) {
        return at + first_tag.size() < text.size() && text[at + first_tag.size()] == '0';  // its version: 0.1 to 0.5
    };
    std::size_t at = text.find(first_tag);
    while (at != std::string_view::npos && !begins(at)) at = text.find(first_tag, at + 1);
    if (at == std::string_view::npos) return std::nullopt;
    if (at == 0 || text[at - 1] == '\n')
        return Error{ErrorCode::not_recognised,
                     fmt::format("{}: is no crash dump, but holds one, which begins at byte {}", path, at),
                     fmt::format("Name that alone: tail -c +{} FILE | beamheap analyze -", at + 1)};
    return Error{ErrorCode::not_recognised,
                 path + ": holds a crash dump whose lines have something in front of them, as those of a log do",
                 "Take that away first: a dump's lines are read as the VM wrote them."};
}

bool looks_like_stranger(std::string_view head) {
    return std::any_of(std::begin(strangers), std::end(strangers),
                       [head](const ForeignFormat& each) { return head.starts_with(each.magic); });
}

Error not_recognised(std::string_view head, const std::string& path) {
    if (head.empty())
        return {ErrorCode::not_recognised, path + ": is empty",
                "The VM creates the file first; it may have had no space or time to write it."};
    for (const ForeignFormat& stranger : strangers)
        if (head.starts_with(stranger.magic))
            return {ErrorCode::not_recognised, path + ": is " + std::string(stranger.is), std::string(stranger.advice)};
    return {ErrorCode::not_recognised, path + ": is neither a crash dump nor a core image of an Erlang VM",
            fmt::format("A crash dump begins with '{}'.", first_tag)};
}

Result<std::unique_ptr<Artifact>> open_source(std::unique_ptr<bytes::Source> source, const std::string& path,
                                              const OpenOptions& options) {
    BH_TRY(bytes::Peeked peeked, bytes::peek(std::move(source), 64));
    const std::string& head = peeked.head;
    for (const Format& format : formats) {
        if (format.sniff(head)) return format.open(std::move(peeked.source), path, options);
        if (format.refuse == nullptr) continue;
        if (auto refused = format.refuse(head, path)) return std::move(*refused);
    }
    if (!peeked.source->damage().empty())
        return Error{ErrorCode::not_recognised, path + ": " + peeked.source->damage(), "Copy the file again."};
    BH_TRY(const bytes::Peeked more, bytes::peek(std::move(peeked.source), searched_bytes));
    if (auto inside = dump_inside(more.head, path); inside && !looks_like_stranger(head)) return std::move(*inside);
    return not_recognised(head, path);
}

}  // namespace

std::optional<std::uint32_t> process_named(const std::string& path) {
    constexpr std::string_view prefix = "pid:";
    constexpr std::size_t most_digits = 9;  // the largest pid has seven
    std::string_view digits = path;
    const bool named = digits.starts_with(prefix);
    if (named) digits.remove_prefix(prefix.size());
    if (digits.empty() || digits.size() > most_digits || digits.find_first_not_of("0123456789") != digits.npos)
        return std::nullopt;
    std::error_code ignored;
    if (!named && std::filesystem::exists(path, ignored)) return std::nullopt;
    return static_cast<std::uint32_t>(std::stoul(std::string(digits)));
}

Result<std::unique_ptr<Artifact>> open_artifact(const std::string& path, const OpenOptions& options) {
    if (const auto pid = process_named(path)) return otp::open_running(*pid, path, options);
    BH_TRY(auto source, bytes::open_source(path, {options.max_bytes}));
    return open_source(std::move(source), path, options);
}

Result<Activity> measure_activity(const std::string& path, const OpenOptions& options,
                                  std::chrono::milliseconds interval) {
    const auto pid = process_named(path);
    if (!pid)
        return Error{ErrorCode::not_held, path + ": is of one instant: only a running VM can be watched",
                     "Name the pid of one: beamheap ps lists them."};
    BH_TRY(const otp::RunningVm running, otp::attach(*pid, path, options));
    return otp::measure_activity(*running.vm, interval);
}

Result<std::unique_ptr<Artifact>> open_artifact_source(std::unique_ptr<bytes::Source> source, const std::string& path,
                                                       const OpenOptions& options) {
    return open_source(std::move(source), path, options);
}

bool looks_like_artifact(std::string_view head) {
    // Of ELF files, only core images: e_type, the 16-bit number at byte 16, is ET_CORE.
    if (head.starts_with("\177ELF"))
        return head.size() >= 18 &&
               (head.substr(16, 2) == std::string_view("\4\0", 2) || head.substr(16, 2) == std::string_view("\0\4", 2));
    // A dump that an editor or a shell has changed is one that can't be read, not a file of another kind.
    using namespace std::string_view_literals;
    for (const std::string_view changed :
         {"\xef\xbb\xbf=erl_"sv, "\xff\xfe=\0e\0r\0l\0_\0"sv, "\xfe\xff\0=\0e\0r\0l\0_"sv})
        if (head.starts_with(changed)) return true;
    for (const Format& format : formats)
        if (format.sniff(head) || (format.refuse != nullptr && format.refuse(head, {}))) return true;
    return false;
}

bool begins_section(std::string_view text) { return crashdump::begins_section(text); }

Result<std::unique_ptr<Artifact>> open_artifact_bytes(std::string_view bytes, const OpenOptions& options) {
    BH_TRY(auto source, bytes::memory_source(bytes, {options.max_bytes}));
    return open_source(std::move(source), "(memory)", options);
}

}  // namespace beamheap
