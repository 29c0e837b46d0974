// SPDX-License-Identifier: Apache-2.0
#include "cli/catch/recording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
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
constexpr std::uint64_t looked_after = 16u << 20;  // stored bytes, between two looks at the bounds
constexpr std::int64_t ns_of_ms = 1'000'000;

// More than the usual 64 KiB are taken at a time then, so that writer and reader both work; where that is not allowed,
// it stays as it was.
void widen_pipe(int pipe) { ::fcntl(pipe, F_SETPIPE_SZ, static_cast<int>(piece_bytes)); }

}  // namespace

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
    widen_pipe(from);
    std::string piece(piece_bytes, '\0');
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
        if (::poll(&ready, 1, wait) <= 0) continue;
        const ssize_t got = ::read(from, piece.data(), piece.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) recording.cut = fmt::format("it can't be read: {}", std::strerror(errno));
        if (got <= 0) break;
        recording.plain_bytes += static_cast<std::uint64_t>(got);
        compressed.write(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
        if (failed) break;
    }
    compressed.finish();
    if (!failed)
        if (const Status status = file.flush(); !status) failed = status.error();
    if (failed) recording.cut = failed->message;
    return recording;
}

bool read_past(int from, std::uint64_t& bytes) {
    static std::string nowhere(piece_bytes, '\0');
    const ssize_t got = ::read(from, nowhere.data(), nowhere.size());
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    bytes += static_cast<std::uint64_t>(got);
    return got != 0;
}

}  // namespace beamheap::cli
