// SPDX-License-Identifier: Apache-2.0
// The heap of one process as a graph in flat arrays: objects, references between them, and roots.
//
// Whoever reads an input fills it through the builder calls, object by object, each followed by its references; an
// object is numbered as it comes. A crash dump lists objects depth first from the roots, so parents mostly come before
// their children; a core's walk finds them in the order of addresses. References name addresses: they are kept as
// 32-bit compressed addresses and resolved in one pass by finish(). Nothing is allocated per object, and the next
// process reuses all arrays. Costs some 18 bytes per object: 1 for its kind, 1 for its words, 4 for its address, 5 to
// find it by that, 6 or 7 for 1.3 references, and 1.5 for where it came from.
//
// What objects hold besides references (atoms, numbers, bytes of binaries) is not here: a TermSource (terms.hpp) reads
// it from where the object came from, which the graph remembers in `values` mode.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "beamheap/address_map.hpp"
#include "beamheap/edge_list.hpp"
#include "beamheap/flat_array.hpp"
#include "beamheap/offset_list.hpp"
#include "beamheap/root_list.hpp"

namespace beamheap {

/// Kinds of heap objects, as the newest release has them.
enum class TermKind : std::uint8_t {
    cons,
    tuple,
    float_number,
    bignum,
    heap_binary,   ///< bytes on the heap
    refc_binary,   ///< reference to a binary outside, all of it or a slice
    sub_binary,    ///< a slice of another object's bytes (up to OTP 26)
    flat_map,      ///< up to 32 pairs: a tuple of keys, then values
    hash_map,      ///< root of a larger map
    hash_node,     ///< inner node of a larger map
    fun,           ///< local function with its environment
    external_fun,  ///< fun m:f/a
    reference,
    external_pid,
    external_port,
    external_reference,
    match_context,     ///< state of a binary match that goes on
    fun_reference,     ///< FunRef of OTP 27
    binary_reference,  ///< BinRef of OTP 27 and later
    lost_map,          ///< a map of which a dump of OTP 19.0 to 20.1 has only that there is one
    unknown,           ///< an object that could not be decoded
    count_
};
inline constexpr std::size_t term_kinds = static_cast<std::size_t>(TermKind::count_);
/// "cons", "tuple", "float", "bignum", "heap_binary", ...
std::string_view name_of(TermKind kind);

/// Where a number of messages is asked for: all of them.
inline constexpr std::uint64_t all_messages = ~std::uint64_t{0};

/// An object that shows bytes which it does not hold itself: a refc_binary or sub_binary.
struct BinaryUse {
    enum class Base : std::uint8_t {
        binary,  ///< a binary outside the heap, at `address`
        object,  ///< the bytes of a heap object at `address` (sub_binary only)
    };
    std::uint64_t address = 0;
    std::uint64_t offset = 0;  ///< first byte seen
    std::uint64_t size = 0;    ///< bytes seen
    NodeId node = no_node;
    Base base = Base::binary;
    bool named = true;  ///< false: a slice whose binary the input does not list by itself (dumps up to OTP 26)
};

class HeapGraph {
public:
    enum class Mode : std::uint8_t {
        sizes,   ///< statistics of many processes: no origins, no roots without an object, no foreign edges
        values,  ///< one process that is asked about
    };
    /// Bytes of arenas that begin() keeps; what a giant process needed beyond is given back.
    static constexpr std::size_t kept_bytes = std::size_t{8} << 20;

    // ---- building -------------------------------------------------------------------------------------------------

    void begin(Mode mode, unsigned word_bytes);
    /// What lies at [from, to) is on the young heap for certain, and no message's. Who knows of other areas, too, that
    /// they are on the heap sets each of them before its objects are added.
    void set_young_area(std::uint64_t from, std::uint64_t to) {
        young_from_ = from, young_size_ = to > from ? to - from : 0;
    }
    /// Words that erts_debug:flat_size adds per object of a kind to what the object itself occupies.
    void set_flat_extra(TermKind kind, std::int8_t words) { flat_extra_[static_cast<std::size_t>(kind)] = words; }

    /// What a fun without captured variables has, where the input leaves out what captured ones hold (crash dumps of
    /// all releases write nil in their place): a fun of more words hides some.
    void set_plain_fun_words(std::uint32_t words) { plain_fun_words_ = words; }
    /// 0: the input shows what funs have captured.
    std::uint32_t plain_fun_words() const { return plain_fun_words_; }

    NodeId add_object(TermKind kind, std::uint32_t words, std::uint64_t address, std::uint64_t origin = 0) {
        const auto node = static_cast<NodeId>(kinds_.size());
        const bool young = address - young_from_ < young_size_;
        kinds_.push(static_cast<std::uint8_t>(static_cast<unsigned>(kind) | (young ? young_bit : 0u)));
        words_.push(words < wide_entry ? static_cast<std::uint8_t>(words) : wide_entry);
        if (words >= wide_entry) wide_words_.push({node, words});
        addresses_.push(space_.compress(address));
        if (mode_ == Mode::values) origins_.push(origin);
        return node;
    }
    /// A reference of the object that was added last.
    void add_reference(std::uint64_t address) {
        edges_.push(static_cast<NodeId>(kinds_.size() - 1), space_.compress(address));
    }
    /// The object that was added last shows bytes of something else.
    void add_binary_use(std::uint64_t address, std::uint64_t offset, std::uint64_t size) {
        binaries_.push({address, offset, size, static_cast<NodeId>(kinds_.size() - 1)});
    }
    /// Flat size of an object, where it is not what its words and its kind's extra say. After finish(), too, if
    /// sort_flat_words() follows.
    void set_flat_words(NodeId node, std::uint32_t words) { flat_overrides_.push({node, words}); }
    void sort_flat_words();
    /// A root that refers to a heap object.
    void add_root(RootKind kind, std::uint32_t index, std::uint32_t frame, std::uint64_t address, std::uint64_t origin);
    /// A root that holds an immediate. Only kept in `values` mode.
    void add_immediate_root(RootKind kind, std::uint32_t index, std::uint32_t frame, std::uint64_t origin);
    /// Takes back all objects from number `objects` on, and all roots from `roots` on.
    void rollback(std::size_t objects, std::size_t roots);
    std::size_t roots_size() const { return roots_.size(); }

    /// For readers of text, who add millions of objects from one loop: the arrays, and where the next object and the
    /// next reference go. Valid until anything else is added; room for what open_appender() was told is there. Of an
    /// object comes first where it is, then its references, then what it is.
    struct Appender {
        std::uint8_t* kinds;
        std::uint8_t* words;
        std::uint32_t* addresses;  ///< as `space` compresses them
        NodeId node;
        std::uint64_t young_from, young_size;
        EdgeList::Appender edges;
        OffsetList::Appender origins;  ///< of no list in `sizes` mode
        AddressSpace* space;
        HeapGraph* graph;

        /// `packed` is the address as `space` compresses it; so are those of references.
        __attribute__((always_inline)) void place(std::uint32_t packed, bool young) {
            const NodeId here = node;
            addresses[here] = packed;
            kinds[here] = young ? young_bit : 0;
        }
        __attribute__((always_inline)) void object(TermKind kind, std::uint32_t own_words, std::uint64_t origin) {
            const NodeId here = node++;
            kinds[here] |= static_cast<std::uint8_t>(kind);
            words[here] = static_cast<std::uint8_t>(own_words);
            if (__builtin_expect(own_words >= wide_entry, 0)) graph->put_wide_words(words, here, own_words);
            if (origins.list != nullptr) origins.put(here, origin);
        }
        __attribute__((always_inline)) void reference(std::uint32_t packed) { edges.push(node, packed); }
    };
    Appender open_appender(std::size_t more_objects, std::size_t more_references);
    /// Takes over the objects that were written through an appender, not one of which only references were.
    void close_appender(const Appender& written);

    /// Resolves references. After this, everything below may be asked.
    void finish();
    /// Adds to the frames of all roots on the stack that are of one.
    void move_frames(std::uint32_t by) { roots_.move_frames(by); }

    // ---- asking ---------------------------------------------------------------------------------------------------

    Mode mode() const { return mode_; }
    unsigned word_bytes() const { return word_bytes_; }
    std::size_t size() const { return kinds_.size(); }
    TermKind kind(NodeId node) const { return static_cast<TermKind>(kinds_[node] & kind_mask); }
    /// Words that the object itself occupies.
    std::uint32_t words(NodeId node) const {
        const std::uint8_t narrow = words_[node];
        return __builtin_expect(narrow != wide_entry, 1) ? narrow : find_wide_words(node);
    }
    /// The words of all objects, for loops over them: wide_entry for those that have more, which are wide_words(), too.
    std::span<const std::uint8_t> all_words() const { return words_.view(); }
    static constexpr std::uint8_t wide_entry = 0xFF;
    struct WideWords {
        NodeId node;
        std::uint32_t words;
    };
    /// By object.
    std::span<const WideWords> wide_words() const { return wide_words_.view(); }
    /// What all objects are, for loops over them: kind_of() and is_young_kind() read an entry.
    std::span<const std::uint8_t> all_kinds() const { return kinds_.view(); }
    static TermKind kind_of(std::uint8_t entry) { return static_cast<TermKind>(entry & kind_mask); }
    static bool is_young_kind(std::uint8_t entry) { return (entry & young_bit) != 0; }
    /// All entries that objects of a kind have.
    static std::array<std::uint8_t, 2> entries_of(TermKind kind) {
        const auto entry = static_cast<std::uint8_t>(kind);
        return {entry, static_cast<std::uint8_t>(entry | young_bit)};
    }
    /// What the object alone adds to erts_debug:flat_size, in words.
    std::int64_t flat_extra(TermKind kind) const { return flat_extra_[static_cast<std::size_t>(kind)]; }
    struct FlatOverride {
        NodeId node;
        std::uint32_t words;
    };
    std::span<const FlatOverride> flat_overrides() const { return flat_overrides_.view(); }
    bool is_young(NodeId node) const { return (kinds_[node] & young_bit) != 0; }
    /// Its address; 0 where that was no address of an object (not aligned to a word), and of all after
    /// forget_addresses().
    std::uint64_t address(NodeId node) const {
        return addresses_.empty() || addresses_[node] == AddressSpace::none ? 0 : space_.expand(addresses_[node]);
    }
    /// Gives back what address() needs: of an object that came from a text TermSource::head() tells it. find() goes on
    /// to find.
    void forget_addresses() { addresses_.clear_and_trim(0); }
    /// Where the object came from: bytes into the text, or its address. Only in `values` mode.
    std::uint64_t origin(NodeId node) const { return origins_[node]; }
    /// The object at this address; no_node if there is none.
    NodeId find(std::uint64_t address) const { return map_.find(space_.find(address)); }

    /// References between objects, by source, each source's in the order of its elements. A reference to an object
    /// that is not in the graph is not among them.
    const EdgeList& edges() const { return edges_; }
    /// Every edge leads from a smaller to a larger number: the numbers are a topological order.
    bool forward() const { return forward_; }
    /// Some edge starts at a sub_binary: flat sizes must not follow it (a copy copies bytes, not the base).
    bool has_slice_edges() const { return has_slice_edges_; }

    const RootList& roots() const { return roots_; }
    /// Where roots()[i] was found. Only in `values` mode.
    std::uint64_t root_origin(std::size_t i) const { return root_origins_[i]; }

    /// The address that roots()[i] refers to where the graph holds no such object; 0 if it does, or if the root is an
    /// immediate. Only in `values` mode. O(log n).
    std::uint64_t missing_root(std::size_t i) const;
    /// How many such roots there are, and what the n-th of them refers to.
    std::size_t missing_roots() const { return missing_roots_.size(); }
    std::uint64_t missing_root_address(std::size_t n) const { return space_.expand(missing_roots_[n].address); }

    /// In the order of their objects.
    std::span<const BinaryUse> binaries() const { return binaries_.view(); }
    std::span<BinaryUse> binaries() { return {binaries_.data(), binaries_.size()}; }
    /// The entry of an object; nullptr if it has none. O(log n).
    const BinaryUse* binary_of(NodeId node) const;

    /// References out of the graph (literals, or nothing): number of them, and in `values` mode which.
    std::uint64_t foreign_references() const { return foreign_count_; }
    struct ForeignEdge {
        NodeId from;
        std::uint64_t address;
    };
    ForeignEdge foreign(std::size_t i) const { return {foreign_[i].from, space_.expand(foreign_[i].to)}; }
    std::size_t foreign_size() const { return foreign_.size(); }

    /// Addresses that references and roots name and that no object of the graph has; in `sizes` mode only. What slices
    /// are slices of is not among them: crash dumps leave it out.
    std::size_t unresolved_size() const { return unresolved_.size(); }
    std::uint64_t unresolved(std::size_t i) const { return space_.expand(unresolved_[i]); }

    /// Objects that no reference and no root of the graph names. Terms have no cycles, so that all of them are reached
    /// from roots exactly where there are none of these.
    std::uint64_t unreferenced() const { return unreferenced_; }

    /// References to addresses that no object can have: not aligned to a word, or out of all bounds.
    std::uint64_t impossible_references() const { return impossible_; }

    /// Sum of words(). O(n).
    std::uint64_t total_words() const;
    /// Objects at an address that another one has already; they can't be referred to.
    std::uint64_t duplicate_addresses() const { return duplicates_; }
    /// Bytes of the arrays that are in use.
    std::size_t used_bytes() const;

private:
    static constexpr std::uint8_t young_bit = 0x80;
    static constexpr std::uint8_t kind_mask = 0x7F;
    static constexpr std::uint8_t referenced_bit = 0x40;  // within finish()
    static_assert(term_kinds <= referenced_bit);

    Mode mode_ = Mode::sizes;
    bool forward_ = true;
    bool has_slice_edges_ = false;
    unsigned word_bytes_ = 8;
    std::uint64_t young_from_ = 0;
    std::uint64_t young_size_ = 0;
    std::uint64_t foreign_count_ = 0;
    std::uint64_t duplicates_ = 0;
    std::uint64_t impossible_ = 0;
    std::uint64_t unreferenced_ = 0;
    std::array<std::int8_t, term_kinds> flat_extra_{};

    AddressSpace space_;
    AddressMap map_;
    FlatArray<std::uint8_t> kinds_;
    FlatArray<std::uint8_t> words_;
    FlatArray<WideWords> wide_words_;
    FlatArray<std::uint32_t> addresses_;   // compressed
    EdgeList edges_;                       // their targets are compressed addresses until finish()
    FlatArray<Edge> foreign_;              // `to` is a compressed address
    FlatArray<std::uint32_t> unresolved_;  // compressed addresses
    RootList roots_;                       // targets are compressed addresses until finish()
    OffsetList origins_;
    OffsetList root_origins_;
    struct MissingRoot {
        std::uint32_t root;
        std::uint32_t address;  // compressed
    };
    FlatArray<MissingRoot> missing_roots_;
    FlatArray<BinaryUse> binaries_;
    std::uint32_t plain_fun_words_ = 0;
    FlatArray<FlatOverride> flat_overrides_;

    std::uint64_t take_referenced();
    void put_wide_words(std::uint8_t* words, NodeId node, std::uint32_t own_words);
    std::uint32_t find_wide_words(NodeId node) const;
};

}  // namespace beamheap
