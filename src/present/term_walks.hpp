// What the printer of terms goes along: the pairs of a map, and the objects that it is within.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "beamheap/terms.hpp"

namespace beamheap::present {

struct Pair {
    Element key;
    Element value;
};

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

/// Gives the pairs of a map of any kind.
class MapWalk {
public:
    MapWalk(TermSource& source, ObjectId id, const ObjectHead& head)
        : source_(&source), flat_(head.kind == TermKind::flat_map) {
        values_ = source.elements(id);
        Element keys;
        if (flat_) {
            source.next(values_, keys);
            if (keys.kind == ElementKind::object && source.head(keys.id).kind == TermKind::tuple)
                keys_ = source.elements(keys.id);
            left_ = head.size;
        } else {
            levels_.push_back(values_);
            left_ = head.size;
            // Every node has one parent, so that no walk of a sound map is longer than the input has objects.
            budget_ += source.graph().size() + (source.literals() == nullptr ? 0 : source.literals()->size());
        }
    }
    bool more() const { return left_ != 0; }
    bool next(Pair& pair) {
        if (left_ == 0) return false;
        --left_;
        pair = {};
        if (flat_) {
            source_->next(keys_, pair.key);
            return source_->next(values_, pair.value);
        }
        // Leaves are cells [Key|Value]; inner nodes, and tuples of leaves with one hash (27 and later), are gone into.
        while (!levels_.empty()) {
            Element child;
            if (budget_ == 0) break;
            if (!source_->next(levels_.back(), child)) {
                levels_.pop_back();
                continue;
            }
            --budget_;
            if (child.kind != ElementKind::object) {
                pair.key = child;  // missing, or damage: its pairs are not there
                return true;
            }
            const ObjectHead head = source_->head(child.id);
            if (head.kind == TermKind::cons) {
                ElementCursor cell = source_->elements(child.id);
                source_->next(cell, pair.key);
                source_->next(cell, pair.value);
                return true;
            }
            if (levels_.size() < 24) levels_.push_back(source_->elements(child.id));
        }
        left_ = 0;
        return false;
    }

private:
    TermSource* source_;
    bool flat_;
    std::uint64_t left_ = 0;
    std::uint64_t budget_ = 1u << 20;  // nodes that are still looked at; maps of decoded terms are in no graph
    ElementCursor keys_;
    ElementCursor values_;
    std::vector<ElementCursor> levels_;
};

}  // namespace beamheap::present
