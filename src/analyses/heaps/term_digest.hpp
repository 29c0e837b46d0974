// SPDX-License-Identifier: Apache-2.0
// Whether terms of different processes are the same, without printing them.
//
// Theory. A term that was sent or kept by many is copied for each: the same structure with the same contents, at other
// addresses. So its parts are gone through in one order, and a number is made of what they are: kinds, sizes, numbers,
// names, the bytes of binaries. Terms whose numbers differ are different; those whose numbers are the same are taken
// for the same (64 bits). A large map has its pairs in the order of hash values that a node draws at its start,
// the same for all of its processes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// Nothing where the term has more than `most` objects, counted where they are shared as often as they are met, or
/// where the input does not hold all of it. Of each binary the first 4,096 bytes count.
std::optional<std::uint64_t> term_digest(TermSource& terms, const Element& term, std::uint64_t most);
/// Of several terms, one after the other, each of no more than `most` objects.
std::optional<std::uint64_t> terms_digest(TermSource& terms, std::span<const Element> all, std::uint64_t most);
/// The same of a few objects that it begins with: terms that differ there differ.
std::optional<std::uint64_t> beginning_digest(TermSource& terms, const Element& term);

}  // namespace beamheap::analyses
