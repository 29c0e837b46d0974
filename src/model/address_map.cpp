// SPDX-License-Identifier: Apache-2.0
#include "beamheap/address_map.hpp"

#include <algorithm>
#include <cstring>
#include <random>

namespace beamheap {
namespace {

std::uint64_t unpredictable_odd() {
    static const std::uint64_t value = [] {
        std::random_device device;
        return (std::uint64_t{device()} << 32 | device()) | 1;
    }();
    return value;
}

constexpr std::uint32_t direct_chunks = 128;
constexpr std::size_t few_chunks = 64;  // room for half as many before the table grows: 2 MiB, as most heaps have

}  // namespace

AddressSpace::AddressSpace() : multiplier_(unpredictable_odd()) { begin(8); }

void AddressSpace::begin(unsigned word_bytes) {
    word_shift_ = word_bytes == 4 ? 2 : 3;
    slot_shift_ = chunk_bits - word_shift_;
    unaligned_ = word_bytes == 4 ? 3 : 7;
    if (entries_.size() > 1024) entries_.clear_and_trim(0);
    resize(few_chunks);
    chunks_.clear_and_trim(std::size_t{1} << 20);
}

void AddressSpace::resize(std::size_t entries) {
    entries_.resize(entries);
    std::memset(entries_.data(), 0, entries * sizeof(Entry));
    mask_ = entries - 1;
    shift_ = 64u - static_cast<unsigned>(__builtin_ctzll(entries));
}

/// An address whose chunk is new, or not in the first entry that it may be in, or that is not aligned.
std::uint32_t AddressSpace::compress_new(std::uint64_t address) {
    if ((address & unaligned_) != 0) return none;
    const std::uint64_t key = (address >> chunk_bits) + 1;
    std::size_t at = static_cast<std::size_t>((key * multiplier_) >> shift_);
    while (entries_[at].key != key) {
        if (entries_[at].key == 0) {
            if (!add(key, at)) return none;
            break;
        }
        at = (at + 1) & mask_;
    }
    return entries_[at].slot << slot_shift_ | static_cast<std::uint32_t>(address & chunk_mask) >> word_shift_;
}

bool AddressSpace::add(std::uint64_t key, std::size_t& at) {
    const std::size_t slot = chunks_.size();
    // The largest slot stays unused, so that no address is AddressSpace::none.
    if (slot + 1 >= (std::size_t{1} << (32 - slot_shift_))) return false;
    chunks_.push(key);
    if (2 * chunks_.size() <= entries_.size()) {
        entries_[at] = {key, static_cast<std::uint32_t>(slot)};
        return true;
    }
    resize(2 * entries_.size());
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
        at = static_cast<std::size_t>((chunks_[i] * multiplier_) >> shift_);
        while (entries_[at].key != 0) at = (at + 1) & mask_;
        entries_[at] = {chunks_[i], static_cast<std::uint32_t>(i)};
    }
    return true;  // `at` is where the last one, key, went
}

std::uint32_t AddressSpace::find(std::uint64_t address) const {
    if ((address & unaligned_) != 0) return none;
    const std::uint64_t key = (address >> chunk_bits) + 1;
    std::size_t at = static_cast<std::size_t>((key * multiplier_) >> shift_);
    while (entries_[at].key != key) {
        if (entries_[at].key == 0) return none;
        at = (at + 1) & mask_;
    }
    return entries_[at].slot << slot_shift_ | static_cast<std::uint32_t>(address & chunk_mask) >> word_shift_;
}

std::uint64_t AddressMap::build(std::span<const std::uint32_t> addresses, const AddressSpace& space) {
    clear();
    const std::uint32_t chunks = space.chunks();
    const unsigned chunk_log2 = space.words_per_chunk_log2();
    const auto count = static_cast<std::uint32_t>(addresses.size());
    std::uint64_t duplicates = 0;
    if (count <= direct_objects && chunks <= direct_chunks) {
        way_ = Way::direct;
        if (direct_base_ > 0xFFFFFFFFu - 2 * direct_objects) {
            direct_base_ = 0;
            direct_.clear_and_trim(0);
        }
        direct_base_ += direct_objects;
        direct_.resize_zeroed_by_caller(std::size_t{chunks} << chunk_log2);
        std::uint32_t* const direct = direct_.data();
        const std::uint32_t base = direct_base_;
#pragma GCC unroll 4
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t c = addresses[i];
            if (c == AddressSpace::none) continue;
            if (__builtin_expect(direct[c] - base < direct_objects, 0)) ++duplicates;
            else direct[c] = base + i;
        }
    } else if (chunks <= count / 32 + 4096) {
        way_ = Way::ranked;
        blocks_.resize(std::size_t{chunks} << (chunk_log2 - 6));
        std::memset(blocks_.data(), 0, blocks_.used_bytes());
        for (const std::uint32_t c : addresses) {
            if (c == AddressSpace::none) continue;
            const std::uint64_t bit = std::uint64_t{1} << (c & 63);
            Block& block = blocks_[c >> 6];
            duplicates += (block.bits & bit) != 0;
            block.bits |= bit;
        }
        std::uint32_t rank = 0;
        for (Block& block : blocks_) {
            block.rank = rank;
            rank += static_cast<std::uint32_t>(__builtin_popcountll(block.bits));
        }
        by_rank_.resize(rank);
        for (std::uint32_t i = count; i-- > 0;) {  // backwards: of two objects at one address, the first stays
            const std::uint32_t c = addresses[i];
            if (c == AddressSpace::none) continue;
            const Block& block = blocks_[c >> 6];
            const std::uint64_t below = block.bits & ((std::uint64_t{1} << (c & 63)) - 1);
            by_rank_[block.rank + static_cast<std::uint32_t>(__builtin_popcountll(below))] = i;
        }
    } else {
        way_ = Way::sorted;
        for (std::uint32_t i = 0; i < count; ++i)
            if (addresses[i] != AddressSpace::none) sorted_.push(std::uint64_t{addresses[i]} << 32 | i);
        std::sort(sorted_.begin(), sorted_.end());
        for (std::size_t i = 1; i < sorted_.size(); ++i) duplicates += sorted_[i] >> 32 == sorted_[i - 1] >> 32;
    }
    return duplicates;
}

void AddressMap::clear() {
    direct_.clear();
    blocks_.clear_and_trim(std::size_t{4} << 20);
    by_rank_.clear_and_trim(std::size_t{4} << 20);
    sorted_.clear_and_trim(std::size_t{4} << 20);
    way_ = Way::direct;
}

std::uint32_t AddressMap::find_sorted(std::uint32_t compressed) const {
    const std::uint64_t* found = std::lower_bound(sorted_.begin(), sorted_.end(), std::uint64_t{compressed} << 32);
    if (found == sorted_.end() || *found >> 32 != compressed) return none;
    return static_cast<std::uint32_t>(*found);
}

}  // namespace beamheap
