// The memory of a dead process: addresses to bytes, out of the segments of a core and of the files that it had mapped.
//
// A core holds what was written to; clean pages of files (code, constants) are often left out and come from the file
// itself. Segments are added in order of trust: where two claim an address, the first one added has it. Segments
// that follow each other in memory and in the file are joined, so that whatever was contiguous in memory can nearly
// always be read in place; pages are touched only when a reader looks at them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "bytes/elf_image.hpp"

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

private:
    std::vector<Segment> segments_;
};

/// Reads an AddressSpace; one per thread, since it remembers where it read last. Reads that fail are counted, never
/// answered with made-up bytes.
class MemoryReader {
public:
    explicit MemoryReader(const AddressSpace& space) : space_(&space) {}

    /// `size` bytes in place, or null when they are not all there (or not contiguous in the file).
    const std::byte* at(std::uint64_t address, std::uint64_t size) {
        const AddressSpace::Segment* segment = lookup(address);
        if (segment == nullptr || size > segment->run_end - address) return miss(address);
        return segment->data + (address - segment->start);
    }
    /// As at(), without counting a failure: for scans that try addresses.
    const std::byte* probe(std::uint64_t address, std::uint64_t size) {
        const AddressSpace::Segment* segment = lookup(address);
        if (segment == nullptr || size > segment->run_end - address) return nullptr;
        return segment->data + (address - segment->start);
    }
    /// All bytes from `address` on that are contiguous in the file, at most `limit`; empty when it is not there.
    Bytes from(std::uint64_t address, std::uint64_t limit) {
        const AddressSpace::Segment* segment = lookup(address);
        if (segment == nullptr) return {};
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
    bool mapped(std::uint64_t address) { return lookup(address) != nullptr; }
    /// In memory that the process could write: where the VM's own structures are.
    bool writable(std::uint64_t address) {
        const AddressSpace::Segment* segment = lookup(address);
        return segment != nullptr && segment->writable;
    }
    /// The NUL-terminated text at an address, at most `limit` bytes; nothing where there is none.
    std::optional<std::string_view> text(std::uint64_t address, std::size_t limit = 256);

    std::uint64_t misses() const { return misses_; }
    std::uint64_t first_miss() const { return first_miss_; }
    const AddressSpace& space() const { return *space_; }

private:
    const AddressSpace::Segment* lookup(std::uint64_t address) {
        const AddressSpace::Segment* last = cache_[(address >> 20) & (cache_.size() - 1)];
        if (last != nullptr && last->start <= address && address < last->end) return last;
        return lookup_slow(address);
    }
    const AddressSpace::Segment* lookup_slow(std::uint64_t address);
    const std::byte* miss(std::uint64_t address) {
        if (misses_++ == 0) first_miss_ = address;
        return nullptr;
    }

    const AddressSpace* space_;
    std::array<const AddressSpace::Segment*, 64> cache_{};  // by megabyte of address
    std::uint64_t misses_ = 0, first_miss_ = 0;
};

}  // namespace beamheap::bytes
