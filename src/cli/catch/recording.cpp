// SPDX-License-Identifier: Apache-2.0
#include "cli/catch/recording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include "analyses/base/number_format.hpp"
#include "bytes/clock.hpp"
#include "bytes/compress.hpp"

namespace beamheap::cli {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr int fastest_level = 1;
constexpr std::string_view dump_begins = "=erl_crash_dump:";
constexpr std::uint64_t looked_after = 16u << 20;  // stored bytes, between two looks at the bounds
constexpr std::int64_t ns_of_ms = 1'000'000;
constexpr int moment_ms = 2;

// More than the usual 64 KiB are taken at a time then, so that writer and reader both work. False: it is not allowed,
// or no pipe.
bool widen_pipe(int pipe) { return ::fcntl(pipe, F_SETPIPE_SZ, static_cast<int>(piece_bytes)) > 0; }

// A VM writes some KiB at a time. Where the pipe has room for much more, who takes each piece at once makes two
// processes change places for each; so it is let gather for a moment.
void let_gather(int pipe) {
    constexpr int worth_taking = piece_bytes / 4;
    int there = 0;
    if (::ioctl(pipe, FIONREAD, &there) == 0 && there < worth_taking) ::poll(nullptr, 0, moment_ms);
}

}  // namespace

void BeginsCounted::take(std::string_view piece) {
    const std::size_t overlap = dump_begins.size() - 1;
    end_ += piece.substr(0, overlap);
    if (end_.find(dump_begins) != end_.npos) ++count_;
    for (std::size_t at = piece.find(dump_begins); at != piece.npos; at = piece.find(dump_begins, at + 1)) ++count_;
    if (piece.size() >= overlap) end_ = piece.substr(piece.size() - overlap);
    else if (end_.size() > overlap) end_.erase(0, end_.size() - overlap);
}

Recording record(int from, std::int64_t until_ns, DeathFolder& folder, std::string_view but, OutputFile& file) {
    Recording recording;
    std::optional<Error> failed;
    bytes::ZstdStream compressed(
        [&](std::string_view piece) {
            if (failed) return;
            if (const Status status = file.write(piece); !status) failed = status.error();
            recording.stored_bytes += piece.size();
        },
        fastest_level);
    const bool wide = widen_pipe(from);
    std::string piece(piece_bytes, '\0');
    BeginsCounted begins;
    std::uint64_t look_at = 0;
    for (;;) {
        if (recording.stored_bytes >= look_at) {
            look_at = recording.stored_bytes + looked_after;
            if (!folder.make_room(recording.stored_bytes, but)) {
                recording.cut =
                    folder.free_bytes() < folder.bounds().free
                        ? fmt::format("less than {} of the disk are free", analyses::human_bytes(folder.bounds().free))
                        : fmt::format("--disk leaves no more than {} to all deaths",
                                      analyses::human_bytes(folder.bounds().disk));
                break;
            }
        }
        const std::int64_t left = until_ns - static_cast<std::int64_t>(bytes::monotonic_ns());
        if (left <= 0) {
            recording.cut = "the deadline was reached";
            break;
        }
        pollfd ready{from, POLLIN, 0};
        const int wait = static_cast<int>(std::min<std::int64_t>(left / ns_of_ms + 1, std::numeric_limits<int>::max()));
        const int polled = ::poll(&ready, 1, wait);
        if (polled == 0 || (polled < 0 && errno == EINTR)) continue;
        if (polled < 0) ::usleep(useconds_t{moment_ms} * 1000);  // it can't be waited for: what is there is read
        if (wide && (ready.revents & POLLHUP) == 0) let_gather(from);
        const ssize_t got = ::read(from, piece.data(), piece.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) recording.cut = fmt::format("it can't be read: {}", std::strerror(errno));
        if (got <= 0) break;
        recording.plain_bytes += static_cast<std::uint64_t>(got);
        begins.take(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
        compressed.write(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
        if (failed) break;
    }
    compressed.finish();
    if (!failed)
        if (const Status status = file.flush(); !status) failed = status.error();
    if (failed) recording.cut = failed->message;
    if (begins.count() > 1 && recording.cut.empty())
        recording.cut = fmt::format("{} of others are mixed with it, who wrote to the pipe in the same instant",
                                    analyses::counted(begins.count() - 1, "dump", "dumps"));
    return recording;
}

bool read_past(int from, std::uint64_t& bytes, BeginsCounted& begins) {
    static std::string nowhere(piece_bytes, '\0');
    const ssize_t got = ::read(from, nowhere.data(), nowhere.size());
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    bytes += static_cast<std::uint64_t>(got);
    begins.take(std::string_view(nowhere).substr(0, static_cast<std::size_t>(got)));
    return got != 0;
}

}  // namespace beamheap::cli
