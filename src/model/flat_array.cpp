// SPDX-License-Identifier: Apache-2.0
#include "beamheap/flat_array.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace beamheap::pages {
namespace {

constexpr std::size_t small = 4096;
constexpr std::size_t huge = std::size_t{2} << 20;
constexpr std::size_t huge_from = std::size_t{1} << 20;
constexpr int access = PROT_READ | PROT_WRITE;
constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Address space that begins where a huge page may; null where there is no room for it.
char* aligned_space(std::size_t bytes) {
    void* const all = mmap(nullptr, bytes + huge, access, kind, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    char* const begin = static_cast<char*>(all);
    const std::size_t before =
        round_up(reinterpret_cast<std::uintptr_t>(begin), huge) - reinterpret_cast<std::uintptr_t>(begin);
    if (before != 0) munmap(begin, before);
    munmap(begin + before + bytes, huge - before);
    return begin + before;
}

// ThreadSanitizer does not know mremap: for it, a block that was moved there is still the old one's. With it arrays
// grow as everywhere else, by a copy.
#if defined(__SANITIZE_THREAD__)
#define BH_NO_MREMAP 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BH_NO_MREMAP 1
#endif
#endif

/// Grows the `mapped` bytes at `data`, none of which need stay where they are, to `bytes`: to `space`, which is mapped
/// already, or wherever there is room if that is null. MAP_FAILED where there is none, and nothing has changed.
void* move_mapping(char* data, std::size_t mapped, std::size_t bytes, char* space) {
#ifdef BH_NO_MREMAP
    void* const moved = space != nullptr ? space : mmap(nullptr, bytes, access, kind, -1, 0);
    if (moved == MAP_FAILED) return moved;
    std::memcpy(moved, data, mapped);
    munmap(data, mapped);
    return moved;
#else
    return space != nullptr ? mremap(data, mapped, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, space)
                            : mremap(data, mapped, bytes, MREMAP_MAYMOVE);
#endif
}

/// Moves an array to the front of a larger stretch of huge pages; null where there is no room for one.
char* grow_huge(char* data, std::size_t mapped, std::size_t used, std::size_t bytes) {
    char* const space = aligned_space(bytes);
    if (space == nullptr) return nullptr;
    if (mapped >= huge_from) {
        if (move_mapping(data, mapped, bytes, space) == MAP_FAILED) {
            munmap(space, bytes);
            return nullptr;
        }
        madvise(space, bytes, MADV_HUGEPAGE);
        return space;
    }
    // Small pages that were moved here would keep the first huge one from being had.
    madvise(space, bytes, MADV_HUGEPAGE);
    if (used != 0) std::memcpy(space, data, used);
    if (mapped != 0) munmap(data, mapped);
    return space;
}

// Most heaps are small, and whoever reads one after the other makes a graph for each: its arrays get the room that the
// arrays of the one before gave back. Sixteen mappings a process would be most of the time that this takes.
class FreeRoom {
public:
    explicit constexpr FreeRoom(std::size_t size) : bytes(size) {}
    const std::size_t bytes;  // of each

    char* take() {
        for (std::atomic<char*>& each : rooms_) {
            if (each.load(std::memory_order_relaxed) == nullptr) continue;
            char* const room = each.exchange(nullptr);
            if (room == nullptr) continue;
            std::memset(room, 0, bytes);
            return room;
        }
        return nullptr;
    }
    bool keep(char* room) {
        for (std::atomic<char*>& each : rooms_) {
            char* nothing = nullptr;
            if (each.load(std::memory_order_relaxed) == nullptr && each.compare_exchange_strong(nothing, room))
                return true;
        }
        return false;
    }

private:
    std::array<std::atomic<char*>, 32> rooms_{};
};

// As many as a small heap takes for what is a byte an object, and for what is more.
FreeRoom free_page{small}, free_pages{4 * small};

FreeRoom* free_room_of(std::size_t bytes) {
    return bytes == free_page.bytes ? &free_page : bytes == free_pages.bytes ? &free_pages : nullptr;
}

}  // namespace

void* grow(void* data, std::size_t& mapped, std::size_t used, std::size_t bytes) {
    if (bytes > std::size_t{1} << 46) throw std::bad_alloc();
    auto* const old = static_cast<char*>(data);
    if (bytes >= huge_from) {
        for (const std::size_t target : {round_up(2 * bytes, huge), round_up(bytes, huge)}) {
            if (char* const grown = grow_huge(old, mapped, used, target); grown != nullptr) {
                mapped = target;
                return grown;
            }
        }
    }
    const std::size_t target = round_up(std::max(bytes, mapped + mapped / 2), small);
    if (FreeRoom* const free = mapped == 0 ? free_room_of(target) : nullptr; free != nullptr)
        if (char* const room = free->take(); room != nullptr) {
            mapped = target;
            return room;
        }
    for (const std::size_t size : {target, round_up(bytes, small)}) {
        void* const grown =
            mapped == 0 ? mmap(nullptr, size, access, kind, -1, 0) : move_mapping(old, mapped, size, nullptr);
        if (grown == MAP_FAILED) continue;
        mapped = size;
        return grown;
    }
    throw std::bad_alloc();
}

void release(void* data, std::size_t mapped) {
    FreeRoom* const free = free_room_of(mapped);
    if (free == nullptr || !free->keep(static_cast<char*>(data))) munmap(data, mapped);
}

}  // namespace beamheap::pages
