// SPDX-License-Identifier: Apache-2.0
#include "cli/catch/recording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "analyses/base/number_format.hpp"
#include "bytes/clock.hpp"
#include "bytes/compress.hpp"
#include "bytes/process_figures.hpp"
#include "cli/console/terminal.hpp"

namespace beamheap::cli {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr int fastest_level = 1;
constexpr std::string_view dump_begins = "=erl_crash_dump:";
constexpr std::uint64_t looked_after = 16u << 20;  // stored bytes, between two looks at the bounds
constexpr std::int64_t ns_of_ms = 1'000'000;
constexpr int moment_ms = 2;
constexpr std::uint64_t most_memory = 256u
                                      << 20;  // of what is recorded there; and no more than a quarter of what is free

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

/// Where what is recorded goes: a file, and memory where the file takes no more.
class Store {
public:
    Store(int file, bool memory_too, const DeathFolder& folder)
        : file_(file), memory_too_(memory_too), folder_(folder) {}

    void add(std::string_view piece) {
        if (!failed_.empty()) return;
        if (!memory_) {
            const int error = write_all(file_, piece);
            if (error == 0) {
                bytes_ += piece.size();
                return;
            }
            if (!move_to_memory(folder_.not_written(error))) {
                failed_ = fmt::format("it can't be written: {}", std::strerror(error));
                return;
            }
        }
        if (bytes_ + piece.size() > most_)
            failed_ = fmt::format("{}, and memory has room for {}", not_in_file_.why, analyses::human_bytes(most_));
        else if (const int error = write_all(memory_.get(), piece); error != 0)
            failed_ = fmt::format("{}, and in memory: {}", not_in_file_.why, std::strerror(error));
        else bytes_ += piece.size();
    }
    /// What was written so far with it. False: it goes on in the file.
    bool move_to_memory(NotWritten why) {
        if (!memory_too_ || memory_) return false;
        not_in_file_ = std::move(why);
        const std::uint64_t left =
            bytes::process_figures(static_cast<std::uint32_t>(::getpid())).left_bytes.value_or(0);
        most_ = std::min(most_memory, left / 4);
        bytes::Descriptor memory(bytes_ <= most_ ? ::memfd_create("dump", MFD_CLOEXEC) : -1);
        if (!memory) return false;
        std::string piece(piece_bytes, '\0');
        for (std::uint64_t at = 0; at < bytes_;) {
            const std::size_t wanted = std::min<std::uint64_t>(piece.size(), bytes_ - at);
            const ssize_t got = ::pread(file_, piece.data(), wanted, static_cast<off_t>(at));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0 || write_all(memory.get(), {piece.data(), static_cast<std::size_t>(got)}) != 0) return false;
            at += static_cast<std::uint64_t>(got);
        }
        (void)!::ftruncate(file_, 0);
        memory_ = std::move(memory);
        return true;
    }
    bool in_memory() const { return static_cast<bool>(memory_); }
    std::uint64_t bytes() const { return bytes_; }
    const std::string& failed() const { return failed_; }  ///< why nothing more is taken, as a clause
    const NotWritten& not_in_file() const { return not_in_file_; }
    bytes::Descriptor memory() { return std::move(memory_); }

private:
    int file_;
    bool memory_too_;
    const DeathFolder& folder_;
    NotWritten not_in_file_;
    bytes::Descriptor memory_;
    std::uint64_t bytes_ = 0, most_ = 0;
    std::string failed_;
};

}  // namespace

void BeginsCounted::take(std::string_view piece) {
    const std::size_t overlap = dump_begins.size() - 1;
    end_ += piece.substr(0, overlap);
    if (end_.find(dump_begins) != end_.npos) ++count_;
    for (std::size_t at = piece.find(dump_begins); at != piece.npos; at = piece.find(dump_begins, at + 1)) ++count_;
    if (piece.size() >= overlap) end_ = piece.substr(piece.size() - overlap);
    else if (end_.size() > overlap) end_.erase(0, end_.size() - overlap);
}

Recording record(int from, std::int64_t until_ns, DeathFolder& folder, std::string_view but, int file,
                 bool memory_too) {
    Recording recording;
    Store store(file, memory_too, folder);
    bytes::ZstdStream compressed([&](std::string_view piece) { store.add(piece); }, fastest_level);
    const bool wide = widen_pipe(from);
    std::string piece(piece_bytes, '\0');
    BeginsCounted begins;
    std::uint64_t look_at = 0;
    while (store.failed().empty()) {
        if (!store.in_memory() && store.bytes() >= look_at) {
            look_at = store.bytes() + looked_after;
            std::optional<NotWritten> why;
            if (file < 0) why = NotWritten{"no file can be made"};
            else if (!folder.make_room(store.bytes(), but)) why = folder.no_room();
            if (why && !store.move_to_memory(*why)) {
                recording.cut = why->why;
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
    }
    compressed.finish();
    if (!store.failed().empty()) recording.cut = store.failed();
    recording.memory = store.memory();
    recording.not_in_file = store.not_in_file();
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
