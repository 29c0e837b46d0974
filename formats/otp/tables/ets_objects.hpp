// SPDX-License-Identifier: Apache-2.0
// What an ETS table holds: its objects, found by walking the table (erl_db_hash.c, erl_db_tree.c, erl_db_catree.c).
//
// Sets and bags are linear hash tables whose buckets are lists; ordered sets are AVL trees; with write_concurrency
// they are trees of such trees. Walks are bounded by what the caller wants and by the table's own count, so that damage
// costs no more than a healthy table of that size would.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/otp/vm/vm.hpp"

namespace beamheap::otp {

/// A stored tuple (DbTerm, erl_db_util.h).
struct EtsObject {
    std::uint64_t tuple = 0;  ///< address of its header
    std::uint64_t words = 0;  ///< from there on, its terms included
};

struct EtsObjects {
    std::vector<EtsObject> objects;  ///< in the table's order: by key in ordered sets, else by hash
    std::uint32_t key = 1;           ///< position of the key in the tuples
    bool compressed = false;         ///< all elements but the key are in external format (see CoreTerms)
    bool more = false;               ///< the table has more than was asked for
    bool damaged = false;            ///< the walk met something that is no part of a table
};

/// The first `limit` objects of the table at this address, which counts `counted` of them (none: as many as the image
/// could hold). A walk that meets many more goes in circles, or through one part again and again.
EtsObjects read_ets_objects(Decoder& reader, std::uint64_t table, std::uint64_t limit, Count counted);

/// How many objects of the hash table at this address are deleted and kept, since somebody has it fixed; none where its
/// chains are damaged. It walks the whole table.
Count read_ets_deleted(Decoder& reader, std::uint64_t table);

}  // namespace beamheap::otp
