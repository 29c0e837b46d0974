// SPDX-License-Identifier: Apache-2.0
// Copies a file out of the page cache on a thread of its own, a few blocks ahead of whoever reads it in order.
//
// That copy is a fifth of what a pass over a dump takes (the rest is looking at it), and a second core has it done for
// nothing. A block has room before it for what its reader has not used of the block before, so that text goes on
// without another copy.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "beamheap/error.hpp"
#include "bytes/source.hpp"

namespace beamheap::bytes {

class Prefetch {
public:
    static constexpr std::size_t block_bytes = 256 * 1024;
    static constexpr std::size_t room = block_bytes + 4096;  ///< bytes before a block, whole pages
    static constexpr std::size_t padding = 64;               ///< bytes behind it

    /// Reads a source that outlives this, is seekable and whose read_at() any thread may call, from `offset`, the start
    /// of a page, on.
    Prefetch(const Source& source, std::uint64_t offset);
    Prefetch(const Prefetch&) = delete;
    Prefetch& operator=(const Prefetch&) = delete;
    ~Prefetch();

    struct Block {
        std::shared_ptr<char[]> memory;  ///< of room + block_bytes + padding bytes; used again once nobody holds it
        std::size_t bytes = 0;           ///< from `room` on: all of a block, but at the end of the source; then 0
        std::optional<Error> error;      ///< nothing more can be read
    };
    /// The next block. While that is still being read, the caller reads one of those behind it. Throws what the thread
    /// threw, and std::system_error from the constructor where no thread can be had.
    Block next();

private:
    static constexpr std::size_t most_ahead = 3;
    struct Slot {
        Block block;
        bool filled = false;
    };
    void run();
    bool may_begin() const { return begun_ < taken_ + most_ahead && !ended_; }
    void read_one(std::unique_lock<std::mutex>& lock);
    std::shared_ptr<char[]> memory();

    const Source& source_;
    const std::uint64_t offset_;
    std::mutex mutex_;  // guards all that follows
    std::condition_variable filled_, room_;
    std::vector<std::shared_ptr<char[]>> all_memory_;
    std::array<Slot, most_ahead> slots_;   // by the block's number
    std::uint64_t begun_ = 0, taken_ = 0;  // blocks whose reading has begun; that next() has given
    bool ended_ = false, stop_ = false;    // ended_: one of them was not whole
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace beamheap::bytes
