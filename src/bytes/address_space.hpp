// SPDX-License-Identifier: Apache-2.0
// The memory of a process: addresses to bytes, out of the segments of a core and of the files that it had mapped, or
// out of a process that still runs.
//
// A core holds what was written to; clean pages of files (code, constants) are often left out and come from the file
// itself. Segments are added in order of trust: where two claim an address, the first one added has it. Segments
// that follow each other in memory and in the file are joined, so that whatever was contiguous in memory can nearly
// always be read in place; pages are touched only when a reader looks at them.
//
// Of a running process, what a space does not hold is fetched by each reader into a view of its own (live_view.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "bytes/elf_image.hpp"
#include "bytes/live_view.hpp"

namespace beamheap::bytes {

class AddressSpace {
public:
    /// Where a segment's bytes come from.
    enum class Origin : std::uint8_t { core, file };
    struct Segment {
        std::uint64_t start = 0, end = 0;
        const std::byte* data = nullptr;
        Origin origin = Origin::core;
        bool writable = false;
        /// Where the bytes end that go on from `data`: in this segment, or in neighbours of other protection.
        std::uint64_t run_end = 0;
    };

    /// `bytes` are what the process had at `start`; they must outlive this object. Ignored when empty.
    void add(std::uint64_t start, Bytes bytes, Origin origin, bool writable);
    /// Sorts, drops what overlaps an earlier segment, joins neighbours. Call once, before reading.
    void seal();
    std::span<const Segment> segments() const { return segments_; }
    /// The segment that holds this address, or null.
    const Segment* find(std::uint64_t address) const;
    /// What no segment holds is read from this process.
    void follow(std::shared_ptr<const LiveMemory> process) {
        live_ = std::make_unique<LiveMappings>(std::move(process));
    }
    /// The process that is followed; null: none.
    const LiveMappings* live() const { return live_.get(); }

    /// A stretch of memory that can be read, whatever it comes from.
    struct Part {
        std::uint64_t start = 0, end = 0;
        bool writable = false;
    };
    /// All of them, by address; of a running process as they are now.
    std::vector<Part> parts() const;
    /// The sum of their sizes: more than any structure can have.
    std::uint64_t bytes() const;
    /// The process had so much memory, whether or not the image holds it.
    void declare(std::uint64_t bytes) {
        declared_ = bytes > largest_bytes - declared_ ? largest_bytes : declared_ + bytes;
    }
    /// What no size that is read here can be above: all memory that was declared; of a running process, which grows, an
    /// address space.
    std::uint64_t most_bytes() const { return live_ != nullptr || declared_ == 0 ? largest_bytes : declared_; }

private:
    static constexpr std::uint64_t largest_bytes = 1ull << 47;
    std::vector<Segment> segments_;
    std::uint64_t declared_ = 0;
    std::unique_ptr<LiveMappings> live_;
};

/// Reads an AddressSpace; one per thread, since it remembers where it read last. Reads that fail are counted, never
/// answered with made-up bytes.
class MemoryReader {
public:
    explicit MemoryReader(const AddressSpace& space) : space_(&space) {
        if (space.live() != nullptr) view_ = std::make_shared<LiveView>(*space.live());
    }

    /// `size` bytes in place, or null when they are not all there (or not contiguous in the file).
    const std::byte* at(std::uint64_t address, std::uint64_t size) {
        const AddressSpace::Segment* segment = lookup(address);
        if (segment == nullptr || size > segment->run_end - address) return elsewhere(address, size);
        return segment->data + (address - segment->start);
    }
    /// As at(), without counting a failure: for scans that try addresses.
    const std::byte* probe(std::uint64_t address, std::uint64_t size) {
        const AddressSpace::Segment* segment = lookup(address);
        if (segment == nullptr || size > segment->run_end - address)
            return view_ == nullptr ? nullptr : view_->at(address, size);
        return segment->data + (address - segment->start);
    }
    /// All bytes from `address` on that are contiguous in the file, at most `limit`; empty when it is not there.
    Bytes from(std::uint64_t address, std::uint64_t limit) {
        const AddressSpace::Segment* segment = lookup(address);
        if (segment == nullptr) return view_ == nullptr ? Bytes{} : view_->from(address, limit);
        return {segment->data + (address - segment->start), std::min<std::uint64_t>(limit, segment->run_end - address)};
    }
    std::optional<std::uint64_t> word(std::uint64_t address) { return value<std::uint64_t>(address); }
    std::optional<std::uint32_t> word32(std::uint64_t address) { return value<std::uint32_t>(address); }
    template <class T>
    std::optional<T> value(std::uint64_t address) {
        const std::byte* p = at(address, sizeof(T));
        if (p == nullptr) return std::nullopt;
        return load<T>(p);
    }
    bool mapped(std::uint64_t address) {
        return lookup(address) != nullptr || (view_ != nullptr && view_->mapped(address));
    }
    /// In memory that the process could write: where the VM's own structures are.
    bool writable(std::uint64_t address) {
        const AddressSpace::Segment* segment = lookup(address);
        return segment != nullptr ? segment->writable : view_ != nullptr && view_->writable(address);
    }
    /// The NUL-terminated text at an address, at most `limit` bytes; nothing where there is none.
    std::optional<std::string_view> text(std::uint64_t address, std::size_t limit = 256);

    std::uint64_t misses() const { return misses_; }
    std::uint64_t first_miss() const { return first_miss_; }
    const AddressSpace& space() const { return *space_; }

    /// What this reader has fetched of a running process; null where the memory is that of a file, which does not
    /// change.
    LiveView* view() { return view_.get(); }
    /// Of a running process: what was given out is looked at no more, and what is asked for from now on is fetched
    /// anew.
    void forget() {
        if (view_ != nullptr) view_->forget();
    }
    /// Reads through the other reader's view from now on: both see a page as it was when one of them first asked for
    /// it.
    void share(const MemoryReader& other) { view_ = other.view_; }

private:
    const AddressSpace::Segment* lookup(std::uint64_t address) {
        const AddressSpace::Segment* last = cache_[(address >> 20) & (cache_.size() - 1)];
        if (last != nullptr && last->start <= address && address < last->end) return last;
        return lookup_slow(address);
    }
    const AddressSpace::Segment* lookup_slow(std::uint64_t address);
    const std::byte* elsewhere(std::uint64_t address, std::uint64_t size);

    const AddressSpace* space_;
    std::array<const AddressSpace::Segment*, 64> cache_{};  // by megabyte of address
    std::uint64_t misses_ = 0, first_miss_ = 0;
    std::shared_ptr<LiveView> view_;
};

/// While it stands, each read of a running process fetches anew, even what this round has fetched before: for lists to
/// which others append while they are followed. Nothing for files.
class FreshReads {
public:
    explicit FreshReads(MemoryReader& memory) : view_(memory.view()), before_(view_ != nullptr && view_->fresh(true)) {}
    FreshReads(const FreshReads&) = delete;
    FreshReads& operator=(const FreshReads&) = delete;
    ~FreshReads() {
        if (view_ != nullptr) view_->fresh(before_);
    }

private:
    LiveView* view_;
    bool before_;
};

}  // namespace beamheap::bytes
