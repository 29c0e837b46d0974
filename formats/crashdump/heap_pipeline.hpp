// SPDX-License-Identifier: Apache-2.0
// Decodes the heaps of many processes while the dump is scanned: the scanner finds where a process's sections are and
// hands them over; workers decode them side by side. Neighbouring processes go in batches. Most of them the scanner
// hands over with their text, where it has read it: the copy out of the system's cache is a tenth of all time, and not
// made twice. A giant process is followed piece by piece (heap_pieces.hpp). Others are read again, a batch's stretch of
// the file at once, or in windows.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "beamheap/artifact.hpp"
#include "bytes/source.hpp"
#include "bytes/window.hpp"
#include "formats/crashdump/heap_pieces.hpp"
#include "formats/crashdump/heap_reader.hpp"
#include "formats/crashdump/losses.hpp"

namespace beamheap::crashdump {

/// The body of one section: offset from the start of the input, and length.
struct Extent {
    static constexpr std::uint64_t most_bytes = (std::uint64_t{1} << 56) - 1;
    std::uint64_t offset = 0;
    std::uint64_t bytes : 56 = 0;  // in one word with the section: there are some of these for each process
    TermSection section : 8 = TermSection::heap;
    Extent() = default;
    Extent(std::uint64_t from, std::uint64_t size, TermSection of)
        : offset(from), bytes(size & most_bytes), section(of) {}
};

/// The sections of one process's terms, in file order.
struct TermExtents {
    std::array<Extent, 4> parts{};
    std::uint32_t count = 0;
    void add(const Extent& extent) {
        if (count < parts.size()) parts[count++] = extent;
    }
    std::uint64_t begin() const { return parts[0].offset; }
    std::uint64_t end() const { return parts[count - 1].offset + parts[count - 1].bytes; }
};

struct HeapJob {
    ProcId id = ProcId::none;
    Process process;
    TermExtents extents;
    HeapFacts facts;  ///< in `values` mode the graph is kept: somebody will ask for the terms of this process
    /// The text of its sections, as far as whoever passed it still has it: in order, one piece for each buffer of his.
    /// Where one begins behind the end of the one before, or within a line that began there, the text is read again.
    std::vector<bytes::Window::Held> text;
};

/// Heaps with more text go in pieces: to keep it would take more memory than it is worth.
inline constexpr std::uint64_t most_held_text = std::uint64_t{2} << 20;

/// The facts that a heap's reader needs, out of the process's row.
HeapFacts heap_facts(const Process& process, HeapGraph::Mode mode);

/// Has `reader`, which has begun, read the sections of a process in windows of the input; those of giants may be copied
/// out of the page cache by a second thread, with `prefetch`. `buffer` is scratch. Errors: I/O.
Status feed_in_windows(const bytes::Source& source, const TermExtents& extents, HeapReader& reader, std::string& buffer,
                       bool prefetch);

/// What was met in the heaps that one thread decoded.
struct HeapLosses {
    Anomalies anomalies;
    std::vector<ProcId> damaged;  ///< processes with lines that could not be read
    std::uint64_t bytes = 0;      ///< of those lines
    UnresolvedAddresses addresses;
    UnresolvedAddresses binaries;  ///< outside of the heaps
    bool keep_addresses = false;
    std::vector<std::pair<ProcId, ReadHeap>> kept;
};

/// Gives the heap that `reader` has read to the demand's visitor, and what it met to `losses`.
void visit(HeapReader& reader, const HeapJob& job, const HeapRequest& demand, unsigned worker, HeapLosses& losses);

/// For inputs that can be read anywhere.
class HeapPipeline {
public:
    HeapPipeline(const bytes::Source& source, const HeapDialect& dialect, const HeapRequest& demand,
                 bool keep_addresses);
    HeapPipeline(const HeapPipeline&) = delete;
    HeapPipeline& operator=(const HeapPipeline&) = delete;
    ~HeapPipeline();

    /// Takes a process over; waits where the workers are far behind.
    void add(HeapJob job);
    /// The same of a giant process whose text comes as it is passed: its facts first, pieces of its sections, and what
    /// it has turned out to be, before anything else. If pieces were missing, it is read again.
    void begin_giant(const HeapFacts& facts);
    void add_piece(HeapPiece piece);
    void end_giant(HeapJob job);
    /// Waits until all are decoded; what was odd goes to `losses`. The first I/O error, if there was one. What a
    /// worker threw is thrown again here, in the caller's thread.
    Status finish(HeapLosses& losses);

private:
    using Batch = std::vector<HeapJob>;
    struct Worker {
        HeapReader reader;
        std::string buffer;
        HeapLosses losses;
        Status status = ok();
        std::exception_ptr failure;  // what its thread threw, out of memory above all
        std::thread thread;
        explicit Worker(const HeapDialect& dialect) : reader(dialect) {}
    };
    struct Giant {
        HeapFacts facts;
        PieceFeeder feeder;
        PieceQueue pieces;
        HeapJob job;         // set before `pieces` is closed
        bool ended = false;  // likewise; false: the input's reader gave up
    };
    struct Work {
        Batch batch;
        std::shared_ptr<Giant> giant;  // instead of a batch
    };
    static std::uint64_t bytes_of(const Batch& batch);
    void flush();
    void hand_over(Work work);
    void join();
    void run(Worker& worker, unsigned index);
    void decode(Worker& worker, unsigned index, std::span<const HeapJob> batch);
    void decode_giant(Worker& worker, unsigned index, Giant& giant);
    void finish_giant(Worker& worker, unsigned index, const Giant& giant);
    bool decode_whole(Worker& worker, unsigned index, std::span<const HeapJob> batch);
    Status decode_again(Worker& worker, const HeapJob& job);
    bool decode_held(Worker& worker, unsigned index, const HeapJob& job);
    void decode_text(Worker& worker, unsigned index, const HeapJob& job, std::string_view text, std::uint64_t begin);

    const bytes::Source& source_;
    const HeapRequest& demand_;
    std::vector<std::unique_ptr<Worker>> workers_;
    bool inline_ = false;  // one worker: the calling thread
    Batch batch_;
    std::mutex mutex_;
    std::condition_variable added_, taken_;  // batches, to and from queue_
    std::deque<Work> queue_;
    std::shared_ptr<Giant> giant_;    // the one that is being passed
    std::uint64_t queued_bytes_ = 0;  // of text in queue_
    bool closed_ = false;
};

}  // namespace beamheap::crashdump
