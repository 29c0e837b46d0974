// SPDX-License-Identifier: Apache-2.0
// The objects that the printer of terms is within.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "beamheap/terms.hpp"

namespace beamheap::present {

/// The objects that are being printed, from the outermost to the current one. A term that is met again among them
/// contains itself, which no Erlang term does: the input is damaged there. Objects leave in the opposite order of their
/// coming, so that in a hash table with linear probing a slot can be freed without moving another: all that was put
/// behind it has left before.
class OpenObjects {
public:
    std::size_t size() const { return keys_.size(); }
    /// False: it is open already.
    bool enter(ObjectId id) {
        if (2 * (keys_.size() + 1) > slots_.size()) grow();
        const std::uint64_t key = key_of(id);
        std::size_t slot = slot_of(key);
        for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1))
            if (slots_[slot] == key) return false;
        slots_[slot] = key;
        keys_.push_back(key);
        return true;
    }
    /// Closes all but the first `count`.
    void leave(std::size_t count) {
        for (; keys_.size() > count; keys_.pop_back()) {
            std::size_t slot = slot_of(keys_.back());
            while (slots_[slot] != keys_.back()) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = 0;
        }
    }

private:
    static std::uint64_t key_of(ObjectId id) {
        return (static_cast<std::uint64_t>(id.space) + 1) << 32 | id.number;  // never 0
    }
    std::size_t slot_of(std::uint64_t key) const {
        return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> 20) & (slots_.size() - 1);
    }
    void grow() {
        slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), 0);
        for (const std::uint64_t key : keys_) {
            std::size_t slot = slot_of(key);
            while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = key;
        }
    }
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint64_t> slots_;  // a power of two; 0 is free
};

}  // namespace beamheap::present
