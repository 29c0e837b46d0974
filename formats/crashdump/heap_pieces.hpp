// SPDX-License-Identifier: Apache-2.0
// The text of one giant process on its way from the scanner to the worker that reads it.
//
// Most processes are handed over whole (heap_pipeline.hpp). The text of a process with a million messages is too much
// to be held, and to read it a second time costs as much as the scanner's own pass; so a worker follows the scanner
// through it, a few hundred kilobytes behind. Pieces overlap: each shows all that the scanner's buffer has of a
// section, and the worker goes on where it stopped. Where a piece begins behind that place, or has no text, something
// is missing, and the process is read again.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "bytes/window.hpp"
#include "formats/crashdump/heap_reader.hpp"

namespace beamheap::crashdump {

/// Text of a section, up to where the scanner has come.
struct HeapPiece {
    TermSection section = TermSection::heap;
    std::uint64_t section_from = 0;  ///< offset of the section's body in the input
    bytes::Window::Held held;
    bool last = false;  ///< the section ends with it
};

/// Has a reader, which has begun, read pieces in their order.
class PieceFeeder {
public:
    void feed(HeapReader& reader, const HeapPiece& piece);
    /// Nothing was missing so far.
    bool whole() const { return whole_; }

private:
    std::optional<std::uint64_t> section_;  // where the one that is being read begins
    std::uint64_t at_ = 0;                  // what is not read yet
    bool whole_ = true;
};

/// Hands pieces from one thread to another.
class PieceQueue {
public:
    /// Waits where the worker is far behind.
    void push(HeapPiece piece);
    /// Nothing follows. Any number of times.
    void close();
    /// The next piece; nothing once it is closed and empty.
    std::optional<HeapPiece> pop();
    /// From the worker: what follows is dropped.
    void refuse();

private:
    static constexpr std::size_t most = 6;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<HeapPiece> pieces_;
    bool closed_ = false, refused_ = false;
};

}  // namespace beamheap::crashdump
