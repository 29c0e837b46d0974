// SPDX-License-Identifier: Apache-2.0
// Along lists and maps, pair by pair and element by element, as every reader of terms goes.
//
// A damaged input may lead a list or a map back into itself, which no Erlang term does. A walk ends there, whoever
// walks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "beamheap/terms.hpp"

namespace beamheap {

/// Gives the elements of a list.
class ListWalk {
public:
    ListWalk(TermSource& source, const Element& list) : source_(&source), rest_(list) {}
    /// The next element; false at the end, at what is no cell, and where the list comes back to a cell (then it may
    /// have given some of its elements twice).
    bool next(Element& element) {
        if (rest_.kind != ElementKind::object || source_->head(rest_.id).kind != TermKind::cons) return false;
        // Brent's tortoise: a list that comes back to where it stands has no end.
        if (cells_ != 0 && rest_.id == tortoise_) {
            cyclic_ = true;
            return false;
        }
        if ((cells_ & (cells_ + 1)) == 0) tortoise_ = rest_.id;
        ++cells_;
        ElementCursor cursor = source_->elements(rest_.id);
        if (!source_->next(cursor, element)) return rest_ = {}, false;
        if (!source_->next(cursor, rest_)) rest_ = {};
        return true;
    }
    /// What stands behind the elements that were given: [] at the end of a proper list.
    const Element& rest() const { return rest_; }
    bool cyclic() const { return cyclic_; }

private:
    TermSource* source_;
    Element rest_;
    ObjectId tortoise_{};
    std::uint64_t cells_ = 0;
    bool cyclic_ = false;
};

/// What a map has under a key.
struct Pair {
    Element key;
    Element value;
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

}  // namespace beamheap
