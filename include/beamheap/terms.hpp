// SPDX-License-Identifier: Apache-2.0
// The terms of one process as they can be read: objects, their elements, their bytes.
//
// A HeapGraph knows how objects hang together; a TermSource knows what is in them, and reads it from the input when it
// is asked, so that printing a term costs what is printed and no more. Formats implement it (text of a dump, memory of
// a core); printing, paths and analyses of single terms are written once, on top of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "beamheap/heap_graph.hpp"
#include "beamheap/ids.hpp"

namespace beamheap {

/// Names an object that a TermSource can read.
struct ObjectId {
    enum class Space : std::uint32_t {
        heap,      ///< number is a node of the process's graph
        literals,  ///< a node of the literals' graph
        decoded,   ///< read from external term format, where the input has terms only so
    };
    Space space = Space::heap;
    std::uint32_t number = 0;
    friend bool operator==(const ObjectId&, const ObjectId&) = default;
};

enum class ElementKind : std::uint8_t {
    nil,    ///< []
    small,  ///< small integer
    atom,
    pid,  ///< of this node, or as part of a decoded term of any
    port,
    object,
    missing,   ///< refers to an object at `address` that the input does not hold
    unknown,   ///< an immediate that the input does not tell
    catching,  ///< stack only: a try or catch is active; text is "m:f/a + offset"
};

/// What a place in a term, or a root, holds. Texts live as long as the TermSource, or until its next call if decoded.
struct Element {
    ElementKind kind = ElementKind::unknown;
    bool latin1 = false;        ///< atom: text is Latin-1 (up to R15), else UTF-8
    ObjectId id;                ///< object
    std::uint64_t address = 0;  ///< object, missing
    std::int64_t number = 0;    ///< small
    std::string_view text;      ///< atom's name, raw; catching
    Pid pid;
    PortName port;
};

/// An object without its elements and bytes. Only the members that its kind has are set.
struct ObjectHead {
    TermKind kind = TermKind::unknown;
    std::uint64_t address = 0;   ///< 0 if decoded
    std::uint64_t elements = 0;  ///< cons: 2; tuple; flat_map: keys object, then values; hash_map, hash_node: children;
                                 ///< fun: free variables that are known
    std::uint64_t size = 0;      ///< binaries: bytes; maps: pairs; lost or unknown: bytes in the input
    unsigned extra_bits = 0;     ///< bits behind the last whole byte of a bitstring
    bool bits_lost = false;      ///< the input has this slice's whole bytes only, perhaps shifted
    double number = 0;           ///< float_number
    std::string_view digits;     ///< bignum: decimal with sign, or "16#" and hexadecimal digits
    std::uint64_t binary = 0;    ///< refc_binary, sub_binary: address of what it shows bytes of
    std::uint64_t offset = 0;    ///< first byte of it
    std::string_view module;     ///< fun, external_fun: names, raw
    std::string_view function;   ///< external_fun
    std::uint32_t arity = 0;     ///< fun, external_fun
    std::uint32_t index = 0;     ///< fun: number within the module
    std::uint32_t uniq = 0;      ///< fun: hash of the module's version
    std::uint32_t free = 0;      ///< fun: free variables that it has
    std::string_view node;  ///< references, external pid and port: name of the node; empty if only pid.node is known
    Pid pid;                ///< external_pid
    PortName port;          ///< external_port
    unsigned numbers = 0;   ///< references: how many of the words below
    std::array<std::uint32_t, 5> words{};  ///< least significant first
};

/// Goes over the elements of one object.
struct ElementCursor {
    ObjectId id;
    std::uint64_t left = 0;   ///< elements that next() will still give
    std::uint64_t place = 0;  ///< where the next one is: the source's own business
};

/// How much of a binary's bytes there is.
enum class Bytes : std::uint8_t {
    whole,   ///< all that were asked for
    part,    ///< some, from the first on: the rest is not in the input
    absent,  ///< none
};

/// Which roots of a process a question is about.
struct TermsWanted {
    std::uint64_t messages = all_messages;  ///< so many of the oldest
    bool others = true;                     ///< what is no message
    bool all() const { return messages == all_messages && others; }
};

class TermSource {
public:
    virtual ~TermSource() = default;

    /// Where some roots only were asked for and the heap is large, the rest may not be in graph(), neither as objects
    /// nor as roots: what was asked for is there with all that it refers to, sums over the heap are not known.
    virtual bool in_part() const { return false; }
    /// The process ran each time that its terms were read: nothing is known of them, and graph() is empty.
    virtual bool moved() const { return false; }
    /// Messages in the input, those that are no roots here included.
    virtual std::uint64_t messages() const {
        std::uint64_t count = 0;
        for (const Root& root : graph().roots()) count += root.kind == RootKind::message;
        return count;
    }

    virtual const HeapGraph& graph() const = 0;
    /// The graph behind ObjectId::Space::literals; nullptr if there is none.
    virtual const HeapGraph* literals() const = 0;

    /// What graph().roots()[i] holds.
    virtual Element root(std::size_t i) = 0;
    /// Who sent the message that graph().roots()[i] holds, as the VM recorded it: a pid, or an atom where it kept
    /// nobody. Unknown where the input does not have it (crash dumps).
    virtual Element sender(std::size_t i) {
        (void)i;
        return {};
    }
    virtual ObjectHead head(ObjectId id) = 0;
    virtual ElementCursor elements(ObjectId id) = 0;
    /// The next element; false at the end, also where the input ends early.
    virtual bool next(ElementCursor& cursor, Element& element) = 0;
    /// Appends up to `limit` bytes of a binary (heap_binary, refc_binary, sub_binary), from its byte `from` on.
    virtual Bytes bytes(ObjectId id, std::uint64_t from, std::uint64_t limit, std::string& out) = 0;

    /// The object at an address, in the heap or among the literals; missing if there is none.
    virtual Element at(std::uint64_t address) = 0;
    /// Bytes of the binary outside the heaps at this address; missing if the input does not list it.
    virtual Count binary_size(std::uint64_t address) const = 0;
    /// The number by which this node knows another, that is the first one in <8872.9.0>; none: not known.
    virtual Count channel_of(std::string_view node) const = 0;
};

}  // namespace beamheap
