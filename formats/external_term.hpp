// SPDX-License-Identifier: Apache-2.0
// Reads terms in Erlang's external term format, where an input holds terms only so: funs and references of crash dumps,
// messages from other nodes that no process has decoded yet.
//
// Format: erts/doc, "External Term Format"; all tags of R13 to 29. Decoding is iterative and bounded: what lies beyond
// the bounds, or is no term, becomes an `unknown` element, and what stands around it stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "beamheap/terms.hpp"

namespace beamheap::external_term {

/// What a tag stands for by which a VM refers to its own memory (compressed ETS tables): an atom, or a binary or
/// reference that is elsewhere.
struct Internal {
    std::size_t taken = 0;  ///< bytes behind the tag
    bool atom = false;      ///< `element` is it; else an object of `head` and `bytes`
    Element element;
    ObjectHead head;
    std::string_view bytes;  ///< must outlive the terms
};
class Internals {
public:
    virtual ~Internals() = default;
    /// False where `rest`, the bytes behind the tag, holds no such thing.
    virtual bool read(std::uint8_t tag, std::span<const std::uint8_t> rest, Internal& out) = 0;
};

struct Context {
    std::string_view node_name;             ///< this node: its pids and references are local; empty: all are
    std::span<const Element> atom_cache{};  ///< what ATOM_CACHE_REF i stands for (messages from other nodes)
    Internals* internals = nullptr;         ///< data has no version byte, and may have a VM's own tags
};

/// Decoded terms: the objects of ObjectId::Space::decoded. Grows by decode(); nothing moves once it is there.
class Terms {
public:
    /// Objects and elements of one decode() at the most.
    static constexpr std::size_t max_elements = std::size_t{1} << 18;

    /// Decodes the term that begins with the version byte 131. An element of kind unknown if there is none.
    /// `complete` becomes false where the data ends early, holds no term, or is larger than max_elements.
    Element decode(std::span<const std::uint8_t> data, const Context& context, bool& complete);

    /// A tuple of elements that are there already.
    Element tuple(std::span<const Element> elements);

    const ObjectHead& head(std::uint32_t number) const { return objects_[number].head; }
    /// Element i of an object, i < head(number).elements.
    const Element& element(std::uint32_t number, std::uint64_t i) const {
        return elements_[objects_[number].first + static_cast<std::size_t>(i)];
    }
    /// Bytes of a heap_binary.
    std::string_view bytes(std::uint32_t number) const { return objects_[number].bytes; }
    void clear();

    /// How much was decoded until now.
    struct Mark {
        std::size_t objects = 0, elements = 0, texts = 0;
    };
    Mark mark() const { return {objects_.size(), elements_.size(), texts_.size()}; }
    /// Forgets what was decoded since: nobody may refer to it any more.
    void forget_since(const Mark& mark);

private:
    friend class Decoder;
    struct Object {
        ObjectHead head;
        std::size_t first = 0;
        std::string_view bytes;
    };
    std::string_view keep(std::string_view text) { return texts_.emplace_back(text); }
    std::deque<Object> objects_;
    std::deque<Element> elements_;
    std::deque<std::string> texts_;
};

/// Decimal digits of a number given as little-endian bytes; hexadecimal, after "16#", for more than 4096 bytes.
std::string integer_digits(std::span<const std::uint8_t> little_endian, bool negative);

}  // namespace beamheap::external_term
