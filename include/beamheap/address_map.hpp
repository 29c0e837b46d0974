// SPDX-License-Identifier: Apache-2.0
// From addresses of heap objects to their numbers, for one process at a time.
//
// Addresses are first compressed to 32 bits: the upper bits (address / 65536, a chunk) go once through a small table
// that numbers the chunks in order of appearance, the rest is the word within the chunk. A heap of 64-bit words is
// dense (2.5 to 4.2 words per object in heaps and message fragments), so all that follows works on small integers.
//
// Then one of three structures, chosen when all objects are known:
//   direct   an array with one entry per word of every chunk. Fastest; for heaps of up to 256 Ki objects that lie near
//   each other. ranked   one bit per word, counts per 64 bits, and a permutation from rank to number: 4 to 5 bytes per
//   object. sorted   a sorted array, for objects that lie so far apart that the bits would cost more than the objects.
//   Real
//            heaps are not like that; forged ones may be, and then cost time, not memory.
// Measured on a 4.3 GHz Zen 5: 1, 2 and 50 to 100 ns per object for building and looking up.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "beamheap/flat_array.hpp"

namespace beamheap {

struct AddressSpaceEntry {
    std::uint64_t key;  ///< chunk + 1; 0 is free
    std::uint32_t slot;
};

/// Numbers chunks of 64 KiB and packs addresses into 32 bits.
class AddressSpace {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFFu;

    AddressSpace();
    /// Forgets all chunks. word_bytes is 4 or 8.
    void begin(unsigned word_bytes);
    /// The address in 32 bits; none where it is not aligned to a word, or has no room any more (over 2^19 chunks of
    /// 64-bit words: 32 GiB of heap).
    std::uint32_t compress(std::uint64_t address) {
        const std::uint64_t key = (address >> chunk_bits) + 1;
        const Entry& entry = entries_[static_cast<std::size_t>((key * multiplier_) >> shift_)];
        if (entry.key != key || (address & unaligned_) != 0) return compress_new(address);
        return entry.slot << slot_shift_ | static_cast<std::uint32_t>(address & chunk_mask) >> word_shift_;
    }
    /// The address that was compressed.
    std::uint64_t expand(std::uint32_t compressed) const {
        const std::uint64_t word = compressed & ((1u << slot_shift_) - 1);
        return ((chunks_[compressed >> slot_shift_] - 1) << chunk_bits) | word << word_shift_;
    }
    /// The address in 32 bits if its chunk is known; does not add one.
    std::uint32_t find(std::uint64_t address) const;
    std::uint32_t chunks() const { return static_cast<std::uint32_t>(chunks_.size()); }
    unsigned words_per_chunk_log2() const { return slot_shift_; }
    std::size_t used_bytes() const { return entries_.used_bytes() + chunks_.used_bytes(); }

private:
    static constexpr unsigned chunk_bits = 16;
    static constexpr std::uint64_t chunk_mask = (1u << chunk_bits) - 1;
    using Entry = AddressSpaceEntry;
    std::uint32_t compress_new(std::uint64_t address);
    bool add(std::uint64_t key, std::size_t& at);
    void resize(std::size_t entries);

    FlatArray<Entry> entries_;
    FlatArray<std::uint64_t> chunks_;  // keys by slot
    std::uint64_t multiplier_;         // odd and not predictable, so that no input can aim at one entry
    std::size_t mask_ = 0;
    unsigned shift_ = 0;
    unsigned word_shift_ = 3;
    unsigned slot_shift_ = 13;
    std::uint64_t unaligned_ = 7;
};

/// Finds the number of the object at a compressed address.
class AddressMap {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFFu;

    AddressMap() = default;
    AddressMap(AddressMap&& other) noexcept { swap(other); }
    AddressMap& operator=(AddressMap&& other) noexcept {
        swap(other);
        return *this;
    }

    /// Maps addresses[i] to i. An address that is there already, and AddressSpace::none, are not added; returns how
    /// often the former happened.
    std::uint64_t build(std::span<const std::uint32_t> addresses, const AddressSpace& space);
    void clear();

    std::uint32_t find(std::uint32_t compressed) const {
        if (compressed == AddressSpace::none) return none;
        switch (way_) {
            case Way::direct: return find_direct(compressed);
            case Way::ranked: return find_ranked(compressed);
            case Way::sorted: return find_sorted(compressed);
        }
        return none;
    }
    /// Calls f with a callable that finds, specialised for the structure in use: for loops over many addresses.
    template <class F>
    void with_finder(F&& f) const {
        switch (way_) {
            case Way::direct:
                f([objects = direct_.view(), base = direct_base_](std::uint32_t c) {
                    const std::uint32_t number = c < objects.size() ? objects[c] - base : none;
                    return number < direct_objects ? number : none;
                });
                break;
            case Way::ranked: f([this](std::uint32_t c) { return find_ranked(c); }); break;
            case Way::sorted: f([this](std::uint32_t c) { return find_sorted(c); }); break;
        }
    }
    std::size_t used_bytes() const {
        return direct_.used_bytes() + blocks_.used_bytes() + by_rank_.used_bytes() + sorted_.used_bytes();
    }

private:
    enum class Way : std::uint8_t { direct, ranked, sorted };
    struct Block {  // 64 words of address space
        std::uint64_t bits;
        std::uint32_t rank;  // objects in the blocks before
    };

    void swap(AddressMap& other) noexcept {
        std::swap(way_, other.way_);
        std::swap(direct_, other.direct_);
        std::swap(direct_base_, other.direct_base_);
        std::swap(blocks_, other.blocks_);
        std::swap(by_rank_, other.by_rank_);
        std::swap(sorted_, other.sorted_);
    }
    std::uint32_t find_direct(std::uint32_t compressed) const {
        if (compressed >= direct_.size()) return none;
        const std::uint32_t number = direct_[compressed] - direct_base_;
        return number < direct_objects ? number : none;
    }
    std::uint32_t find_ranked(std::uint32_t compressed) const {
        const std::size_t block = compressed >> 6;
        if (block >= blocks_.size()) return none;
        const std::uint64_t bit = std::uint64_t{1} << (compressed & 63);
        const Block& b = blocks_[block];
        if ((b.bits & bit) == 0) return none;
        return by_rank_[b.rank + static_cast<std::uint32_t>(__builtin_popcountll(b.bits & (bit - 1)))];
    }
    std::uint32_t find_sorted(std::uint32_t compressed) const;

    Way way_ = Way::direct;
    /// An entry is direct_base_ and the number. Each build has a base of its own, so that what earlier ones left in the
    /// array is none of its numbers, and nothing needs to be cleared. Zero, in an entry never written, is no base's
    /// number.
    FlatArray<std::uint32_t> direct_;
    static constexpr std::uint32_t direct_objects = std::uint32_t{1} << 18;
    std::uint32_t direct_base_ = 0;
    FlatArray<Block> blocks_;
    FlatArray<std::uint32_t> by_rank_;
    FlatArray<std::uint64_t> sorted_;  // address << 32 | number
};

}  // namespace beamheap
