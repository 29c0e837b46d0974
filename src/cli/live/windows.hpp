// SPDX-License-Identifier: Apache-2.0
// A running VM's profile, again and again: one file for each window of time, in a folder that never holds more than it
// may.
//
// Whoever ships profiles elsewhere (a side-car of Pyroscope's, Parca's or of object storage) takes files out of that
// folder: each appears under its name when it is whole, and names are in the order of time. What is not taken is
// bounded: before a file is put there the oldest ones go, until the new one fits the folder's bounds. A disk that is
// full costs the window that did not fit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/error.hpp"
#include "cli/frame/context.hpp"

namespace beamheap::cli {

/// A folder with the files of windows, "STEM-TIME-PID.ENDING"; others in it are left alone.
class WindowFolder {
public:
    struct Bounds {
        std::uint64_t files = 0;  ///< at least 1
        std::uint64_t bytes = 0;  ///< of all of them together
    };
    /// Makes the folder where it is missing (mode 0700), and takes away what windows left half written ten minutes ago
    /// or longer. Errors: usage (a file is there); unreadable, resource_limit (the system's reason).
    static Result<WindowFolder> open(std::string folder, std::string stem, std::string ending, Bounds bounds);

    /// Puts a file there whose window began at `begin_ns` (of 1970, UTC), and before that removes the oldest as the
    /// bounds ask. Errors: resource_limit (it is larger than all may be, the disk is full), else the system's reason.
    Status put(std::int64_t begin_ns, std::uint32_t pid, std::string_view content);
    /// Files that had to go so far.
    std::uint64_t removed() const { return removed_; }
    const std::string& path() const { return folder_; }

private:
    WindowFolder(std::string folder, std::string stem, std::string ending, Bounds bounds)
        : folder_(std::move(folder)), stem_(std::move(stem)), ending_(std::move(ending)), bounds_(bounds) {}
    bool is_window(std::string_view name) const;
    void make_room(std::uint64_t bytes);
    std::string folder_, stem_, ending_;
    Bounds bounds_;
    std::uint64_t removed_ = 0;
};

/// "20261122T185501.250Z" of nanoseconds since 1970.
std::string window_time(std::int64_t unix_ns);

/// What one window gave: a document, the snapshot that it is about, and how it ended.
struct WindowAnswer {
    const present::Document& document;
    const Snapshot& snapshot;
    std::string_view default_sort;
    std::uint32_t pid = 0;
    bool gone = false;  ///< the VM has ended: there will be no other
};
using TakeWindow = std::function<Status(const WindowAnswer& answer)>;

/// Whether --every is given; options that only go with it are refused without. Errors: usage.
Result<bool> wants_windows(const Context& context);

/// Runs windows of --every one after the other until SIGINT or SIGTERM, the end of --for, or the VM's, and writes each
/// to the folders of
/// --out. `window` samples for so many seconds and hands over its answer. What becomes of them is told on standard
/// error. Errors: usage; those of the first window; later ones cost their window.
Status run_windows(const Context& context, std::string_view stem,
                   const std::function<Status(double seconds, const TakeWindow& take)>& window);

}  // namespace beamheap::cli
