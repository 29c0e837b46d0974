// SPDX-License-Identifier: Apache-2.0
// What one reader has fetched of a running process, kept where it can be looked at in place.
//
// Structures are read as if they lay in a file: by address, in place, however long. So each run of mappings of the
// process has a mirror here, address space of the same length that takes memory only where something was fetched. A
// page is fetched when it is first asked for, and is then good until forget(): what one forget() lies before and the
// next one behind is a round, in which nothing that was looked at changes under its reader. How old a page may be is
// thus the reader's choice: a round for each process whose row is read, one for all that never changes. Where a round
// must not show a page as it was when another structure on it was fetched (a queue to which others append while it is
// followed), fresh() has every read fetch anew.
//
// Of many pages each is of its own instant. A reader proves what it made of them by reading again what changes with
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "bytes/elf_image.hpp"
#include "bytes/running_process.hpp"

namespace beamheap::bytes {

/// The longest range that is read as one: beyond it stands no heap that this machine had room for twice.
inline constexpr std::uint64_t longest_live_range = 8ull << 30;

/// The readable mappings of a process, read again when an address is in none of them. Any thread may ask.
class LiveMappings {
public:
    explicit LiveMappings(std::shared_ptr<const LiveMemory> memory);
    struct List {
        std::vector<Mapping> all;  ///< readable ones, by address
        std::uint64_t number = 0;  ///< of the reading
    };
    std::shared_ptr<const List> current() const;
    /// A reading that is later than `seen`; the same one where the last is only milliseconds old.
    std::shared_ptr<const List> later_than(std::uint64_t seen) const;
    const LiveMemory& memory() const { return *memory_; }

private:
    std::shared_ptr<const LiveMemory> memory_;
    mutable std::mutex lock_;
    mutable std::shared_ptr<const List> list_;
    mutable std::uint64_t read_at_ns_ = 0;
};

class LiveView {
public:
    explicit LiveView(const LiveMappings& mappings);
    LiveView(const LiveView&) = delete;
    LiveView& operator=(const LiveView&) = delete;
    ~LiveView();

    /// `size` bytes in place, fetched if this round has not done so; null where they are not all there. They stay as
    /// they are until forget(), or until a fresh() reader asks for them again.
    const std::byte* at(std::uint64_t address, std::uint64_t size);
    /// All bytes from `address` on that are contiguous, at most `limit`; empty where there are none.
    Bytes from(std::uint64_t address, std::uint64_t limit);
    bool mapped(std::uint64_t address);
    bool writable(std::uint64_t address);
    struct Range {
        std::uint64_t address = 0, size = 0;
    };
    /// Fetches the pages of many ranges that this round has not fetched yet, by as few calls of the system as there
    /// can be. Each is fetched in whatever order; what is not mapped stays unfetched, and is tried again by at().
    void fetch_ahead(std::span<const Range> ranges);
    /// How often something was fetched so far: between two equal figures all that was given out was there before.
    std::uint64_t fetches() const { return fetches_; }
    /// Ends a round: all that was given out is no longer to be looked at, and will be fetched again.
    void forget();
    /// Whether each read fetches anew; gives the former value.
    bool fresh(bool each) { return std::exchange(fresh_, each); }
    /// The same range as it is now, into memory of the caller's: to prove what was made of an earlier read.
    bool read_again(std::uint64_t address, std::span<std::byte> into) const {
        return mappings_.memory().read(address, into) == into.size();
    }
    /// Many ranges as they are now, in their order.
    void read_again(std::span<MemoryPiece> pieces) const { mappings_.memory().read(pieces); }

private:
    // Mappings that follow each other without a gap, and their mirror.
    struct Run {
        std::uint64_t start = 0, end = 0;
        std::byte* mirror = nullptr;
        std::uint32_t* rounds = nullptr;  // by page: the round that fetched it
    };
    Run* run_of(std::uint64_t address);
    Run* find(std::uint64_t address);
    void take(std::shared_ptr<const LiveMappings::List> list);
    std::uint64_t fetch(Run& run, std::uint64_t address, std::uint64_t size);
    std::uint64_t read(Run& run, std::uint64_t address, std::uint64_t size);
    static bool room_for(Run& run);
    static void release(Run& run);

    const LiveMappings& mappings_;
    std::shared_ptr<const LiveMappings::List> list_;
    std::vector<Run> runs_;     // by address
    std::vector<Run> retired_;  // of mappings that changed in this round: what was given out is still looked at
    std::size_t last_ = 0;
    std::uint32_t round_ = 1;
    std::uint64_t kept_bytes_ = 0;  // fetched since memory was last given back
    std::uint64_t fetches_ = 0;
    std::vector<std::uint64_t> ahead_;  // pages, of fetch_ahead()
    std::vector<MemoryPiece> pieces_;
    bool fresh_ = false;
};

}  // namespace beamheap::bytes
