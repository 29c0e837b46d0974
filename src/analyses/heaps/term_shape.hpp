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
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyses/base/sentence.hpp"
#include "analyses/heaps/record_scope.hpp"
#include "beamheap/terms.hpp"

namespace beamheap::analyses {

/// Whose records the tuples in a term are; no scope: they are tuples.
struct ShapeRecords {
    const RecordScope* scope = nullptr;
    std::string_view module;  ///< whose term it is
};

/// With its article, and the number of what it holds: "a map of 20,000 ...", "a tuple {state, map, list}", "a binary of
/// 4.0 MiB", "a #state{socket, sessions}". Never empty.
Sentence shape_in_words(TermSource& source, const Element& term, const ShapeRecords& records = {});
/// A term as a collection of many: how many it holds, and some of them.
struct CollectionShape {
    std::uint64_t count = 0;
    std::vector<Element> keys;    ///< or the elements, where it has no keys; evenly from all of it
    std::vector<Element> values;  ///< beside `keys`, one for each; empty where it has no keys
};
/// Nothing of what is no collection: a record, a map of few atoms, a text.
std::optional<CollectionShape> collection_shape(TermSource& source, const Element& term);
/// What entries of a process dictionary, {Key, Value} each, have in common: "{span, reference} => {integer, binary}".
Sentence entries_in_words(TermSource& source, std::span<const Element> entries, const ShapeRecords& records = {});
/// What several terms have in common, each of them one of many alike: "{{default, requests_total, [...]}, integer}".
Sentence terms_in_words(TermSource& source, std::span<const Element> terms);
/// Whether a tuple is a collection that a module of the standard library made: its elements are no fields of anybody's.
bool is_structure(TermSource& source, const Element& tuple);

}  // namespace beamheap::analyses
