// SPDX-License-Identifier: Apache-2.0
// The folder in which answers about deaths are kept, "TIME-NODE.ENDING" each, bounded by what it may take and by what
// must stay free: the oldest deaths go first, with all that belongs to them. Other files in it are left alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"

namespace beamheap::cli {

/// Why something of a death is not in the folder.
struct NotWritten {
    std::string why;       ///< as a clause
    bool no_room = false;  ///< what is larger has none either
};

class DeathFolder {
public:
    struct Bounds {
        std::uint64_t disk = 0;  ///< bytes of all files of deaths together
        std::uint64_t free = 0;  ///< bytes of the file system that are left to others
    };
    /// Makes the folder where it is missing (mode 0700). Errors: usage (a file is there); unreadable, resource_limit.
    static Result<DeathFolder> open(std::string folder, Bounds bounds);

    /// A time in milliseconds by which no file is called yet: the beginning of names, "20261122T185501.250Z".
    std::string free_time(std::int64_t unix_ns) const;
    /// Removes the oldest deaths until `bytes` more are within the bounds, but none whose files begin with `but`.
    /// False: they would not be.
    bool make_room(std::uint64_t bytes, std::string_view but);
    /// Where make_room() has none: whether the smallest answer about a death may be written all the same. It is a few
    /// KiB, which are taken from what is to stay free; of more than some dozens of deaths the oldest go for it.
    bool make_least_room(std::uint64_t bytes, std::string_view but);
    /// Where make_room() or make_least_room() has none: which of the bounds it is.
    NotWritten no_room() const { return {why_full(), true}; }
    /// Of a file that could not be written, by errno.
    NotWritten not_written(int error) const;
    /// Paths of a death's files, by its beginning.
    std::string path(std::string_view name) const { return folder_ + '/' + std::string(name); }
    const std::string& folder() const { return folder_; }
    const Bounds& bounds() const { return bounds_; }
    /// Deaths that had to go so far.
    std::uint64_t removed() const { return removed_; }
    /// Bytes that other programs may still write there; none where the system does not tell.
    std::uint64_t free_bytes() const;
    /// Names of all files of deaths, oldest first.
    std::vector<std::string> names() const;

private:
    std::string why_full() const;
    DeathFolder(std::string folder, Bounds bounds) : folder_(std::move(folder)), bounds_(bounds) {}
    std::string folder_;
    Bounds bounds_;
    std::uint64_t removed_ = 0;
};

/// What the names of a death's files begin with: all but the ending. Empty: it is no such file.
std::string_view death_of(std::string_view name);

}  // namespace beamheap::cli
