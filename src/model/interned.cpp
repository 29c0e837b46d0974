// SPDX-License-Identifier: Apache-2.0
#include "beamheap/interned.hpp"

#include <algorithm>
#include <cstring>

namespace beamheap {
namespace {

constexpr std::uint64_t mix(std::uint64_t h) {
    h ^= h >> 32;
    h *= 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
    return h;
}

// Eight bytes at a time; good enough for names, and forged collisions only cost time in proportion to the input.
std::uint64_t hash_bytes(std::string_view text) {
    std::uint64_t h = text.size() * 0xA24BAED4963EE407ull;
    const char* p = text.data();
    std::size_t left = text.size();
    for (; left >= 8; left -= 8, p += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, p, 8);
        h = mix(h ^ word) + 0x8CB92BA72F3D8DD7ull;
    }
    if (left != 0) {
        std::uint64_t word = 0;
        std::memcpy(&word, p, left);
        h = mix(h ^ word);
    }
    return mix(h);
}

// Open addressing over dense entries: `slots` holds index + 1. Returns the slot of the match or of the free place.
template <class Match>
std::size_t probe(const std::vector<std::uint32_t>& slots, std::uint64_t hash, Match&& match) {
    const std::size_t mask = slots.size() - 1;
    std::size_t slot = hash & mask;
    while (slots[slot] != 0 && !match(slots[slot] - 1)) slot = (slot + 1) & mask;
    return slot;
}

template <class HashOf>
void rehash(std::vector<std::uint32_t>& slots, std::size_t count, HashOf&& hash_of) {
    std::vector<std::uint32_t> fresh(std::max<std::size_t>(64, slots.size() * 2), 0);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t slot = probe(fresh, hash_of(i), [](std::size_t) { return false; });
        fresh[slot] = static_cast<std::uint32_t>(i + 1);
    }
    slots = std::move(fresh);
}

std::uint64_t hash_of(const Function& f) {
    return mix((static_cast<std::uint64_t>(index_of(f.module)) << 32 | index_of(f.name)) + f.arity * 0x9E3779B1ull);
}

std::uint64_t hash_of(std::span<const Frame> frames) {
    std::uint64_t h = frames.size();
    for (const Frame& f : frames)
        h = mix(h ^ (static_cast<std::uint64_t>(index_of(f.function)) << 32 | f.offset)) + f.line * 31ull +
            index_of(f.file);
    return mix(h);
}

}  // namespace

std::string_view TextTable::keep(std::string_view text) {
    if (text.size() > left_) {
        const std::size_t block = std::max<std::size_t>(text.size(), 64 * 1024);
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(block));
        free_ = blocks_.back().get();
        left_ = block;
    }
    if (!text.empty()) std::memcpy(free_, text.data(), text.size());
    const std::string_view kept{free_, text.size()};
    free_ += text.size();
    left_ -= text.size();
    return kept;
}

TextId TextTable::intern(std::string_view text) {
    if ((entries_.size() + 1) * 2 > slots_.size()) grow();
    const std::uint64_t hash = hash_bytes(text);
    const std::size_t slot =
        probe(slots_, hash, [&](std::size_t i) { return entries_[i].hash == hash && entries_[i].text == text; });
    if (slots_[slot] == 0) {
        entries_.push_back({keep(text), hash});
        slots_[slot] = static_cast<std::uint32_t>(entries_.size());
    }
    return static_cast<TextId>(slots_[slot] - 1);
}

TextId TextTable::find(std::string_view text) const {
    if (slots_.empty()) return TextId::none;
    const std::uint64_t hash = hash_bytes(text);
    const std::size_t slot =
        probe(slots_, hash, [&](std::size_t i) { return entries_[i].hash == hash && entries_[i].text == text; });
    return slots_[slot] == 0 ? TextId::none : static_cast<TextId>(slots_[slot] - 1);
}

void TextTable::grow() {
    rehash(slots_, entries_.size(), [&](std::size_t i) { return entries_[i].hash; });
}

FunctionId FunctionTable::intern(const Function& function) {
    if ((entries_.size() + 1) * 2 > slots_.size())
        rehash(slots_, entries_.size(), [&](std::size_t i) { return hash_of(entries_[i]); });
    const std::size_t slot = probe(slots_, hash_of(function), [&](std::size_t i) { return entries_[i] == function; });
    if (slots_[slot] == 0) {
        entries_.push_back(function);
        slots_[slot] = static_cast<std::uint32_t>(entries_.size());
    }
    return static_cast<FunctionId>(slots_[slot] - 1);
}

FunctionId FunctionTable::find(const Function& function) const {
    if (slots_.empty()) return FunctionId::none;
    const std::size_t slot = probe(slots_, hash_of(function), [&](std::size_t i) { return entries_[i] == function; });
    return slots_[slot] == 0 ? FunctionId::none : static_cast<FunctionId>(slots_[slot] - 1);
}

StackId StackTable::intern(std::span<const Frame> frames) {
    if (starts_.empty()) starts_.push_back(0);
    const auto stack = [&](std::size_t i) {
        return std::span<const Frame>(frames_).subspan(starts_[i], starts_[i + 1] - starts_[i]);
    };
    if ((size() + 1) * 2 > slots_.size()) rehash(slots_, size(), [&](std::size_t i) { return hash_of(stack(i)); });
    const std::size_t slot =
        probe(slots_, hash_of(frames), [&](std::size_t i) { return std::ranges::equal(stack(i), frames); });
    if (slots_[slot] == 0) {
        frames_.insert(frames_.end(), frames.begin(), frames.end());
        starts_.push_back(frames_.size());
        slots_[slot] = static_cast<std::uint32_t>(size());
    }
    return static_cast<StackId>(slots_[slot] - 1);
}

}  // namespace beamheap
