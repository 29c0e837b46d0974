// SPDX-License-Identifier: Apache-2.0
// Binaries outside the heaps: who holds them, how much of them is seen, and how much is only kept because of that.
//
// A slice keeps all of its binary. seen = bytes that at least one reference shows (the union of all slices), pinned =
// bytes - seen: what would go if the slices were copied. A binary counts once, however many hold it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "beamheap/ids.hpp"

namespace beamheap::analyses {

/// Who refers to a binary: a process, an ETS table, or the persistent terms.
struct BinaryHolder {
    enum class Kind : std::uint8_t { process, table, persistent_terms } kind = Kind::process;
    std::uint32_t index = 0;  ///< ProcId, or index in Snapshot::ets
    constexpr BinaryHolder() = default;
    constexpr BinaryHolder(ProcId id) : index(index_of(id)) {}
    constexpr BinaryHolder(Kind k, std::uint32_t i) : kind(k), index(i) {}
    ProcId process() const { return kind == Kind::process ? static_cast<ProcId>(index) : ProcId::none; }
    friend constexpr auto operator<=>(const BinaryHolder&, const BinaryHolder&) = default;
};

/// A reference to a binary: the bytes [offset, offset + size) of it, by one holder.
struct BinaryReference {
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    BinaryHolder holder;
    bool garbage = false;  ///< that of garbage, which keeps the binary until it is collected; shows no bytes
};

/// A reference from a heap, and whether the input lists its binary: crash dumps up to OTP 26 do not where only slices
/// refer to it, and then `address` is the slice's own.
struct HeldBinary {
    BinaryReference reference;
    bool named = true;
};

struct BinaryHolders {
    std::uint64_t address = 0;
    Count bytes;  ///< missing: the input does not list it, only slices of it
    std::uint64_t seen_bytes = 0;
    Count pinned_bytes;                 ///< missing where bytes is, and where garbage alone keeps it
    std::uint64_t references = 0;       ///< from terms; 0: garbage alone keeps it
    std::uint32_t garbage_holders = 0;  ///< of the holders, those in which garbage alone keeps it
    std::uint32_t first_holder = 0;     ///< BinaryReport::holders[first_holder ..]
    std::uint32_t holders = 0;          ///< processes, then tables, then persistent terms
};

struct BinaryReport {
    std::vector<BinaryHolders> binaries;  ///< most bytes first; those of unknown size by what is seen
    std::vector<BinaryHolder> holders;    ///< by binary, in the input's order
    std::uint64_t bytes = 0, seen_bytes = 0, pinned_bytes = 0;  ///< of binaries of known size that terms refer to
    std::uint64_t unknown = 0;                                  ///< binaries that the input does not list
    std::uint64_t garbage = 0, garbage_bytes = 0;               ///< binaries that garbage alone keeps
    std::span<const BinaryHolder> holders_of(const BinaryHolders& binary) const {
        return std::span(holders).subspan(binary.first_holder, binary.holders);
    }
};

/// `size_of` gives a binary's bytes by its address. O(n log n).
BinaryReport binary_holders(std::vector<BinaryReference> references,
                            const std::function<Count(std::uint64_t)>& size_of);

}  // namespace beamheap::analyses
