// SPDX-License-Identifier: Apache-2.0
// The shape of a large term in words: what it is a collection of, and what its elements look like.
//
//     a map of 20,000 "sess-..." => %{cart, seen, user}
//     a list of 50,000 {integer, "x..."}
//     a gb_tree of 5,000 integer => {order, integer, binary}
//
// Theory. A term of millions of words is built of few types. Elements are taken evenly from all of the collection, at
// most 64 of them, and each place in them is described by what the samples have in common: a class, an atom that all
// of them have, the beginning of all binaries. Collections of the standard library are known by the forms that their
// modules give them (stdlib, OTP R13 to 29): queue {Rear, Front}, gb_trees {Size, {K, V, Left, Right}}, gb_sets, sets
// of both versions, dict, array; Elixir's structs by their key __struct__.
//
// Work is bounded: 64 samples a level, three levels, and 4,000,000 cells of lists in all.
#pragma once

#include <cstdint>

#include "analyses/base/sentence.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// With its article, and the number of what it holds: "a map of 20,000 ...", "a tuple {state, map, list}", "a binary of
/// 4.0 MiB". Never empty.
Sentence shape_in_words(TermSource& source, const Element& term);
/// Whether a tuple is a collection that a module of the standard library made: its elements are no fields of anybody's.
bool is_structure(TermSource& source, const Element& tuple);

}  // namespace beamheap::analyses
